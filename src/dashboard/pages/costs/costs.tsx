import * as z from 'zod';
import { type Database, database } from '#db';
import { readAs } from '#http';
import { CostsQuery, listCosts, mapCostNames, NewCostName, sumCosts, unmapCostNames } from '#money';
import { FiguresPanel, readChosen } from '../../charts/figures-panel.tsx';
import { readMarkers } from '../../charts/markers.ts';
import { again, readForm, requireForm } from '../../forms/form.ts';
import { jsonField } from '../../forms/json-field.ts';
import { redirectDone } from '../../shell/done.ts';
import { admin, callerOf, isAdmin, isRestricted } from '../../shell/guard.ts';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { answerCsv, CsvLink, renderReport, wantsCsv } from '../../shell/report.tsx';
import { requireView, type View, viewQuery } from '../../shell/view.ts';
import { readCompared } from '../../tables/compared.tsx';
import { EmptyReport } from '../../tables/empty-report.tsx';
import { LeftOut } from '../../tables/left-out.tsx';
import { placesIn } from '../../tables/places.ts';
import { TimeTable } from '../../tables/time-table.tsx';
import { ColumnForm } from './cost-columns.tsx';
import { LedgerCard } from './cost-ledger.tsx';
import { MappedNames, UnmatchedNames } from './cost-names.tsx';
import { costRowPage, deleteCostRow, saveCostRow } from './cost-row.tsx';
import {
  RefusedNotice,
  type RefusedUpload,
  readStored,
  recallColumns,
  StoredNotice,
  UploadForm,
  uploadCosts,
  uploadRows,
} from './cost-upload.tsx';
import { CostTabs, ratesPage, uploadRates } from './exchange-rates.tsx';

const SHOWN = ['spend', 'installs', 'cpi', 'roas'] as const;
const PAGE = 50;

function costsPage(c: DashboardContext, refused?: RefusedUpload) {
  const unmatched = c.req.query('unmatched') === 'true';
  const chosen = readChosen(c.req.query(), SHOWN);
  return renderReport(c, { carry: chosen.carry }, async (view, here) => {
    if (refused) c.status(400);
    const stored = readStored(c);
    const db = database(c.env.DB);
    const unit = chosen.unit(view);
    const ledger = readAs(CostsQuery, {
      application_id: view.application.id,
      from: view.from,
      to: view.to,
      unmatched: String(unmatched),
      order: 'newest',
      limit: PAGE,
      cursor: c.req.query('cursor') ?? '',
    });
    const [compared, page, totals, { markers, notes }] = await Promise.all([
      // The file has the API's columns.
      readCompared(c.env, view, {
        group_by: unit,
        ...(wantsCsv(c) ? {} : { metrics: SHOWN.map(chosen.shown) }),
      }),
      listCosts(db, view.application, ledger),
      sumCosts(db, view.application, ledger),
      readMarkers(c.env.DB, view, placesIn(view, unit)),
    ]);
    const { report } = compared;
    if (wantsCsv(c)) return answerCsv(c, report, [unit, ...SHOWN], view);
    const person = c.get('person');
    const mayChange = isAdmin(c);
    // The stored costs and their names are not divided by the view's filters.
    const restricted = isRestricted(person, view);
    const isEmpty = page.data.length === 0 && !unmatched && ledger.cursor === '';
    return (
      <>
        {refused ? <RefusedNotice {...refused} /> : stored && <StoredNotice {...stored} />}
        <LeftOut report={report} />
        <CostTabs view={view} current="/costs">
          {mayChange && (
            <>
              <a class="button quiet" href={`/connectors${viewQuery(view)}`}>
                Connect
              </a>
              <UploadForm
                view={view}
                text={refused?.text ?? ''}
                currency={view.application.currency}
                open={refused !== undefined && !refused.unknownHeadings?.length}
              />
            </>
          )}
        </CostTabs>
        {refused?.unknownHeadings && refused.unknownHeadings.length > 0 && (
          <ColumnForm
            view={view}
            text={refused.text}
            headings={refused.unknownHeadings}
            currency={view.application.currency}
          />
        )}
        {!restricted && <UnmatchedNames db={db} view={view} mayChange={mayChange} />}
        {isEmpty ? (
          <NoCosts db={db} view={view} mayChange={mayChange} />
        ) : (
          <>
            {!restricted && (
              <LedgerCard
                view={view}
                page={page}
                totals={totals}
                unmatched={unmatched}
                mayChange={mayChange}
              />
            )}
            <FiguresPanel
              {...here}
              chosen={chosen}
              compared={compared}
              unit={unit}
              markers={markers}
              aside={<CsvLink view={view} path="/costs" />}
            />
            <TimeTable {...here} of="Costs" unit={unit} names={SHOWN} compared={compared} notes={notes} />
          </>
        )}
        {!restricted && <MappedNames db={db} view={view} mayChange={mayChange} />}
      </>
    );
  });
}

