import * as z from 'zod';
import { database } from '#db';
import { AppError, type Fault, readAs, toFaults } from '#http';
import { isCurrencyOfAnyDay } from '#lib/currencies';
import { count, money } from '#lib/format';
import {
  COST_FORMATS,
  COST_LANGUAGES,
  type CostFileSaved,
  type CostFormat,
  Costs,
  costFileText,
  FILE_BOUNDS,
  recallCostColumns,
  saveCostColumns,
  saveCostFile,
  saveCosts,
} from '#money';
import { Field } from '../../forms/field.tsx';
import { readFields } from '../../forms/form.ts';
import { jsonField } from '../../forms/json-field.ts';
import { redirectDone } from '../../shell/done.ts';
import { callerOf } from '../../shell/guard.ts';
import type { DashboardContext } from '../../shell/page-record.ts';
import { FormMenu, Notice } from '../../shell/parts.tsx';
import { rowsText } from '../../shell/report.tsx';
import { type View, viewQuery } from '../../shell/view.ts';
import { readFormMap } from './cost-columns.tsx';
import { storedQuery } from './stored-query.ts';

const FAULTS_SHOWN = 10;
const EXAMPLE = 'date,campaign,adset,creative,currency,amount\n2026-11-19,Summer,Broad,,usd,120.50';

type Skipped = CostFileSaved['skipped'][number];
type StoredCosts = Pick<CostFileSaved, 'rows' | 'replaced' | 'unmatched'> & {
  format: CostFormat | null;
  amounts: readonly { currency: string; amount: number }[];
  skipped: readonly Skipped[];
  /** How many columns of the file were not read. */
  ignored: number;
};
/** `unknownHeadings`: the headings of a file of which a person is to say which column is which. */
export type RefusedUpload = {
  faults: readonly Fault[];
  text: string;
  unknownHeadings: readonly string[] | null;
};

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

/** The reasons that a link may show: they are text of this service. */
const REASON =
  /^(?:repeats the headings|is a line of text|has neither a day nor an amount|is a total, which the rows add up to|is a total of [\d.]+, but its rows add up to [\d.]+)$/;

const readSkipped = (text: string): Skipped[] => {
  const [, line = '', reason = ''] = /^(\d{1,6}):(.*)$/.exec(text) ?? [];
  return REASON.test(reason) ? [{ line: Number(line), reason }] : [];
};

const readAmount = (text: string) => {
  const [, currency = '', amount = ''] = /^([a-z]{3}):(\d{1,15}(?:\.\d{1,9})?)$/.exec(text) ?? [];
  return isCurrencyOfAnyDay(currency) ? [{ currency, amount: Number(amount) }] : [];
};

/** The outcome of an upload, from the URL of the redirect after it; null on any other visit. */
export function readStored(c: DashboardContext): StoredCosts | null {
  const {
    stored = '',
    replaced = '',
    unknown = '',
    format = '',
    sums = '',
    skipped = '',
    ignored = '',
  } = c.req.query();
  if (!/^\d{1,6}$/.test(stored) || !/^\d{1,6}$/.test(unknown)) return null;
  return {
    rows: Number(stored),
    replaced: /^\d{1,6}$/.test(replaced) ? Number(replaced) : 0,
    unmatched: Number(unknown),
    format: Object.hasOwn(COST_FORMATS, format) ? (format as CostFormat) : null,
    amounts: sums.split('_').flatMap(readAmount),
    skipped: skipped.split('_').flatMap(readSkipped),
    ignored: /^\d{1,4}$/.test(ignored) ? Number(ignored) : 0,
  };
}

