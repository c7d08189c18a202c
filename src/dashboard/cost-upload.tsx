import type { Fault } from '#http';
import { COST_FORMATS, type CostFile, Costs, type CostsSaved, parseCostFile, saveCosts } from '#money';
import { checkForm, readFields } from './form.ts';
import { count } from './format.ts';
import { callerOf, type DashboardContext } from './guard.ts';
import { Card, Field, Notice } from './parts.tsx';
import { type View, viewQuery } from './view.ts';

const FAULTS_SHOWN = 10;
const EXAMPLE = 'date,campaign,adset,creative,currency,amount\n2026-11-19,Summer,Broad,,usd,120.50';

type Stored = Pick<CostsSaved, 'rows' | 'unmatched'> & { format: CostFile['format'] };
export type Refused = { faults: Fault[]; text: string };
/** Translates a fault's path: `rows.3.amount` refers to the line of the file that the fourth row came from. */
const readable = ({ path, message }: Fault, lines: readonly number[]): Fault => {
  const match = /^rows\.(\d+)\.(.*)$/.exec(path);
  return match ? { path: `Line ${lines[Number(match[1])] ?? '?'}: ${match[2]}`, message } : { path, message };
};

export const RefusedNotice = ({ faults }: Refused) => (
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
export function readStored(c: DashboardContext): Stored | null {
  const { stored = '', unknown = '', format = '' } = c.req.query();
  if (!/^\d{1,6}$/.test(stored) || !/^\d{1,6}$/.test(unknown)) return null;
  return {
    rows: Number(stored),
    unmatched: Number(unknown),
    format: Object.hasOwn(COST_FORMATS, format) ? (format as CostFile['format']) : null,
  };
}

export const StoredNotice = ({ rows, unmatched, format }: Stored) => {
  const source = format && format !== 'own' ? `, read as an export of ${COST_FORMATS[format].label}` : '';
  return (
    <Notice kind={unmatched > 0 ? 'info' : 'good'}>
      <p>
        {`${count(rows)} ${rows === 1 ? 'row' : 'rows'} stored${source}. `}
        {unmatched > 0
          ? `Rows with unmatched names: ${count(unmatched)}. Their spend counts in totals only, until you map the names below.`
          : 'All names match.'}
      </p>
    </Notice>
  );
};

export const UploadCard = ({ view, text, currency }: { view: View; text: string; currency: string }) => (
  <Card title="Upload costs" id="upload">
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
          by day, as they are, or a CSV with the columns date, campaign, currency, amount and, if you have
          them, adset, creative, impressions, clicks. A row replaces the one of the same day and names.
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
  </Card>
);

async function readUpload(c: DashboardContext): Promise<{ text: string; currency: string }> {
  const { csv, file, file_currency } = await readFields(c);
  const currency = typeof file_currency === 'string' ? file_currency.trim() : '';
  if (file instanceof File && file.size > 0) return { text: await file.text(), currency };
  return { text: typeof csv === 'string' ? csv : '', currency };
}

/** Stores an uploaded file and redirects to the outcome, or returns why it is refused. */
export async function uploadCosts(c: DashboardContext, view: View): Promise<Response | Refused> {
  const { text, currency } = await readUpload(c);
  const { rows, lines, faults, format } = parseCostFile(text, currency || view.application.currency);
  if (faults.length > 0) return { faults, text };
  const checked = checkForm(Costs, { application_id: view.application.id, rows });
  if (!checked.data) return { faults: checked.faults.map((fault) => readable(fault, lines)), text };
  const answer = await saveCosts(callerOf(c), view.application, checked.data.rows);
  const outcome = { stored: String(answer.rows), unknown: String(answer.unmatched), format: format ?? '' };
  return c.redirect(`/costs${viewQuery(view, outcome)}`, 303);
}
