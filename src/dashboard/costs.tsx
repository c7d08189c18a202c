import { Hono } from 'hono';
import * as z from 'zod';
import { database } from '#db';
import { invalidRequest } from '#http';
import { atLeast } from '#members';
import { CostsQuery, listCosts, mapCostNames, NewCostName, unmapCostNames } from '#money';
import { PerformanceQuery, reportPerformance } from '#reports';
import { placesOf, ticksOf, valuesAt } from './axis.ts';
import { LineChart } from './chart.tsx';
import { LedgerCard } from './cost-ledger.tsx';
import { CostNamesCards } from './cost-names.tsx';
import { costRowPage, deleteCostRow, saveCostRow } from './cost-row.tsx';
import {
  type Refused,
  RefusedNotice,
  readStored,
  StoredNotice,
  UploadCard,
  uploadCosts,
} from './cost-upload.tsx';
import { CostTabs, ratesPage, uploadRates } from './exchange-rates.tsx';
import { checkForm, doneText, readForm, redirectDone } from './form.ts';
import { money } from './format.ts';
import { callerOf, type DashboardContext, type DashboardEnv, requirePerson, requireRole } from './guard.ts';
import { METRICS, showMetric } from './metrics.ts';
import { Card, Notice, Table } from './parts.tsx';
import { answerCsv, ask, CsvLink, renderReport, Unconverted, viewAsked, wantsCsv, Zone } from './report.tsx';
import { requireView, viewQuery } from './view.ts';

const SHOWN = ['spend', 'installs', 'cpi', 'roas'] as const;
const PAGE = 50;

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

/** The value in the list of names: JSON of campaign, ad set and creative. */
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
    const answer = await uploadCosts(c, view);
    return answer instanceof Response ? answer : costsPage(c, answer);
  })
  .get('/costs/row', admin, (c) => costRowPage(c, c.req.query()))
  .post('/costs/row', admin, saveCostRow)
  .post('/costs/row/delete', admin, deleteCostRow)
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