export const StoredNotice = ({
  rows,
  replaced,
  unmatched,
  format,
  amounts,
  skipped,
  ignored,
}: StoredCosts) => {
  const source = format && format !== 'own' ? `, read as an export of ${COST_FORMATS[format].label}` : '';
  const isOdd = skipped.some(({ reason }) => reason.includes(', but '));
  return (
    <Notice kind={unmatched > 0 || isOdd ? 'info' : 'good'}>
      <p>
        {`${rowsText(rows)} stored${source}. `}
        {unmatched > 0
          ? `Rows with unmatched names: ${count(unmatched)}. Their spend counts in totals only, until you map the names below.`
          : 'All names match.'}
        {replaced > 0 && ` Earlier rows of the same costs that were replaced: ${count(replaced)}.`}
      </p>
      {amounts.length > 0 && (
        <p>{`Spend: ${amounts.map(({ amount, currency }) => `${money(amount, currency)} (${currency.toUpperCase()})`).join(', ')}.`}</p>
      )}
      {ignored > 0 && <p>{`Columns that are not stored: ${count(ignored)}.`}</p>}
      {skipped.length > 0 && (
        <ul>
          {skipped.map(({ line, reason }) => (
            <li>{`Line ${line} ${reason}; not stored.`}</li>
          ))}
        </ul>
      )}
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
    <form
      method="post"
      action={`/costs${viewQuery(view)}`}
      enctype="multipart/form-data"
      class="stack"
      data-cost-upload={viewQuery(view)}
    >
      <div class="field">
        <label for="field-file">File</label>
        <input
          id="field-file"
          type="file"
          name="file"
          accept=".csv,.tsv,.txt,.xlsx,text/csv"
          aria-describedby="csv-hint"
        />
        <p class="hint" id="csv-hint">
          Exports of{' '}
          {Object.values(COST_FORMATS)
            .map(({ label }) => label)
            .slice(1)
            .join(', ')}{' '}
          by day in {COST_LANGUAGES}, as they are, in CSV or Excel, or a CSV with the columns date, campaign,
          currency, amount and, if you have them, adset, creative, country, os, network, impressions, clicks.
          A day’s rows replace those uploaded before for the same names.
        </p>
        <noscript>
          <p class="hint">Up to 8 MiB and 50,000 rows. With JavaScript, larger files are split by day.</p>
        </noscript>
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
      <progress max="1" value="0" aria-label="Upload" hidden />
      <p role="status" class="upload-state" />
    </form>
    <script src="/cost-upload.js" type="module"></script>
  </FormMenu>
);

const Headings = jsonField(z.array(z.string().max(512)).min(1).max(200), 'must be the headings of a file');

/** The headings of a file that the page's script reads, which are sent without it; null with any other form. */
const readHeadings = (text: string | File | undefined): readonly string[] | null =>
  Headings.safeParse(text).data ?? null;

const UploadedRows = Costs.omit({ application_id: true });

/** Checks or stores rows of a file that the page's script reads. Answers JSON, also for faults. */
export async function uploadRows(c: DashboardContext, view: View): Promise<Response> {
  const { data, error } = UploadedRows.safeParse(await c.req.json().catch(() => null));
  if (!data) return c.json({ faults: toFaults(error) }, 400);
  try {
    return c.json(await saveCosts(callerOf(c), view.application, data.rows, { dryRun: data.dry_run }));
  } catch (error) {
    if (!(error instanceof AppError) || error.details.length === 0) throw error;
    return c.json({ faults: error.details }, 400);
  }
}

const AskedHeadings = z.object({ headings: z.array(z.string().max(512)).min(1).max(200) });

/** Which column is which in files of these headings, if someone chose it before. */
export async function recallColumns(c: DashboardContext, view: View): Promise<Response> {
  const { headings } = readAs(AskedHeadings, await c.req.json().catch(() => null));
  return c.json({ columns: await recallCostColumns(database(c.env.DB), view.application.id, headings) });
}

/** Stores an uploaded file and redirects to the outcome, or returns why it is refused. */
export async function uploadCosts(c: DashboardContext, view: View): Promise<Response | RefusedUpload> {
  const fields = await readFields(c);
  const { csv, file, file_currency, spread } = fields;
  const text = typeof csv === 'string' ? csv : '';
  const currency = typeof file_currency === 'string' ? file_currency.trim() : '';
  const bytes = file instanceof File && file.size > 0 ? new Uint8Array(await file.arrayBuffer()) : null;
  const chosen = readFormMap(fields);
  const ofLargeFile = readHeadings(fields.headings);
  if (ofLargeFile && chosen) {
    await saveCostColumns(callerOf(c), view.application, ofLargeFile, chosen);
    return redirectDone(c, `/costs${viewQuery(view)}`, 'columns');
  }
  if (ofLargeFile) {
    return {
      faults: [{ path: 'The file', message: 'has headings of no known export' }],
      ...{ text: '', unknownHeadings: ofLargeFile },
    };
  }
  const outcome = await saveCostFile(callerOf(c), view.application, bytes ?? text, {
    ...{ currency: currency || view.application.currency, spread: spread === 'true', map: chosen },
  });
  if (outcome.faults) {
    const { faults, unknownHeadings } = outcome;
    return { faults, text: bytes ? await costFileText(bytes, FILE_BOUNDS) : text, unknownHeadings };
  }
  return c.redirect(
    `/costs${viewQuery(view, storedQuery({ ...outcome.saved, ignored: outcome.saved.ignored_columns }))}`,
    303,
  );
}
