import { Hono } from 'hono';
import { FunnelQuery, PerformanceQuery, reportFunnel, reportPerformance } from '#reports';
import { Bar } from './chart.tsx';
import { count, percent } from './format.ts';
import { type DashboardEnv, requirePerson } from './guard.ts';
import { sortRows } from './metrics.ts';
import { Card, Field, Table } from './parts.tsx';
import { answerCsv, ask, CsvLink, renderReport, ViewFields, viewAsked, wantsCsv } from './report.tsx';

const STEPS = 6;
const DEFAULT_STEPS = ['install', 'ad', 'purchase'];
const MAX_EVENT_NAMES = 100;
const WINDOWS = [
  ['', 'without limit'],
  ['1', '1 hour'],
  ['24', '1 day'],
  ['168', '7 days'],
  ['720', '30 days'],
] as const;
const NAMES: Record<string, string> = {
  install: 'Install',
  retention: 'Session',
  ad: 'Ad impression',
  purchase: 'Purchase',
};

const labelOf = (step: string) => NAMES[step] ?? step.replace(/^event:/, '');

/** A comma separates the steps in the API, so one within a name is written as it is in a URL. */
const toStep = (step: string) => step.replaceAll(',', '%2c');
const fromStep = (step: string) => step.replaceAll(/%2c/gi, ',');

export const funnelPages = new Hono<DashboardEnv>().get('/funnels', requirePerson, (c) => {
  const listed = c.req.query('steps')?.split(',').map(fromStep);
  const chosen = (c.req.queries('step') ?? listed ?? []).filter((step) => step !== '').slice(0, STEPS);
  const steps = chosen.length > 0 ? chosen : DEFAULT_STEPS;
  const window = c.req.query('window') ?? '';
  const carry = { steps: steps.map(toStep).join(','), window };
  const page = { title: 'Funnels', path: '/funnels', carry, bar: ['app', 'period', 'filters'] as const };
  return renderReport(c, page, async (view, now) => {
    const asked = viewAsked(view);
    const query = ask(FunnelQuery, {
      ...asked,
      steps: carry.steps,
      ...(window ? { window_hours: window } : {}),
    });
    const names = ask(PerformanceQuery, { ...asked, group_by: 'event_name' });
    const [report, events] = await Promise.all([
      reportFunnel(c.env, view.application, query),
      reportPerformance(c.env, view.application, names, now),
    ]);
    if (wantsCsv(c)) return answerCsv(c, report, ['step', 'devices', 'from_first', 'from_previous'], view);
    const seen = sortRows(events.data, '-events')
      .slice(0, MAX_EVENT_NAMES)
      .map((row) => `event:${row.event_name}`);
    const offered = [...new Set([...Object.keys(NAMES), ...seen, ...steps])];
    const options = offered.map((step) => [step, labelOf(step)] as const);
    return (
      <>
        <Card title="Steps">
          <form method="get" action="/funnels" class="row">
            <ViewFields view={view} />
            {Array.from({ length: STEPS }, (_, index) => (
              <div class="field">
                <label for={`step-${index}`}>Step {index + 1}</label>
                <select id={`step-${index}`} name="step">
                  {index > 0 && <option value="">no more</option>}
                  {options.map(([value, label]) => (
                    <option value={value} selected={value === steps[index]}>
                      {label}
                    </option>
                  ))}
                </select>
              </div>
            ))}
            <Field label="Within" name="window" value={window} options={WINDOWS} />
            <button type="submit">Show</button>
          </form>
        </Card>
        <Card title="Funnel" aside={<CsvLink view={view} path="/funnels" parameters={carry} />}>
          <Table
            caption={`Devices that reach each step, days in ${view.application.timezone}`}
            rows={report.data}
            columns={[
              { label: 'Step', cell: (row) => labelOf(row.step) },
              { label: 'Share', cell: (row) => <Bar share={row.from_first ?? 0} /> },
              { label: 'Devices', numeric: true, cell: (row) => count(row.devices) },
              { label: 'Of the first', numeric: true, cell: (row) => percent(row.from_first) },
              { label: 'Of the step before', numeric: true, cell: (row) => percent(row.from_previous) },
            ]}
          />
          <p class="hint">
            Devices acquired in the period (days in {view.application.timezone}) that reach each step in this
            order
            {window
              ? ` within ${WINDOWS.find(([hours]) => hours === window)?.[1] ?? `${window} hours`} after the first`
              : ''}
            .
          </p>
        </Card>
      </>
    );
  });
});
