import { Hono } from 'hono';
import { LtvQuery, RetentionQuery, reportLtv, reportRetention } from '#reports';
import { LineChart } from './chart.tsx';
import { count, money, NOTHING, percent } from './format.ts';
import { type DashboardEnv, requirePerson } from './guard.ts';
import { Card, Field, Table } from './parts.tsx';
import {
  answerCsv,
  ask,
  CsvLink,
  MAX_TABLE_ROWS,
  RowCount,
  renderReport,
  Unconverted,
  ViewFields,
  viewAsked,
  wantsCsv,
} from './report.tsx';
import type { View } from './view.ts';

const RETENTION_DAYS = [0, 1, 2, 3, 4, 5, 6, 7, 14, 21, 30];
const CURVE_DAYS = Array.from({ length: 31 }, (_, day) => day);
const LTV_DAYS = [0, 1, 3, 7, 14, 21, 30, 60, 90];
const COHORT_COLUMNS = ['cohort_from', 'cohort_to', 'creative', 'creative_id', 'size', 'day', 'eligible'];
const MAX_CURVES = 6;
const STEPS = 10;

const COHORTS = [
  ['day', 'by day'],
  ['week', 'by week'],
  ['month', 'by month'],
  ['all', 'all together'],
] as const;
const KINDS = [
  ['classic', 'classic: back on day N'],
  ['rolling', 'rolling: back on day N or later'],
] as const;

type Named = { cohort_from: string; cohort_to: string };
const nameOf = ({ cohort_from, cohort_to }: Named) =>
  cohort_from === cohort_to
    ? cohort_from
    : `${cohort_from} to ${cohort_to.slice(0, 4) === cohort_from.slice(0, 4) ? cohort_to.slice(5) : cohort_to}`;

const Chooser = ({
  path,
  view,
  fields,
}: {
  path: string;
  view: View;
  fields: Parameters<typeof Field>[0][];
}) => (
  <form method="get" action={path} class="row">
    <ViewFields view={view} />
    {fields.map((field) => (
      <Field {...field} />
    ))}
    <button type="submit" class="quiet">
      Show
    </button>
  </form>
);

/** A share as a cell of the heat map: the deeper the colour the more came back; the number is always there. */
const Heat = ({ share, title }: { share: number | null; title: string }) => (
  <td class={`number heat${share === null ? '' : ` h${Math.round(share * STEPS)}`}`} title={title}>
    {share === null ? NOTHING : percent(share)}
  </td>
);

