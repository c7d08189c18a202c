import { Hono } from 'hono';
import Papa from 'papaparse';
import type { Fault } from '#http';
import { atLeast } from '#members';
import { Costs, type CostsAnswer, saveCosts } from '#money';
import { PerformanceQuery, reportPerformance } from '#reports';
import { LineChart, overDays } from './chart.tsx';
import { checkForm, readFields } from './form.ts';
import { count, money } from './format.ts';
import { callerOf, type DashboardContext, type DashboardEnv, requirePerson, requireRole } from './guard.ts';
import { METRICS, showMetric } from './metrics.ts';
import { Card, Notice, Table } from './parts.tsx';
import { answerCsv, ask, CsvLink, renderReport, Unconverted, viewAsked, wantsCsv, Zone } from './report.tsx';
import { readView } from './view.ts';

const COLUMNS = [
  'date',
  'campaign',
  'adset',
  'creative',
  'currency',
  'amount',
  'impressions',
  'clicks',
] as const;
const SHOWN = ['spend', 'installs', 'cpi', 'roas'] as const;
const FAULTS_SHOWN = 10;

const EXAMPLE = 'date,campaign,adset,creative,currency,amount\n2026-11-19,Summer,Broad,,usd,120.50';

type Uploaded = { answer: CostsAnswer } | { faults: Fault[]; text: string };

/** Rows of a CSV file with a header line, as `PUT /v1/costs` takes them. Amounts must be plain numbers: 1,234.50 is a fault. */
export function parseCosts(text: string): { rows: Record<string, unknown>[]; faults: Fault[] } {
  const parsed = Papa.parse<Record<string, string>>(text.trim(), {
    header: true,
    skipEmptyLines: 'greedy',
    transformHeader: (name) => name.trim().toLowerCase(),
  });
  const missing = ['date', 'campaign', 'currency', 'amount'].filter(
    (name) => !parsed.meta.fields?.includes(name),
  );
  const faults = [
    ...missing.map((name) => ({ path: 'The header line', message: `lacks the column ${name}` })),
    ...parsed.errors
      .filter(({ type }) => type === 'FieldMismatch')
      .map(({ row, message }) => ({ path: `Row ${(row ?? 0) + 1}`, message: message.toLowerCase() })),
  ];
  const rows = parsed.data.map((row) => {
    const amount = row.amount?.trim() ?? '';
    const known = COLUMNS.flatMap((name) => (row[name]?.trim() ? [[name, row[name].trim()]] : []));
    return { ...Object.fromEntries(known), amount: /^\d+(\.\d+)?$/.test(amount) ? Number(amount) : amount };
  });
  return { rows, faults };
}

/** `rows.3.amount` of the schema is row 4 of the file. */
const readable = ({ path, message }: Fault) => {
  const match = /^rows\.(\d+)\.(.*)$/.exec(path);
  return match ? `Row ${Number(match[1]) + 1}: ${match[2]} ${message}` : `${path} ${message}`;
};

const Outcome = ({ uploaded }: { uploaded: Uploaded }) => {
  if ('faults' in uploaded) {
    return (
      <Notice kind="bad">
        <p>Nothing was stored.</p>
        <ul>
          {uploaded.faults.slice(0, FAULTS_SHOWN).map((fault) => (
            <li>{readable(fault)}</li>
          ))}
        </ul>
        {uploaded.faults.length > FAULTS_SHOWN && <p>and {uploaded.faults.length - FAULTS_SHOWN} more</p>}
      </Notice>
    );
  }
  const { rows, matched, unmatched, unmatched_names } = uploaded.answer;
  return (
    <Notice kind={unmatched > 0 ? 'info' : 'good'}>
      <p>
        {count(rows)} rows stored, {count(matched)} of them with names that this application has.
        {unmatched > 0
          ? ` ${count(unmatched)} have names that it has not; they count as spend all the same:`
          : ''}
      </p>
      {unmatched > 0 && (
        <ul>
          {unmatched_names.map(({ campaign, adset, creative }) => (
            <li>{[campaign, adset, creative].filter(Boolean).join(' › ')}</li>
          ))}
        </ul>
      )}
    </Notice>
  );
};

const UploadCard = ({ application, text }: { application: string; text: string }) => (
  <Card title="Paste or upload costs">
    <form method="post" action={`/costs?app=${application}`} enctype="multipart/form-data" class="stack">
      <div class="field">
        <label for="field-csv">CSV</label>
        <textarea
          id="field-csv"
          name="csv"
          aria-describedby="csv-hint"
          spellcheck={false}
          placeholder={EXAMPLE}
        >
          {text}
        </textarea>
        <p class="hint" id="csv-hint">
          With a header line. Needed: date, campaign, currency, amount. Optional: adset, creative,
          impressions, clicks. A row overwrites the one of the same date and names.
        </p>
      </div>
      <div class="field">
        <label for="field-file">or a file</label>
        <input id="field-file" type="file" name="file" accept=".csv,text/csv" />
      </div>
      <button type="submit">Upload</button>
    </form>
  </Card>
);

function costsPage(c: DashboardContext, uploaded?: Uploaded) {
  return renderReport(c, { title: 'Costs', path: '/costs' }, async (view, now) => {
    const query = ask(PerformanceQuery, { ...viewAsked(view), group_by: 'day' });
    const report = await reportPerformance(c.env.DB, view.application, query, now);
    if (wantsCsv(c)) return answerCsv(c, report, ['day', ...SHOWN], view);
    const spend = overDays(view, report.data, (row) => row.spend, 0);
    return (
      <>
        {uploaded && <Outcome uploaded={uploaded} />}
        <Unconverted amounts={report.unconverted} />
        <Card title="Spend by day" aside={<CsvLink view={view} path="/costs" />}>
          <LineChart
            title="Spend by day"
            labels={spend.labels}
            format={(value) => money(value, view.currency)}
            series={[{ name: 'Spend', values: spend.values }]}
          />
          <Zone view={view} />
          <details>
            <summary>Table</summary>
            <Table
              caption={`Costs by day, days in ${view.application.timezone}`}
              rows={[...report.data].reverse()}
              columns={[
                { label: 'Day', cell: (row) => row.day },
                ...SHOWN.map((name) => ({
                  label: METRICS[name].label,
                  numeric: true,
                  cell: (row: (typeof report.data)[number]) => showMetric(name, row[name], view.currency),
                })),
              ]}
            />
          </details>
        </Card>
        {atLeast(c.get('person').role, 'admin') && (
          <UploadCard
            application={view.application.id}
            text={uploaded && 'faults' in uploaded ? uploaded.text : ''}
          />
        )}
      </>
    );
  });
}

async function readUpload(c: DashboardContext): Promise<string> {
  const { csv, file } = await readFields(c);
  if (file instanceof File && file.size > 0) return file.text();
  return typeof csv === 'string' ? csv : '';
}

export const costPages = new Hono<DashboardEnv>()
  .use('/costs', requirePerson)
  .get('/costs', (c) => costsPage(c))
  .post('/costs', requireRole('admin'), async (c) => {
    const view = await readView(c, Date.now());
    if (!view) return c.redirect('/costs', 303);
    const text = await readUpload(c);
    const { rows, faults } = parseCosts(text);
    if (faults.length > 0) return costsPage(c, { faults, text });
    const checked = checkForm(Costs, { application_id: view.application.id, rows });
    if (!checked.data) return costsPage(c, { faults: checked.faults, text });
    const answer = await saveCosts(callerOf(c), view.application, checked.data.rows);
    return costsPage(c, { answer });
  });
