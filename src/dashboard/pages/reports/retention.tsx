import { readAs } from '#http';
import { RATIOS } from '#lib/format';
import { RetentionQuery, reportRetention } from '#reports';
import type { Series } from '../../charts/chart.tsx';
import { CohortCurves, CURVE_DAYS, CURVE_HINT, curveOf, MAX_CURVES } from '../../charts/cohort-curves.tsx';
import { shortDays } from '../../shell/dates.ts';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Card } from '../../shell/parts.tsx';
import { comparedWholeDays } from '../../shell/period.ts';
import {
  answerReportCsv,
  CsvLink,
  MAX_TABLE_ROWS,
  RowCount,
  renderReport,
  viewAsked,
  wantsCsv,
} from '../../shell/report.tsx';
import {
  CohortForm,
  cohortName,
  cohortsAsked,
  cohortsBefore,
  readCohorts,
} from '../../tables/cohort-parts.tsx';
import { CohortTable, FEW_HINT } from '../../tables/cohort-table.tsx';
import { ComparedDays } from '../../tables/compared.tsx';
import { NoFigures } from '../../tables/empty-report.tsx';
import { wholePeriods } from '../../tables/part-of-day.ts';

const DAYS = [0, 1, 2, 3, 4, 5, 6, 7, 14, 21, 30];
const KINDS = [
  ['classic', 'Classic: back on day N'],
  ['rolling', 'Rolling: back on day N or later'],
] as const;

function retentionPage(c: DashboardContext) {
  const asked = readCohorts(c, 'week');
  const kind = c.req.query('kind') === 'rolling' ? 'rolling' : 'classic';
  const carry = { ...asked, kind };
  const page = {
    carry,
    bar: ['period', 'comparison', 'filters'] as const,
  };
  return renderReport(c, page, async (view, here) => {
    const compared = comparedWholeDays(view);
    const read = (days: readonly number[], changes: Record<string, unknown>) =>
      reportRetention(
        c.env,
        view.application,
        readAs(RetentionQuery, { ...viewAsked(view), days: days.join(','), ...changes }),
        view.now,
      );
    const grouped = cohortsAsked(asked);
    if (wantsCsv(c)) {
      const query = { ...viewAsked(view), days: DAYS.join(','), ...grouped };
      return answerReportCsv(c, 'retention', query, view);
    }
    const [report, curves] = await Promise.all([
      read(DAYS, { ...grouped, limit: MAX_TABLE_ROWS }),
      read(CURVE_DAYS, { ...cohortsAsked({ ...asked, cohort: 'all' }), limit: MAX_CURVES }),
    ]);
    if (report.data.every(({ size }) => size === 0)) {
      return (
        <NoFigures
          {...here}
          env={c.env}
          title="Retention"
          what="devices acquired"
          fill="Retention appears once your app’s first device arrives."
        />
      );
    }
    const before = await cohortsBefore(asked, report, compared, (changes) => read(CURVE_DAYS, changes));
    const valuesOf = (row: (typeof curves.data)[number] | undefined, of: 'classic' | 'rolling') =>
      curveOf(row, (cell) => cell[of]);
    const [all] = curves.data;
    const series: Series[] =
      asked.group === ''
        ? [
            { name: 'Classic', values: valuesOf(all, 'classic') },
            { name: 'Rolling', values: valuesOf(all, 'rolling') },
            ...(before.length > 0 && compared
              ? [
                  {
                    name: `Classic, ${shortDays(compared.before, view.today)}`,
                    values: valuesOf(before[0], 'classic'),
                    before: 0,
                  },
                ]
              : []),
          ]
        : curves.data
            .filter((row) => !row.is_other)
            .map((row) => ({
              name: cohortName({ ...asked, cohort: 'all' }, row, view.today),
              values: valuesOf(row, kind),
            }));
    return (
      <>
        <CohortForm
          {...here}
          asked={asked}
          fields={[{ label: 'Retention', name: 'kind', value: kind, options: KINDS }]}
        />
        <Card
          title="Retention by day"
          info={
            <>
              <p>
                Of the devices acquired in the period whose day N is over. {CURVE_HINT} Days in{' '}
                {view.application.timezone}.
              </p>
              <ComparedDays view={view} compared={wholePeriods(compared)} />
            </>
          }
        >
          <CohortCurves title="Retention" format={RATIOS} series={series} />
        </Card>
        <Card
          title="By cohort"
          info={<p>{FEW_HINT} Blank: day N is not over yet for any device of the cohort.</p>}
          aside={<CsvLink {...here} />}
        >
          <CohortTable
            caption={`Retention by cohort and day since acquisition, days in ${view.application.timezone}`}
            {...here}
            asked={asked}
            rows={report.data}
            totals={{ ...report.totals, cohort_from: view.from, cohort_to: view.to }}
            days={DAYS}
            format={RATIOS}
            isHeat={(day) => day > 0}
            before={before}
            cell={(row, day) => {
              const cell = row.days[day];
              const value = cell?.[kind] ?? null;
              return { value, eligible: cell?.eligible ?? 0 };
            }}
          />
          <RowCount rows={report.data} total={report.total_rows} />
        </Card>
      </>
    );
  });
}

export const retention: PageRecord = {
  path: '/retention',
  title: 'Retention',
  links: [
    {
      group: 'Understand',
      icon: 'M2 2h3v3H2zM6.5 2h3v3h-3zM11 2h3v3h-3zM2 6.5h3v3H2zM6.5 6.5h3v3h-3zM2 11h3v3H2z',
    },
  ],
  savable: true,
  routes: pageRoutes().get('/', retentionPage),
};
