import type { CostMap } from '#money';
import { Field } from '../../forms/field.tsx';
import { Card } from '../../shell/parts.tsx';
import { type View, viewQuery } from '../../shell/view.ts';

// Files whose headings nobody knows: a person says once which column is which.

const FIELDS = [
  ['date', 'Day', true],
  ['campaign', 'Campaign', true],
  ['amount', 'Amount', true],
  ['adset', 'Ad set', false],
  ['creative', 'Creative', false],
  ['currency', 'Currency', false],
  ['country', 'Country', false],
  ['os', 'OS', false],
  ['network', 'Network', false],
  ['impressions', 'Impressions', false],
  ['clicks', 'Clicks', false],
] as const;

/** Which column is which, as chosen in the form; null if nothing was chosen. */
export function readFormMap(fields: Readonly<Record<string, unknown>>): CostMap | null {
  const chosen = FIELDS.flatMap(([field]) => {
    const heading = fields[`map_${field}`];
    return typeof heading === 'string' && heading !== '' ? [[field, heading] as const] : [];
  });
  return chosen.length === 0 ? null : Object.fromEntries(chosen);
}

/**
 * Asks which column of a refused file is which. The file is sent again with the answer; without its text, which is too large for a form, the answer is
 * remembered for its next upload.
 */
export const ColumnForm = ({
  view,
  text,
  headings,
  currency,
}: {
  view: View;
  text: string;
  headings: readonly string[];
  currency: string;
}) => {
  const options = [['', 'None'], ...headings.map((heading) => [heading, heading])] as [string, string][];
  return (
    <Card title="Which column is which?">
      <form method="post" action={`/costs${viewQuery(view)}`} enctype="multipart/form-data" class="stack">
        <p>
          The headings are of no known export. What you choose is remembered for all files of this application
          with the same headings.
        </p>
        {FIELDS.map(([field, label, required]) => (
          <Field
            label={label}
            name={`map_${field}`}
            options={required ? [['', 'Choose …'], ...options.slice(1)] : options}
            value={headings.find((heading) => heading.trim().toLowerCase() === field) ?? ''}
            required={required}
          />
        ))}
        <Field
          label="Currency, if no column has it"
          name="file_currency"
          value={currency}
          maxlength={3}
          required
        />
        {text === '' ? (
          <input type="hidden" name="headings" value={JSON.stringify(headings)} />
        ) : (
          <textarea name="csv" hidden>
            {`\n${text}`}
          </textarea>
        )}
        <button type="submit">{text === '' ? 'Remember' : 'Upload'}</button>
      </form>
    </Card>
  );
};
