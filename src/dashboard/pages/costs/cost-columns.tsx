import { getCookie } from 'hono/cookie';
import type { CostMap } from '#money';
import { Field } from '../../forms/field.tsx';
import { keepChoice } from '../../shell/cookies.ts';
import type { DashboardContext } from '../../shell/page-record.ts';
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

const COOKIE = 'cost_columns';
/** A cookie has 4 KB. */
const MAX_KEPT = 5;
const MAX_CHARACTERS = 3_000;

/** Which column is which, as chosen in the form; null if nothing was chosen. */
export function readFormMap(fields: Readonly<Record<string, unknown>>): CostMap | null {
  const chosen = FIELDS.flatMap(([field]) => {
    const heading = fields[`map_${field}`];
    return typeof heading === 'string' && heading !== '' ? [[field, heading] as const] : [];
  });
  return chosen.length === 0 ? null : Object.fromEntries(chosen);
}

function keptMaps(c: DashboardContext): CostMap[] {
  try {
    const kept: unknown = JSON.parse(getCookie(c, COOKIE) ?? '[]');
    return Array.isArray(kept) ? kept.flatMap((one) => readKept(one) ?? []) : [];
  } catch {
    return [];
  }
}

function readKept(one: unknown): CostMap | null {
  if (typeof one !== 'object' || one === null) return null;
  return readFormMap(
    Object.fromEntries(Object.entries(one).map(([field, heading]) => [`map_${field}`, heading])),
  );
}

/** What was chosen before in this browser for a file of these headings; null if nothing was. */
export const rememberedMap = (c: DashboardContext, headings: readonly string[]): CostMap | null =>
  keptMaps(c).find((map) => Object.values(map).every((heading) => headings.includes(heading))) ?? null;

/** Remembers in this browser which column is which, for the next files of these headings. */
export function keepCostMap(c: DashboardContext, map: CostMap): void {
  const others = keptMaps(c).filter((kept) => JSON.stringify(kept) !== JSON.stringify(map));
  const maps = [map, ...others].slice(0, MAX_KEPT);
  while (maps.length > 1 && encodeURIComponent(JSON.stringify(maps)).length > MAX_CHARACTERS) maps.pop();
  keepChoice(c, COOKIE, JSON.stringify(maps), '/costs');
}

/** Asks which column of a refused file is which. The file is sent again with the answer. */
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
          The headings are of no known export. What you choose is remembered in this browser for files with
          the same headings.
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
        <textarea name="csv" hidden>
          {`\n${text}`}
        </textarea>
        <button type="submit">Upload</button>
      </form>
    </Card>
  );
};
