import { Hono } from 'hono';
import * as z from 'zod';
import { database } from '#db';
import { AppError, type Fault, invalidRequest } from '#http';
import { atLeast } from '#members';
import {
  COST_FORMATS,
  type CostFile,
  Costs,
  CostsQuery,
  type CostsSaved,
  CostsToDelete,
  deleteCosts,
  listCosts,
  mapCostNames,
  NewCostName,
  namesText,
  parseCostFile,
  saveCosts,
  unmapCostNames,
} from '#money';
import { PerformanceQuery, reportPerformance } from '#reports';
import { placesOf, ticksOf, valuesAt } from './axis.ts';
import { LineChart } from './chart.tsx';
import { CostNamesCards } from './cost-names.tsx';
import { CostTabs, ratesPage, uploadRates } from './exchange-rates.tsx';
import { checkForm, doneText, readFields, readForm, redirectDone } from './form.ts';
import { count, money, percent } from './format.ts';
import { callerOf, type DashboardContext, type DashboardEnv, requirePerson, requireRole } from './guard.ts';
import { METRICS, showMetric } from './metrics.ts';
import { renderPage } from './page.tsx';
import { Action, Card, type Column, Field, Notice, Table } from './parts.tsx';
import { answerCsv, ask, CsvLink, renderReport, Unconverted, viewAsked, wantsCsv, Zone } from './report.tsx';
import { readView, type View, viewQuery } from './view.ts';

const SHOWN = ['spend', 'installs', 'cpi', 'roas'] as const;
const FAULTS_SHOWN = 10;
const PAGE = 50;

const EXAMPLE = 'date,campaign,adset,creative,currency,amount\n2026-11-19,Summer,Broad,,usd,120.50';

type Stored = Pick<CostsSaved, 'rows' | 'unmatched'> & { format: CostFile['format'] };
type Refused = { faults: Fault[]; text: string };
type Cost = Awaited<ReturnType<typeof listCosts>>['data'][number];

/** `rows.3.amount` of the schema is in the line of the file that the fourth row came from. */
const readable = ({ path, message }: Fault, lines: readonly number[]): Fault => {
  const match = /^rows\.(\d+)\.(.*)$/.exec(path);
  return match ? { path: `Line ${lines[Number(match[1])] ?? '?'}: ${match[2]}`, message } : { path, message };
};