export const cohortPages = new Hono<DashboardEnv>()
  .use('/retention', requirePerson)
  .use('/ltv', requirePerson)
  .get('/retention', (c) => {
    const cohort = c.req.query('cohort') ?? 'week';
    const kind = c.req.query('kind') === 'rolling' ? 'rolling' : 'classic';
    const page = {
      title: 'Retention',
      path: '/retention',
      carry: { cohort, kind },
      bar: ['app', 'period', 'filters'] as const,
    };
    return renderReport(c, page, async (view, now) => {
      const asked = (days: readonly number[], of: string) =>
        ask(RetentionQuery, {
          ...viewAsked(view),
          days: days.join(','),
          cohort: of,
          ...(wantsCsv(c) ? {} : { limit: MAX_TABLE_ROWS }),
        });
      const [report, curve] = await Promise.all([
        reportRetention(c.env.DB, view.application, asked(RETENTION_DAYS, cohort), now),
        reportRetention(c.env.DB, view.application, asked(CURVE_DAYS, 'all'), now),
      ]);
      if (wantsCsv(c)) return answerCsv(c, report, [...COHORT_COLUMNS, 'active', 'classic', 'rolling'], view);
      const [all] = curve.data;
      const values = (of: 'classic' | 'rolling') => CURVE_DAYS.map((day) => all?.days[day]?.[of] ?? null);
      return (
        <>
          <Card title="How many come back">
            <LineChart
              title="Retention by day since acquisition"
              labels={CURVE_DAYS.map((day) => `Day ${day}`)}
              format={percent}
              series={[
                { name: 'Classic', values: values('classic') },
                { name: 'Rolling', values: values('rolling') },
              ]}
            />
            <p class="hint">
              Of the devices acquired in the period whose day N is over. Days in {view.application.timezone}.
            </p>
          </Card>
          <Card
            title="By cohort"
            aside={<CsvLink view={view} path="/retention" parameters={{ cohort, kind }} />}
          >
            <Chooser
              path="/retention"
              view={view}
              fields={[
                { label: 'Cohorts', name: 'cohort', value: cohort, options: COHORTS },
                { label: 'Retention', name: 'kind', value: kind, options: KINDS },
              ]}
            />
            {report.data.length === 0 ? (
              <p class="empty">No device was acquired in this period.</p>
            ) : (
              <section class="scroll" aria-label="Retention by cohort" tabindex={0}>
                <table class="heat-map">
                  <caption class="visually-hidden">
                    Retention by cohort and day since acquisition, days in {view.application.timezone}
                  </caption>
                  <thead>
                    <tr>
                      <th scope="col">Acquired</th>
                      <th scope="col" class="number">
                        Devices
                      </th>
                      {RETENTION_DAYS.map((day) => (
                        <th scope="col" class="number">
                          Day {day}
                        </th>
                      ))}
                    </tr>
                  </thead>
                  <tbody>
                    {report.data.map((row) => (
                      <tr>
                        <th scope="row">{nameOf(row)}</th>
                        <td class="number">{count(row.size)}</td>
                        {RETENTION_DAYS.map((day) => {
                          const cell = row.days[day];
                          const title =
                            cell && cell.eligible > 0 ? `of ${count(cell.eligible)} devices` : 'not over yet';
                          return <Heat share={cell?.[kind] ?? null} title={title} />;
                        })}
                      </tr>
                    ))}
                  </tbody>
                </table>
              </section>
            )}
            <RowCount shown={report.data.filter((row) => !row.is_other).length} total={report.total_rows} />
            <p class="hint">{NOTHING}: no device of the cohort has its day N behind it yet.</p>
          </Card>
        </>
      );
    });
  })
  .get('/ltv', (c) => {
    const cohort = c.req.query('cohort') ?? 'all';
    const page = { title: 'LTV and ROAS', path: '/ltv', carry: { cohort } };
    return renderReport(c, page, async (view, now) => {
      const asked = (days: readonly number[]) =>
        ask(LtvQuery, {
          ...viewAsked(view),
          days: days.join(','),
          cohort,
          ...(wantsCsv(c) ? {} : { limit: MAX_TABLE_ROWS }),
        });
      const [report, curve] = await Promise.all([
        reportLtv(c.env.DB, view.application, asked(LTV_DAYS), now),
        reportLtv(c.env.DB, view.application, asked(CURVE_DAYS), now),
      ]);
      if (wantsCsv(c)) return answerCsv(c, report, [...COHORT_COLUMNS, 'revenue', 'ltv', 'roas'], view);
      const shown = curve.data.filter((row) => !row.is_other).slice(-MAX_CURVES);
      const series = (of: 'ltv' | 'roas') =>
        shown.map((row) => ({
          name: nameOf(row),
          values: CURVE_DAYS.map((day) => row.days[day]?.[of] ?? null),
        }));
      const labels = CURVE_DAYS.map((day) => `Day ${day}`);
      const inCurrency = (value: number | null) => money(value, view.currency);
      return (
        <>
          <Unconverted amounts={report.unconverted} />
          <Chooser
            path="/ltv"
            view={view}
            fields={[{ label: 'Cohorts', name: 'cohort', value: cohort, options: COHORTS }]}
          />
          {curve.data.length > MAX_CURVES && (
            <p class="hint">The curves show the last {MAX_CURVES} cohorts, the table shows all.</p>
          )}
          <div class="pair">
            <Card title="Lifetime value of a device">
              <LineChart
                title="Lifetime value by day"
                labels={labels}
                format={inCurrency}
                series={series('ltv')}
              />
            </Card>
            <Card title="ROAS">
              <LineChart title="ROAS by day" labels={labels} format={percent} series={series('roas')} />
            </Card>
          </div>
          <Card title="By day N" aside={<CsvLink view={view} path="/ltv" parameters={{ cohort }} />}>
            <Table
              caption={`Lifetime value and ROAS by cohort, days in ${view.application.timezone}`}
              empty="No device was acquired in this period."
              rows={report.data}
              columns={[
                { label: 'Acquired', cell: (row) => nameOf(row) },
                { label: 'Devices', numeric: true, cell: (row) => count(row.size) },
                ...LTV_DAYS.flatMap((day) => [
                  {
                    label: `LTV day\u00a0${day}`,
                    numeric: true,
                    cell: (row: (typeof report.data)[number]) => inCurrency(row.days[day]?.ltv ?? null),
                  },
                  {
                    label: `ROAS day\u00a0${day}`,
                    numeric: true,
                    cell: (row: (typeof report.data)[number]) => percent(row.days[day]?.roas ?? null),
                  },
                ]),
              ]}
            />
            <RowCount shown={report.data.filter((row) => !row.is_other).length} total={report.total_rows} />
            <p class="hint">
              Revenue from day 0 to N of the devices whose day N is over, each; ROAS is that revenue against
              the costs of the days on which they were acquired. Days in {view.application.timezone}.
            </p>
          </Card>
        </>
      );
    });
  });
