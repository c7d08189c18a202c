import { FUNNEL_STEPS } from '#catalogue';
import { database } from '#db';
import { readAs } from '#http';
import { count, duration, percent, RATIOS } from '#lib/format';
import {
  FunnelQuery,
  isOfGroup,
  PerformanceQuery,
  REPORTS,
  reportFunnel,
  reportPerformance,
  tableColumns,
} from '#reports';
import { listViews, viewAddress } from '#views';
import { Bar } from '../../charts/shapes.tsx';
import { checkForm } from '../../forms/form.ts';
import { shortDays } from '../../shell/dates.ts';
import { isGuest } from '../../shell/guard.ts';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Card, FormMenu } from '../../shell/parts.tsx';
import { type Compared, comparedWholeDays } from '../../shell/period.ts';
import { answerCsv, CsvLink, renderReport, viewAsked, wantsCsv } from '../../shell/report.tsx';
import { type Here, type View, viewQuery } from '../../shell/view.ts';
import { ComparedDays } from '../../tables/compared.tsx';
import { NoFigures } from '../../tables/empty-report.tsx';
import { sortRows } from '../../tables/metrics.ts';
import { wholePeriods } from '../../tables/part-of-day.ts';
import { Table } from '../../tables/table.tsx';
import { FunnelGroups, type FunnelRow } from './funnel-groups.tsx';
import {
  AddStep,
  DEFAULT_STEPS,
  fromStep,
  labelOf,
  MAX_STEPS,
  StepsForm,
  toStep,
  windowText,
} from './funnel-steps.tsx';

const MAX_EVENT_NAMES = 100;
const EVENTS_ONLY = { metrics: ['events'], totals: false } as const;

/** The steps to choose from: those of every application, the most frequent events of the view, and the chosen ones. */
async function readSteps(c: DashboardContext, view: View, chosen: readonly string[]): Promise<string[]> {
  const query = readAs(PerformanceQuery, { ...viewAsked(view), group_by: 'event_name' });
  const events = await reportPerformance(c.env, view.application, { ...query, ...EVENTS_ONLY }, view.now);
  const seen = sortRows(events.data, '-events')
    .filter(isOfGroup)
    .slice(0, MAX_EVENT_NAMES)
    .map((row) => `event:${row.event_name}`);
  return [...new Set([...Object.keys(FUNNEL_STEPS), ...seen, ...chosen])];
}

/** The saved funnels of the view's application. A guest sees one view, and not the names of the others. */
async function readSaved(c: DashboardContext, { application }: View) {
  const person = c.get('person');
  const views = isGuest(person) ? [] : await listViews(database(c.env.DB), person.team.id);
  return views.filter(
    ({ path, query }) => path === '/funnels' && new URLSearchParams(query).get('app') === application.id,
  );
}

const SavedFunnels = ({ views }: { views: Awaited<ReturnType<typeof readSaved>> }) =>
  views.length === 0 ? null : (
    <p class="asides">
      <span class="muted">Saved</span>
      {views.map((one) => (
        <a href={viewAddress(one)}>
          <bdi>{one.name}</bdi>
        </a>
      ))}
    </p>
  );

/** What the page shows if no device reached the first step. */
const NoDevices = ({ c, here, first }: { c: DashboardContext; here: Required<Here>; first: string }) => {
  const isInstall = first === 'install';
  return (
    <NoFigures
      {...here}
      env={c.env}
      title="Funnel"
      what={isInstall ? 'devices acquired' : `devices that reached “${labelOf(first)}”`}
      fill={
        isInstall
          ? 'Funnels appear once your app’s first device arrives.'
          : `The funnel appears once a device reaches “${labelOf(first)}”.`
      }
    />
  );
};

/** The steps of a funnel, with the shares of the period before if it is compared. `before` are its rows. */
const FunnelTable = ({
  view,
  rows,
  compared,
  before,
}: {
  view: View;
  rows: readonly FunnelRow[];
  compared: Compared | null;
  before: readonly FunnelRow[];
}) => {
  const earlier = new Map(rows.map((row, index) => [row, before[index]]));
  const places = RATIOS.places(
    rows.flatMap((row) =>
      [row.from_first ?? [], row.from_previous ?? [], earlier.get(row)?.from_first ?? []].flat(),
    ),
  );
  const share = (value: number | null) => percent(value, places);
  return (
    <Table
      caption={`Devices that reach each step, days in ${view.application.timezone}`}
      rows={rows}
      kind="funnel"
      columns={[
        { label: 'Step', cell: (row) => labelOf(row.step) },
        { label: 'Share', cell: (row) => <Bar share={row.from_first ?? 0} /> },
        { label: 'Devices', numeric: true, cell: (row) => count(row.devices) },
        { label: 'Of first step', numeric: true, cell: (row) => share(row.from_first) },
        ...(compared
          ? [
              {
                label: 'Before',
                numeric: true,
                hint: `Of first step, ${shortDays(compared.before, view.today)}`,
                cell: (row: FunnelRow) => share(earlier.get(row)?.from_first ?? null),
              },
            ]
          : []),
        { label: 'Of previous step', numeric: true, cell: (row) => share(row.from_previous) },
        {
          label: 'Median time',
          numeric: true,
          hint: 'From the previous step, for devices that reached both',
          cell: (row) => duration(row.median_seconds),
        },
      ]}
    />
  );
};