const RefusedNotice = ({ faults }: Refused) => (
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

/** What an upload stored, as the redirect after it says in its URL; null on any other visit. */
function readStored(c: DashboardContext): Stored | null {
  const { stored = '', unknown = '', format = '' } = c.req.query();
  if (!/^\d{1,6}$/.test(stored) || !/^\d{1,6}$/.test(unknown)) return null;
  return {
    rows: Number(stored),
    unmatched: Number(unknown),
    format: Object.hasOwn(COST_FORMATS, format) ? (format as CostFile['format']) : null,
  };
}

const StoredNotice = ({ rows, unmatched, format }: Stored) => {
  const source = format && format !== 'own' ? `, read as an export of ${COST_FORMATS[format].label}` : '';
  return (
    <Notice kind={unmatched > 0 ? 'info' : 'good'}>
      <p>
        {`${count(rows)} ${rows === 1 ? 'row' : 'rows'} stored${source}. `}
        {unmatched > 0
          ? `${count(unmatched)} have names that this application does not have. They count as spend, but for no campaign or creative until you map them below.`
          : 'All names match.'}
      </p>
    </Notice>
  );
};

const UploadCard = ({ view, text, currency }: { view: View; text: string; currency: string }) => (
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
        hint="For files that do not name one"
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

const ratio = (part: number | null, whole: number | null) =>
  part === null || whole === null || whole === 0 ? null : part / whole;

/** What names a row of costs, as parameters. */
const keyOf = ({ date, campaign, adset, creative }: Cost): Record<string, string> => ({
  date,
  campaign,
  adset: adset ?? '',
  creative: creative ?? '',
});

function LedgerCard({
  view,
  page,
  unmatched,
  mayChange,
}: {
  view: View;
  page: Awaited<ReturnType<typeof listCosts>>;
  unmatched: boolean;
  mayChange: boolean;
}) {
  const amount = (value: number | null, { currency }: Cost) => money(value, currency);
  const costs: Column<Cost>[] = [
    { label: 'Day', cell: (row) => row.date },
    {
      label: 'Spent on',
      cell: (row) => {
        const parts = [row.campaign, row.adset, row.creative].filter((name) => name !== null);
        const within = parts.slice(0, -1).join(' › ');
        return (
          <>
            <span class="cut" title={namesText(row)}>
              {parts.at(-1)}
            </span>
            {within !== '' && <span class="cut muted">{within}</span>}
          </>
        );
      },
    },
    {
      label: 'Match',
      cell: (row) => (row.matched ? 'Matched' : <span class="badge waiting">No such name</span>),
    },
    { label: 'Amount', numeric: true, cell: (row) => amount(row.amount, row) },
    { label: 'Impressions', numeric: true, cell: (row) => count(row.impressions) },
    { label: 'Clicks', numeric: true, cell: (row) => count(row.clicks) },
    {
      label: 'CTR',
      hint: 'Clicks / impressions',
      numeric: true,
      cell: (row) => percent(ratio(row.clicks, row.impressions)),
    },
    {
      label: 'CPC',
      hint: 'Cost per click',
      numeric: true,
      cell: (row) => amount(ratio(row.amount, row.clicks), row),
    },
    {
      label: 'CPM',
      hint: 'Cost per 1,000 impressions',
      numeric: true,
      cell: (row) => {
        const each = ratio(row.amount, row.impressions);
        return amount(each === null ? null : each * 1000, row);
      },
    },
  ];
  const edit: Column<Cost> = {
    label: 'Edit',
    cell: (row) => (
      <a
        href={`/costs/row${viewQuery(view, keyOf(row))}`}
        aria-label={`Edit the costs of ${row.date}, ${namesText(row)}`}
      >
        Edit
      </a>
    ),
  };
  return (
    <Card
      title="Ledger"
      id="ledger"
      aside={
        <a href={`/costs${viewQuery(view, { unmatched: unmatched ? '' : 'true' })}#ledger`}>
          {unmatched ? 'Show all' : 'Show unmatched names only'}
        </a>
      }
    >
      <Table
        caption={`Costs as uploaded, ${view.from} to ${view.to}`}
        rows={page.data}
        columns={mayChange ? [...costs, edit] : costs}
        sticky
        empty={
          unmatched
            ? 'Every name in this period matches.'
            : 'No costs in this period. Upload a file above, or send them with PUT /v1/costs.'
        }
      />
      {page.next_cursor && (
        <p class="pages">
          <a
            href={`/costs${viewQuery(view, { unmatched: unmatched ? 'true' : '', cursor: page.next_cursor })}#ledger`}
          >
            Older costs
          </a>
        </p>
      )}
    </Card>
  );
}

function costsPage(c: DashboardContext, refused?: Refused) {
  const unmatched = c.req.query('unmatched') === 'true';
  return renderReport(c, { title: 'Costs', path: '/costs' }, async (view, now, answerWith) => {
    if (refused) answerWith(400);
    const stored = readStored(c);
    const db = database(c.env.DB);
    const query = ask(PerformanceQuery, { ...viewAsked(view), group_by: 'day' });
    const ledger = ask(CostsQuery, {
      application_id: view.application.id,
      from: view.from,
      to: view.to,
      unmatched: String(unmatched),
      order: 'newest',
      limit: PAGE,
      cursor: c.req.query('cursor') ?? '',
    });
    const [report, page] = await Promise.all([
      reportPerformance(c.env, view.application, query, now),
      listCosts(db, view.application, ledger),
    ]);
    if (wantsCsv(c)) return answerCsv(c, report, ['day', ...SHOWN], view);
    const places = placesOf(view, 'day');
    const mayChange = atLeast(c.get('person').role, 'admin');
    const done = doneText(c);
    return (
      <>
        {done && <Notice kind="good">{done}</Notice>}
        {refused ? <RefusedNotice {...refused} /> : stored && <StoredNotice {...stored} />}
        <Unconverted amounts={report.unconverted} />
        <CostTabs view={view} current="/costs" />
        {mayChange && (
          <UploadCard view={view} text={refused?.text ?? ''} currency={view.application.currency} />
        )}
        <CostNamesCards db={db} view={view} mayChange={mayChange} />
        <Card title="Spend by day" aside={<CsvLink view={view} path="/costs" />}>
          <LineChart
            title="Spend by day"
            labels={places.map(({ label }) => label)}
            ticks={ticksOf(places, 'day')}
            format={(value) => money(value, view.currency)}
            series={[{ name: 'Spend', values: valuesAt(places, 'day', report.data, (row) => row.spend, 0) }]}
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
        <LedgerCard view={view} page={page} unmatched={unmatched} mayChange={mayChange} />
      </>
    );
  });
}

async function requireView(c: DashboardContext): Promise<View> {
  const view = await readView(c, Date.now());
  if (!view) throw new AppError('not_found', 'The team has no application yet');
  return view;
}

/** One stored row. Throws `not_found` where there is none of these names on that day. */
async function findCost(c: DashboardContext, view: View, key: Record<string, string>): Promise<Cost> {
  const { date = '', campaign = '', adset = '', creative = '' } = key;
  const asked = { application_id: view.application.id, from: date, to: date, campaign, limit: 200 };
  const query = ask(CostsQuery, asked);
  for (let cursor = ''; ; ) {
    const page = await listCosts(database(c.env.DB), view.application, { ...query, cursor });
    const found = page.data.find((row) => (row.adset ?? '') === adset && (row.creative ?? '') === creative);
    if (found) return found;
    if (page.next_cursor === null) throw new AppError('not_found', 'There are no such costs on that day');
    cursor = page.next_cursor;
  }
}

async function rowPage(
  c: DashboardContext,
  key: Record<string, string>,
  shown: { values?: Record<string, string>; faults?: Fault[] } = {},
) {
  const view = await requireView(c);
  const row = await findCost(c, view, key);
  const { faults = [] } = shown;
  const values: Record<string, string> = shown.values ?? {
    amount: String(row.amount),
    currency: row.currency,
    impressions: row.impressions === null ? '' : String(row.impressions),
    clicks: row.clicks === null ? '' : String(row.clicks),
  };
  const hidden = Object.entries(keyOf(row)).map(([name, value]) => (
    <input type="hidden" name={name} value={value} />
  ));
  const field = (label: string, name: string, required = false) => (
    <Field label={label} name={name} value={values[name] ?? ''} faults={faults} required={required} />
  );
  return renderPage(
    c,
    { title: 'Costs of a day', current: '/costs', view, status: faults.length > 0 ? 400 : 200 },
    <>
      <Card title={`${row.date} · ${namesText(row)}`}>
        <form method="post" action={`/costs/row${viewQuery(view)}`} class="stack">
          {hidden}
          {field('Amount', 'amount', true)}
          {field('Currency', 'currency', true)}
          {field('Impressions', 'impressions')}
          {field('Clicks', 'clicks')}
          <button type="submit">Save</button>
        </form>
      </Card>
      <Card title="Delete">
        <Action
          to={`/costs/row/delete${viewQuery(view)}`}
          label="Delete these costs"
          kind="danger"
          confirm={`Delete the costs of ${row.date}, ${namesText(row)}?`}
          fields={keyOf(row)}
        />
      </Card>
      <p>
        <a href={`/costs${viewQuery(view)}#ledger`}>Back to the ledger</a>
      </p>
    </>,
  );
}

async function saveRow(c: DashboardContext) {
  const view = await requireView(c);
  const form = await readForm(c);
  await findCost(c, view, form);
  const amount = Number(form.amount);
  const row = { ...form, amount: form.amount?.trim() && Number.isFinite(amount) ? amount : form.amount };
  const { data, faults } = checkForm(Costs, { application_id: view.application.id, rows: [row] });
  if (data) {
    await saveCosts(callerOf(c), view.application, data.rows);
    return redirectDone(c, `/costs${viewQuery(view)}`, 'saved');
  }
  const own = faults.map(({ path, message }) => ({ path: path.replace('rows.0.', ''), message }));
  return rowPage(c, form, { values: form, faults: own });
}

async function readUpload(c: DashboardContext): Promise<{ text: string; currency: string }> {
  const { csv, file, file_currency } = await readFields(c);
  const currency = typeof file_currency === 'string' ? file_currency.trim() : '';
  if (file instanceof File && file.size > 0) return { text: await file.text(), currency };
  return { text: typeof csv === 'string' ? csv : '', currency };
}

/** As the list of names sends one: JSON of campaign, ad set and creative. */
const ChosenNames = z
  .string()
  .transform((text, ctx) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      ctx.addIssue({ code: 'custom', message: 'must be JSON' });
      return z.NEVER;
    }
  })
  .pipe(z.tuple([z.string(), z.string(), z.string()]));