/** What stands in place of the figures in a period without costs. */
async function NoCosts({ db, view, mayChange }: { db: Database; view: View; mayChange: boolean }) {
  const { application } = view;
  const any = await listCosts(
    db,
    application,
    readAs(CostsQuery, { application_id: application.id, limit: 1 }),
  );
  return (
    <EmptyReport
      title="Spend"
      view={view}
      path="/costs"
      what="costs"
      fill={`Spend, CPI and ROAS appear once ${mayChange ? 'you upload costs' : 'an admin uploads costs'} or your backend sends them with PUT /v1/costs.`}
      way={mayChange ? ['Upload costs', '#upload'] : undefined}
      isElsewhere={any.data.length > 0}
      isFilterable={false}
    />
  );
}

/** The value in the list of names: JSON of campaign, ad set and creative. */
const ChosenNames = z.object({
  names: jsonField(z.tuple([z.string(), z.string(), z.string()]), 'must be one of the names listed'),
});

const routes = pageRoutes()
  .get('/', (c) => costsPage(c))
  .post('/', admin, async (c) => {
    const view = await requireView(c);
    const answer = await uploadCosts(c, view);
    return answer instanceof Response ? answer : costsPage(c, answer);
  })
  .post('/rows', admin, async (c) => uploadRows(c, await requireView(c)))
  .post('/columns', admin, async (c) => recallColumns(c, await requireView(c)))
  .get('/row', admin, (c) => costRowPage(c, c.req.query()))
  .post(
    '/row',
    admin,
    again((c, submitted) => costRowPage(c, submitted.values, submitted)),
    saveCostRow,
  )
  .post('/row/delete', admin, deleteCostRow)
  .post('/names', admin, async (c) => {
    const view = await requireView(c);
    const [campaign, adset, creative] = (await requireForm(c, ChosenNames)).names;
    const data = await requireForm(c, NewCostName, ({ to }) => ({ campaign, adset, creative, to }));
    await mapCostNames(callerOf(c), view.application, data);
    return redirectDone(c, `/costs${viewQuery(view)}`, 'mapped');
  })
  .post('/names/remove', admin, async (c) => {
    const view = await requireView(c);
    const { campaign = '', adset = '', creative = '' } = await readForm(c);
    await unmapCostNames(callerOf(c), view.application, { campaign, adset, creative });
    return redirectDone(c, `/costs${viewQuery(view)}`, 'deleted');
  })
  .get('/rates', (c) => ratesPage(c))
  .post('/rates', admin, again(ratesPage), uploadRates);

/** A file as `PUT /v1/costs/file` takes it, beside the other fields of the form. */
const MAX_UPLOAD_BYTES = 9 * 1024 * 1024;

export const costs: PageRecord = {
  path: '/costs',
  title: 'Costs',
  links: [
    {
      group: 'Acquire',
      icon: 'M8 2v12M11 4.5C10.5 3.5 9.4 3 8 3 6.3 3 5 3.9 5 5.3 5 8.5 11 7.2 11 10.5 11 12 9.7 13 8 13c-1.5 0-2.7-.6-3.2-1.7',
    },
  ],
  savable: true,
  maxFormBytes: MAX_UPLOAD_BYTES,
  routes,
};