function funnelsPage(c: DashboardContext) {
  const listed = c.req.query('steps')?.split(',').map(fromStep);
  const asked = c.req.queries('step') ?? listed ?? [];
  const chosen = [...asked, c.req.query('next') ?? ''].filter((step) => step !== '').slice(0, MAX_STEPS);
  const steps = chosen.length > 0 ? chosen : DEFAULT_STEPS;
  const window = c.req.query('window') ?? '';
  const group = c.req.query('group') ?? '';
  const carry = { steps: steps.map(toStep).join(','), window, group };
  const page = {
    carry,
    bar: ['period', 'comparison', 'filters'] as const,
  };
  return renderReport(c, page, async (view, here) => {
    const compared = comparedWholeDays(view);
    const { data: query, faults } = checkForm(FunnelQuery, {
      ...viewAsked(view),
      steps: carry.steps,
      ...(window ? { window_hours: window } : {}),
      ...(group ? { group_by: group } : {}),
    });
    if (query && wantsCsv(c)) {
      const report = await reportFunnel(c.env, view.application, query);
      return answerCsv(c, report, tableColumns('funnel', REPORTS.funnel.columnsOf(query)), view);
    }
    const [offered, saved] = await Promise.all([readSteps(c, view, steps), readSaved(c, view)]);
    const asides = (
      <>
        <a href={`/views?${new URLSearchParams({ for: `/funnels${viewQuery(view, carry)}` })}`}>
          Save this funnel
        </a>
        <FormMenu label="Edit steps" id="steps" kind="quiet" open={faults !== null}>
          <StepsForm
            view={view}
            steps={steps}
            offered={offered}
            window={window}
            group={group}
            faults={faults ?? []}
          />
        </FormMenu>
      </>
    );
    if (!query) {
      c.status(400);
      return (
        <Card title="Funnel" aside={<span class="asides">{asides}</span>}>
          <p class="empty">These steps make no funnel.</p>
        </Card>
      );
    }
    const ofAll = { ...query, group_by: undefined };
    const [report, whole, before] = await Promise.all([
      reportFunnel(c.env, view.application, query),
      group ? reportFunnel(c.env, view.application, ofAll) : null,
      compared ? reportFunnel(c.env, view.application, { ...ofAll, ...compared.before }) : null,
    ]);
    const rows = (whole ?? report).data;
    const incomplete = report.devices_with_incomplete_history;
    const [first] = rows;
    if (first?.devices === 0) {
      return (
        <>
          <div class="asides end">{asides}</div>
          <SavedFunnels views={saved} />
          <NoDevices c={c} here={here} first={first.step} />
        </>
      );
    }
    return (
      <>
        <SavedFunnels views={saved} />
        <Card
          title="Funnel"
          info={
            <>
              <p>
                Devices acquired in the period (days in {view.application.timezone}) that reach each step
                after the one before
                {window ? `, within ${windowText(window)} after the first` : ''}.
              </p>
              <ComparedDays view={view} compared={wholePeriods(compared)} />
            </>
          }
          aside={
            <span class="asides">
              <CsvLink {...here} />
              {asides}
            </span>
          }
        >
          <FunnelTable view={view} rows={rows} compared={compared} before={before?.data ?? []} />
          {steps.length < MAX_STEPS && <AddStep view={view} carry={carry} offered={offered} />}
          {incomplete > 0 && (
            <p class="hint">
              {`${count(incomplete)} devices had more events than funnels store, so a later step of theirs may be missing.`}
            </p>
          )}
        </Card>
        {group && <FunnelGroups here={here} group={group} steps={steps} rows={report.data} />}
      </>
    );
  });
}

export const funnels: PageRecord = {
  path: '/funnels',
  title: 'Funnels',
  links: [{ group: 'Understand', icon: 'M2 3h12l-4.5 5.5V13l-3-1.5V8.5z' }],
  savable: true,
  routes: pageRoutes().get('/', funnelsPage),
};