const admin = requireRole('admin');

export const costPages = new Hono<DashboardEnv>()
  .use('/costs/*', requirePerson)
  .get('/costs', (c) => costsPage(c))
  .post('/costs', admin, async (c) => {
    const view = await requireView(c);
    const { text, currency } = await readUpload(c);
    const { rows, lines, faults, format } = parseCostFile(text, currency || view.application.currency);
    if (faults.length > 0) return costsPage(c, { faults, text });
    const checked = checkForm(Costs, { application_id: view.application.id, rows });
    if (!checked.data) {
      return costsPage(c, { faults: checked.faults.map((fault) => readable(fault, lines)), text });
    }
    const answer = await saveCosts(callerOf(c), view.application, checked.data.rows);
    const outcome = { stored: String(answer.rows), unknown: String(answer.unmatched), format: format ?? '' };
    return c.redirect(`/costs${viewQuery(view, outcome)}`, 303);
  })
  .get('/costs/row', admin, (c) => rowPage(c, c.req.query()))
  .post('/costs/row', admin, saveRow)
  .post('/costs/row/delete', admin, async (c) => {
    const view = await requireView(c);
    const { date, campaign, adset, creative } = await readForm(c);
    const rows = [{ date, campaign, adset, creative }];
    const { data, faults } = checkForm(CostsToDelete, { application_id: view.application.id, rows });
    if (!data) throw invalidRequest(faults);
    await deleteCosts(callerOf(c), view.application, data);
    return redirectDone(c, `/costs${viewQuery(view)}`, 'deleted');
  })
  .post('/costs/names', admin, async (c) => {
    const view = await requireView(c);
    const { names = '', to } = await readForm(c);
    const chosen = ChosenNames.safeParse(names);
    if (!chosen.success)
      throw invalidRequest([{ path: 'names', message: 'must be one of the names listed' }]);
    const [campaign, adset, creative] = chosen.data;
    const { data, faults } = checkForm(NewCostName, { campaign, adset, creative, to });
    if (!data) throw invalidRequest(faults);
    await mapCostNames(callerOf(c), view.application, data);
    return redirectDone(c, `/costs${viewQuery(view)}`, 'mapped');
  })
  .post('/costs/names/remove', admin, async (c) => {
    const view = await requireView(c);
    const { campaign = '', adset = '', creative = '' } = await readForm(c);
    await unmapCostNames(callerOf(c), view.application, { campaign, adset, creative });
    return redirectDone(c, `/costs${viewQuery(view)}`, 'deleted');
  })
  .get('/costs/rates', (c) => ratesPage(c))
  .post('/costs/rates', admin, uploadRates);
