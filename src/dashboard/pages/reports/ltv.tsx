import { readAs } from '#http';
import { amountsIn, NOTHING, RATIOS } from '#lib/format';
import { LtvQuery, PredictedLtvQuery, reportLtv, reportPredictedLtv } from '#reports';
import type { Series } from '../../charts/chart.tsx';
import {
  CohortCurves,
  CURVE_DAYS,
  CURVE_HINT,
  curveOf,
  MAX_CURVES,
  PAID_BACK,
} from '../../charts/cohort-curves.tsx';
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
import { lackedText, Mark } from '../../tables/lacking.tsx';
import { hasSpend, LeftOut, WithoutSpend } from '../../tables/left-out.tsx';
import { REVENUES, readRevenue } from '../../tables/net-revenue.ts';
import { wholePeriods } from '../../tables/part-of-day.ts';
import { forecastsOf, PredictedCard } from './predicted-ltv.tsx';

const DAYS = [0, 1, 3, 7, 14, 21, 30, 60, 90];
const SHOWN = [
  ['ltv', 'LTV: revenue per device'],
  ['roas', 'ROAS: revenue / spend'],
] as const;
type LtvFigure = 'ltv' | 'roas';
const HORIZONS = [
  ['none', 'No prediction'],
  ['30', 'Next 30 days'],
  ['90', 'Next 90 days'],
  ['180', 'Next 180 days'],
  ['365', 'Next year'],
] as const;
/** What is predicted unless something else is chosen. */
const DEFAULT_HORIZON = '90';
/** Each prediction fits a model for the request. */
const MAX_PREDICTED = 12;

/** Whose revenue is set against spend. */
const BASES = {
  paid: 'Paid: what devices that ads brought have earned, against spend.',
  blended: 'Blended: what all devices have earned, organic ones too, against spend.',
} as const;

type LtvRow = Awaited<ReturnType<typeof reportLtv>>['data'][number];

