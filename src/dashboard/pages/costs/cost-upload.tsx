import type { Fault } from '#http';
import { count } from '#lib/format';
import { COST_FORMATS, COST_LANGUAGES, type CostFormat, type CostsSaved, saveCostFile } from '#money';
import { Field } from '../../forms/field.tsx';
import { readFields } from '../../forms/form.ts';
import { callerOf } from '../../shell/guard.ts';
import type { DashboardContext } from '../../shell/page-record.ts';
import { FormMenu, Notice } from '../../shell/parts.tsx';
import { rowsText } from '../../shell/report.tsx';
import { type View, viewQuery } from '../../shell/view.ts';

const FAULTS_SHOWN = 10;
const EXAMPLE = 'date,campaign,adset,creative,currency,amount\n2026-11-19,Summer,Broad,,usd,120.50';

type StoredCosts = Pick<CostsSaved, 'rows' | 'replaced' | 'unmatched'> & { format: CostFormat | null };
export type RefusedUpload = { faults: readonly Fault[]; text: string };

export const RefusedNotice = ({ faults }: RefusedUpload) => (
  <Notice kind="bad">
    <p>Nothing was stored.</p>
    <ul>
      {faults.slice(0, FAULTS_SHOWN).map(({ path, message }) => (
        <li>
          {path} {message}
        </li>
      ))}
    </ul>
    {faults.length > FAULTS_SHOWN && <p>and {faults.length - FAULTS_SHOWN} more</p>}
  </Notice>
);

/** The outcome of an upload, from the URL of the redirect after it; null on any other visit. */
export function readStored(c: DashboardContext): StoredCosts | null {
  const { stored = '', replaced = '', unknown = '', format = '' } = c.req.query();
  if (!/^\d{1,6}$/.test(stored) || !/^\d{1,6}$/.test(unknown)) return null;
  return {
    rows: Number(stored),
    replaced: /^\d{1,6}$/.test(replaced) ? Number(replaced) : 0,
    unmatched: Number(unknown),
    format: Object.hasOwn(COST_FORMATS, format) ? (format as CostFormat) : null,
  };
}

export const StoredNotice = ({ rows, replaced, unmatched, format }: StoredCosts) => {
  const source = format && format !== 'own' ? `, read as an export of ${COST_FORMATS[format].label}` : '';
  return (
    <Notice kind={unmatched > 0 ? 'info' : 'good'}>
      <p>
        {`${rowsText(rows)} stored${source}. `}
        {unmatched > 0
          ? `Rows with unmatched names: ${count(unmatched)}. Their spend counts in totals only, until you map the names below.`
          : 'All names match.'}
        {replaced > 0 && ` Earlier rows of the same costs that were replaced: ${count(replaced)}.`}
      </p>
    </Notice>
  );
};

export const UploadForm = ({
  view,
  text,
  currency,
  open,
}: {
  view: View;
  text: string;
  currency: string;
  open: boolean;
}) => (
  <FormMenu label="Upload costs" id="upload" open={open}>
    <form method="post" action={`/costs${viewQuery(view)}`} enctype="multipart/form-data" class="stack">
      <div class="field">
        <label for="field-file">File</label>
        <input
          id="field-file"
          type="file"
          name="file"
          accept=".csv,.tsv,.txt,text/csv"
          aria-describedby="csv-hint"
        />
        <p class="hint" id="csv-hint">
          Exports of{' '}
          {Object.values(COST_FORMATS)
            .map(({ label }) => label)
            .slice(1)
            .join(', ')}{' '}
          by day in {COST_LANGUAGES}, as they are, or a CSV with the columns date, campaign, currency, amount
          and, if you have them, adset, creative, country, os, network, impressions, clicks. A day’s rows
          replace those uploaded before for the same names.
        </p>
      </div>
      <Field
        label="Currency"
        name="file_currency"
        value={currency}
        maxlength={3}
        hint="For files without a currency"
        required
      />
      <div class="field check">
        <input type="checkbox" id="field-spread" name="spread" value="true" />
        <label for="field-spread">Spread rows that cover several days evenly over them</label>
      </div>
      <details open={text !== ''}>
        <summary>Paste instead</summary>
        <div class="field">
          <label for="field-csv">CSV</label>
          <textarea id="field-csv" name="csv" spellcheck={false} placeholder={EXAMPLE}>
            {text}
          </textarea>
        </div>
      </details>
      <button type="submit">Upload</button>
    </form>
  </FormMenu>
);

/** Stores an uploaded file and redirects to the outcome, or returns why it is refused. */
export async function uploadCosts(c: DashboardContext, view: View): Promise<Response | RefusedUpload> {
  const { csv, file, file_currency, spread } = await readFields(c);
  const text = typeof csv === 'string' ? csv : '';
  const currency = typeof file_currency === 'string' ? file_currency.trim() : '';
  const isFile = file instanceof File && file.size > 0;
  const outcome = await saveCostFile(
    callerOf(c),
    view.application,
    isFile ? new Uint8Array(await file.arrayBuffer()) : text,
    { currency: currency || view.application.currency, spread: spread === 'true' },
  );
  if (outcome.faults) return { faults: outcome.faults, text: isFile ? await file.text() : text };
  const { saved, format } = outcome;
  const stored = {
    stored: String(saved.rows),
    replaced: String(saved.replaced),
    unknown: String(saved.unmatched),
    format: format ?? '',
  };
  return c.redirect(`/costs${viewQuery(view, stored)}`, 303);
}
