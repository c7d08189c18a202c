import type { Child } from 'hono/jsx';
import { FUNNEL_STEPS } from '#catalogue';
import { database } from '#db';
import { type Fault, readAs } from '#http';
import { count, duration, percent, RATIOS } from '#lib/format';
import {
  FunnelQuery,
  PerformanceQuery,
  REPORTS,
  reportFunnel,
  reportPerformance,
  tableColumns,
} from '#reports';
import { listViews, viewAddress } from '#views';
import { Bar } from '../../charts/shapes.tsx';
import { Fields } from '../../forms/fields.tsx';
import { checkForm } from '../../forms/form.ts';
import { shortDays } from '../../shell/dates.ts';
import { isGuest } from '../../shell/guard.ts';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Card, Field, FormMenu, Table } from '../../shell/parts.tsx';
import { comparedWholeDays } from '../../shell/period.ts';
import { answerCsv, CsvLink, renderReport, ViewFields, viewAsked, wantsCsv } from '../../shell/report.tsx';
import { type View, viewQuery } from '../../shell/view.ts';
import { ComparedDays } from '../../tables/compared.tsx';
import { NoFigures } from '../../tables/empty-report.tsx';
import { DEVICE_GROUPINGS, GroupCell, groupLabel, groupWord } from '../../tables/groups.tsx';
import { sortRows } from '../../tables/metrics.ts';
import { wholePeriods } from '../../tables/part-of-day.ts';

const STEPS = 6;
const DEFAULT_STEPS = ['install', 'ad', 'purchase'];
const MAX_EVENT_NAMES = 100;
const MAX_MULTIPLES = 12;
const WINDOWS = [
  ['', 'Any time'],
  ['1', '1 hour'],
  ['24', '1 day'],
  ['168', '7 days'],
  ['720', '30 days'],
] as const;
const EVENTS_ONLY = { metrics: ['events'], totals: false } as const;

type FunnelRow = Awaited<ReturnType<typeof reportFunnel>>['data'][number];

const labelOf = (step: string) => FUNNEL_STEPS[step] ?? step.replace(/^event:/, '');

/** The API separates steps by commas, so a comma within a name is percent-encoded. */
const toStep = (step: string) => step.replaceAll(',', '%2c');
const fromStep = (step: string) => step.replaceAll(/%2c/gi, ',');

/** The rows of each group of a funnel, in the order of the steps. */
function groupsOf(rows: readonly FunnelRow[], steps: number): FunnelRow[][] {
  return Array.from({ length: Math.ceil(rows.length / steps) }, (_, index) =>
    rows.slice(index * steps, (index + 1) * steps),
  );
}

const stepOptions = (offered: readonly string[]) => offered.map((step) => [step, labelOf(step)] as const);

/** The form's field of a part of the query. */
const fieldOf = (path: string): string =>
  path
    .replace(/^steps(?:\.(\d+))?$/, (_, at) => `step-${at ?? 0}`)
    .replace('window_hours', 'window')
    .replace('group_by', 'group');

const StepsForm = ({
  view,
  steps,
  offered,
  window,
  group,
  faults,
}: {
  view: View;
  steps: readonly string[];
  offered: readonly string[];
  window: string;
  group: string;
  faults: readonly Fault[];
}) => (
  <form method="get" action="/funnels" class="stack">
    <ViewFields view={view} />
    <Fields
      fields={[
        ...steps.map((step, index) => ({
          label: `Step ${index + 1}`,
          name: `step-${index}`,
          submitted: 'step',
          value: step,
          options: [...(index > 0 ? [['', 'None'] as const] : []), ...stepOptions(offered)],
        })),
        {
          label: 'Within',
          name: 'window',
          value: window,
          hint: 'After the first step',
          options: WINDOWS.some(([hours]) => hours === window)
            ? WINDOWS
            : [...WINDOWS, [window, `${window} hours`]],
        },
        { label: 'Group by', name: 'group', value: group, options: [['', 'Nothing'], ...DEVICE_GROUPINGS] },
      ]}
      faults={faults.map(({ path, message }) => ({ path: fieldOf(path), message }))}
    />
    <button type="submit">Apply</button>
  </form>
);

/** Adds a step after the last one. */
const AddStep = ({
  view,
  carry,
  offered,
}: {
  view: View;
  carry: Readonly<Record<string, string>>;
  offered: readonly string[];
}) => (
  <FormMenu label="+ Add a step" id="add-step" kind="quiet" from="left">
    <form method="get" action="/funnels" class="stack">
      <ViewFields view={view} changes={carry} />
      <Field label="Next step" name="step-next" submitted="next" options={stepOptions(offered)} />
      <button type="submit">Add</button>
    </form>
  </FormMenu>
);

/** The largest groups, each with a funnel of its own at the same scale. The table has all. */
const Multiples = ({
  groups,
  nameOf,
}: {
  groups: readonly FunnelRow[][];
  nameOf: (row: FunnelRow) => Child;
}) => {
  const shown = groups.slice(0, MAX_MULTIPLES);
  const places = RATIOS.places(shown.flat().flatMap((row) => row.from_first ?? []));
  return (
    <>
      <ul class="multiples">
        {shown.map((rows) => (
          <li>
            <h3>{rows[0] && nameOf(rows[0])}</h3>
            <dl>
              {rows.map((row, index) => (
                <div title={`${labelOf(row.step)}: ${count(row.devices)}`}>
                  <dt>{labelOf(row.step)}</dt>
                  <dd>
                    <Bar share={row.from_first ?? 0} />
                    <span class="number">
                      {index === 0 ? count(row.devices) : percent(row.from_first, places)}
                    </span>
                  </dd>
                </div>
              ))}
            </dl>
          </li>
        ))}
      </ul>
      {groups.length > shown.length && (
        <p class="hint">{`The ${shown.length} largest of ${count(groups.length)}; the table has all.`}</p>
      )}
    </>
  );
};

