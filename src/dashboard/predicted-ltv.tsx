import type { PropsWithChildren } from 'hono/jsx';
import { REASONS, type reportPredictedLtv } from '#reports';
import { Range } from './chart.tsx';
import { type CohortRow, type CohortsAsked, cohortName } from './cohort-parts.tsx';
import type { Forecast } from './forecast.ts';
import { count, money, NOTHING } from './format.ts';
import { Card, Table } from './parts.tsx';
import type { View } from './view.ts';

type Predicted = Awaited<ReturnType<typeof reportPredictedLtv>>['data'][number];

/** The predicted future purchases per device of each shown cohort; null if there is no prediction. */
export function forecastsOf(
  { horizon_days: ahead, data }: Awaited<ReturnType<typeof reportPredictedLtv>>,
  shown: readonly CohortRow[],
  asked: CohortsAsked,
  { today }: View,
) {
  const nameOf = (row: unknown) => cohortName(asked, row as CohortRow, today);
  const byName = new Map(data.map((row) => [nameOf(row), row]));
  const forecasts = shown.map((row): Forecast | null => {
    const found = byName.get(nameOf(row));
    if (!found || found.size === 0) return null;
    const {
      predicted_revenue: value,
      predicted_revenue_low: low,
      predicted_revenue_high: high,
      size,
    } = found;
    return value === null || low === null || high === null
      ? null
      : { value: value / size, low: low / size, high: high / size };
  });
  return { ahead, forecasts };
}

/** What the devices of each cohort will have purchased, with its likely range, or why there is no prediction. */
export const PredictedCard = ({
  view,
  asked,
  report,
  children,
}: PropsWithChildren<{
  view: View;
  asked: CohortsAsked;
  report: Awaited<ReturnType<typeof reportPredictedLtv>>;
}>) => {
  const inCurrency = (value: number | null) => money(value, view.currency);
  const top = Math.max(0, ...report.data.map((row) => row.predicted_ltv_high ?? 0));
  return (
    <Card title={`Predicted LTV after another ${report.horizon_days} days`} aside={children}>
      <Table
        caption={`Predicted lifetime value by cohort, ${report.horizon_days} days ahead`}
        rows={report.data}
        empty="No device was acquired in this period."
        columns={[
          { label: 'Devices of', cell: (row) => cohortName(asked, row as unknown as CohortRow, view.today) },
          { label: 'Devices', numeric: true, cell: (row) => count(row.size) },
          { label: 'Payers', numeric: true, cell: (row) => count(row.payers) },
          {
            label: 'Purchases per device so far',
            numeric: true,
            cell: (row) => inCurrency(row.revenue === null || row.size === 0 ? null : row.revenue / row.size),
          },
          { label: 'Predicted LTV', numeric: true, cell: (row) => inCurrency(row.predicted_ltv) },
          {
            label: 'Likely between',
            numeric: true,
            cell: (row) =>
              row.predicted_ltv_low === null
                ? NOTHING
                : `${inCurrency(row.predicted_ltv_low)} and ${inCurrency(row.predicted_ltv_high)}`,
          },
          ...(top > 0
            ? [
                {
                  label: 'Band',
                  cell: ({
                    predicted_ltv: value,
                    predicted_ltv_low: low,
                    predicted_ltv_high: high,
                  }: Predicted) =>
                    value !== null && low !== null && high !== null ? (
                      <Range {...{ low, value, high, top }} />
                    ) : (
                      ''
                    ),
                },
              ]
            : []),
          {
            label: 'Note',
            wrap: true,
            cell: (row) => (row.reason === null ? '' : REASONS[row.reason]),
          },
        ]}
      />
      <p class="hint">
        From purchases only; ad revenue is not predicted. The true value is within the range 19 times out of
        20, as long as the devices keep purchasing as they have so far.
      </p>
    </Card>
  );
};