function ltvPage(c: DashboardContext) {
  const asked = readCohorts(c, 'all');
  const figure: LtvFigure = c.req.query('show') === 'roas' ? 'roas' : 'ltv';
  const chosen = HORIZONS.find(([days]) => days === c.req.query('predict'))?.[0];
  const ahead = chosen ?? DEFAULT_HORIZON;
  const revenue = readRevenue(c);
  const carry = { ...asked, show: figure, predict: chosen ?? '', revenue };
  return renderReport(c, { carry }, async (view, here) => {
    const compared = comparedWholeDays(view);
    const ofView = viewAsked(view);
    const net = String(revenue === 'net');
    const read = (days: readonly number[], changes: Record<string, unknown>) =>
      reportLtv(
        c.env,
        view.application,
        readAs(LtvQuery, { ...ofView, net, days: days.join(','), ...changes }),
        view.now,
      );
    const grouped = cohortsAsked(asked);
    const predict = (changes: Record<string, unknown>) =>
      reportPredictedLtv(
        c.env,
        view.application,
        readAs(PredictedLtvQuery, {
          ...ofView,
          ...grouped,
          ...{ net, horizon_days: ahead },
          ...changes,
        }),
        view.now,
      );
    if (wantsCsv(c)) {
      const isPredicted = ahead !== 'none' && c.req.query('table') === 'predicted';
      const [name, more] = isPredicted
        ? (['predicted-ltv', { horizon_days: ahead, net }] as const)
        : (['ltv', { days: DAYS.join(','), net }] as const);
      return answerReportCsv(c, name, { ...ofView, ...grouped, ...more }, view);
    }
    // The table's days are a subset of the curves' days.
    const [report, found] = await Promise.all([
      read(CURVE_DAYS, { ...grouped, limit: MAX_TABLE_ROWS }),
      ahead === 'none' ? null : predict({ limit: MAX_PREDICTED }),
    ]);
    // Without a choice, a prediction is shown only where there is enough data for one.
    const isPredictable = found?.data.some((row) => row.predicted_revenue !== null) ?? false;
    const predicted = chosen || isPredictable ? found : null;
    if (report.data.every(({ size }) => size === 0)) {
      return (
        <NoFigures
          {...here}
          env={c.env}
          title="LTV and ROAS"
          what="devices acquired"
          fill="LTV and ROAS appear once your app’s first device arrives."
        />
      );
    }
    const before = await cohortsBefore(asked, report, compared, (changes) => read(CURVE_DAYS, changes));
    const named = report.data.filter((row) => !row.is_other);
    const largest = [...named].sort((left, right) => right.size - left.size).slice(0, MAX_CURVES);
    const shown =
      asked.group === '' ? named.slice(-MAX_CURVES) : named.filter((row) => largest.includes(row));
    const curve = (of: LtvFigure, row: LtvRow | undefined) => ({
      values: curveOf(row, (cell) => cell[of]),
      lacks: curveOf(row, ({ unconverted = [] }) => lackedText(unconverted)),
    });
    const seriesOf = (of: LtvFigure): Series[] => [
      ...shown.map((row) => ({ name: cohortName(asked, row, view.today), ...curve(of, row) })),
      ...(asked.group === '' && before.length > 0 && compared && shown.length === 1
        ? [{ name: shortDays(compared.before, view.today), ...curve(of, before[0]), before: 0 }]
        : []),
    ];
    const forecasts = predicted ? forecastsOf(predicted, shown, asked, view) : undefined;
    const inCurrency = amountsIn(view.currency);
    const format = figure === 'ltv' ? inCurrency : RATIOS;
    return (
      <>
        <LeftOut report={report} />
        <CohortForm
          {...here}
          asked={asked}
          fields={[
            { label: 'Table', name: 'show', value: figure, options: SHOWN },
            { label: 'Revenue', name: 'revenue', value: revenue, options: REVENUES },
            { label: 'Prediction', name: 'predict', value: predicted ? ahead : 'none', options: HORIZONS },
          ]}
        />
        {named.length > MAX_CURVES && (
          <p class="hint">
            {`The curves show the ${MAX_CURVES} ${asked.group === '' ? 'latest' : 'largest'}, the table shows all.`}
          </p>
        )}
        <div class="pair">
          <Card
            title="Lifetime value of a device"
            info={
              <>
                <ComparedDays view={view} compared={wholePeriods(compared)} />
                <p>{CURVE_HINT}</p>
              </>
            }
          >
            <CohortCurves
              title="Lifetime value of a device"
              format={inCurrency}
              series={seriesOf('ltv')}
              predicted={forecasts}
            />
            {forecasts?.forecasts.some((one) => one !== null) && (
              <p class="hint">
                {`Dashed: LTV with what purchases and ads are predicted to bring in the next ${forecasts.ahead} days, and the range in which that probably lies.`}
              </p>
            )}
          </Card>
          <Card title="ROAS">
            {hasSpend(asked.group === '' ? [] : [asked.group], view) ? (
              <>
                <CohortCurves title="ROAS" format={RATIOS} level={PAID_BACK} series={seriesOf('roas')} />
                <p class="hint">{BASES[report.basis]}</p>
              </>
            ) : (
              <WithoutSpend groups={[asked.group]} view={view} />
            )}
          </Card>
        </div>
        {predicted && (
          <PredictedCard view={view} asked={asked} report={predicted}>
            <CsvLink {...here} carry={{ ...carry, table: 'predicted' }} />
          </PredictedCard>
        )}
        <Card
          title={figure === 'ltv' ? 'LTV by cohort' : 'ROAS by cohort'}
          info={
            <p>
              For each day up to N, the revenue of the devices whose day is over, per device (LTV) or against
              the costs of the days on which they were acquired (ROAS), added up. Paid back: the first day by
              which ROAS is 100%, once at least half of the devices have completed it. {CURVE_HINT} {FEW_HINT}{' '}
              Blank: day N is not over yet for any device of the cohort. Days in {view.application.timezone}.
              {asked.group !== '' &&
                hasSpend([asked.group], view) &&
                ' Spend on names that match nothing is in no cohort.'}
            </p>
          }
          aside={<CsvLink {...here} />}
        >
          <CohortTable
            caption={`${figure === 'ltv' ? 'Lifetime value' : 'ROAS'} by cohort and day since acquisition, days in ${view.application.timezone}`}
            {...here}
            asked={asked}
            rows={report.data}
            totals={{ ...report.totals, cohort_from: view.from, cohort_to: view.to }}
            days={DAYS}
            isHeat={() => true}
            before={before}
            format={format}
            more={[
              { label: 'Paid back', unit: report.basis, numeric: true, cell: (row) => <Payback row={row} /> },
            ]}
            cell={(row, day) => {
              const cell = row.days[day];
              const value = cell?.[figure] ?? null;
              return {
                value,
                eligible: cell?.eligible ?? 0,
                mark: <Mark amounts={cell?.unconverted ?? []} />,
              };
            }}
          />
          <RowCount rows={named} total={report.total_rows} />
        </Card>
      </>
    );
  });
}

export const ltv: PageRecord = {
  path: '/ltv',
  title: 'LTV and ROAS',
  links: [{ group: 'Understand', icon: 'M2 13C6 13 6 4 14 3' }],
  savable: true,
  routes: pageRoutes().get('/', ltvPage),
};
/** When a cohort's revenue had covered its cost, for at least half of its devices. */
const Payback = ({ row }: { row: LtvRow }) => {
  if (row.payback_day !== null) return <>{`Day ${row.payback_day}`}</>;
  const isPaid = Object.values(row.days).some(({ roas }) => roas !== null);
  return isPaid ? <span class="muted">Not yet</span> : <span title="No costs are known">{NOTHING}</span>;
};