function funnelsPage(c: DashboardContext) {
  const listed = c.req.query('steps')?.split(',').map(fromStep);
  const asked = c.req.queries('step') ?? listed ?? [];
  const chosen = [...asked, c.req.query('next') ?? ''].filter((step) => step !== '').slice(0, STEPS);
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
      ...compared?.now,
      steps: carry.steps,
      ...(window ? { window_hours: window } : {}),
      ...(group ? { group_by: group } : {}),
    });
    const names = {
      ...readAs(PerformanceQuery, { ...viewAsked(view), group_by: 'event_name' }),
      ...EVENTS_ONLY,
    };
    const [events, views] = await Promise.all([
      reportPerformance(c.env, view.application, names, view.now),
      // A guest sees one view, and not the names of the others.
      isGuest(c.get('person')) ? [] : listViews(database(c.env.DB), c.get('person').team.id),
    ]);
    const seen = sortRows(events.data, '-events')
      .filter((row) => !row.is_other)
      .slice(0, MAX_EVENT_NAMES)
      .map((row) => `event:${row.event_name}`);
    const offered = [...new Set([...Object.keys(FUNNEL_STEPS), ...seen, ...steps])];
    const saved = views.filter(
      ({ path, query: stored }) =>
        path === '/funnels' && new URLSearchParams(stored).get('app') === view.application.id,
    );
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
    const others = saved.length > 0 && (
      <p class="asides">
        <span class="muted">Saved</span>
        {saved.map((one) => (
          <a href={viewAddress(one)}>
            <bdi>{one.name}</bdi>
          </a>
        ))}
      </p>
    );
    if (!query) {
      c.status(400);
      return (
        <Card title="Funnel" aside={<span class="asides">{asides}</span>}>
          <p class="empty">These steps make no funnel.</p>
        </Card>
      );
    }
    const isWhole = { group_by: undefined };
    const [report, whole, before] = await Promise.all([
      reportFunnel(c.env, view.application, query),
      group && !wantsCsv(c) ? reportFunnel(c.env, view.application, { ...query, ...isWhole }) : null,
      compared && !wantsCsv(c)
        ? reportFunnel(c.env, view.application, { ...query, ...isWhole, ...compared.before })
        : null,
    ]);
    const rows = (whole ?? report).data;
    const earlier = new Map(rows.map((row, index) => [row, before?.data[index]]));
    if (wantsCsv(c)) {
      return answerCsv(c, report, tableColumns('funnel', REPORTS.funnel.columnsOf(query)), view);
    }
    const incomplete = report.devices_with_incomplete_history;
    const [first] = rows;
    const places = RATIOS.places(
      rows.flatMap((row) =>
        [row.from_first ?? [], row.from_previous ?? [], earlier.get(row)?.from_first ?? []].flat(),
      ),
    );
    const share = (value: number | null) => percent(value, places);
    if (first?.devices === 0) {
      const isInstall = first.step === 'install';
      return (
        <>
          <div class="asides end">{asides}</div>
          {others}
          <NoFigures
            {...here}
            env={c.env}
            title="Funnel"
            what={isInstall ? 'devices acquired' : `devices that reached “${labelOf(first.step)}”`}
            fill={
              isInstall
                ? 'Funnels appear once your app’s first device arrives.'
                : `The funnel appears once a device reaches “${labelOf(first.step)}”.`
            }
          />
        </>
      );
    }
    return (
      <>
        {others}
        <Card
          title="Funnel"
          info={
            <>
              <p>
                Devices acquired in the period (days in {view.application.timezone}) that reach each step
                after the one before
                {window
                  ? `, within ${WINDOWS.find(([hours]) => hours === window)?.[1] ?? `${window} hours`} after the first`
                  : ''}
                .
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
          {steps.length < STEPS && <AddStep view={view} carry={carry} offered={offered} />}
          {incomplete > 0 && (
            <p class="hint">
              {`${count(incomplete)} devices had more events than funnels store, so a later step of theirs may be missing.`}
            </p>
          )}
        </Card>
        {group && (
          <Card title={`By ${groupWord(group)}`}>
            <Multiples
              groups={groupsOf(report.data, steps.length)}
              nameOf={(row) => <GroupCell {...here} name={group} row={row} />}
            />
            <details class="fold">
              <summary>Show as a table</summary>
              <Table
                caption={`Devices that reach each step, by ${groupWord(group)}`}
                rows={groupsOf(report.data, steps.length)}
                kind="funnel"
                empty="No devices were acquired in this period."
                columns={[
                  {
                    label: groupLabel(group),
                    cell: ([row]) => row && <GroupCell {...here} name={group} row={row} />,
                  },
                  ...steps.map((step, index) => ({
                    label: labelOf(step),
                    numeric: true,
                    cell: (rows: FunnelRow[]) => (
                      <>
                        {index === 0
                          ? count(rows[index]?.devices)
                          : `${count(rows[index]?.devices)} (${percent(rows[index]?.from_first)})`}
                        <Bar share={rows[index]?.from_first ?? 0} />
                      </>
                    ),
                  })),
                ]}
              />
            </details>
          </Card>
        )}
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
