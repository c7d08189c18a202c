import type { PropsWithChildren } from 'hono/jsx';
import { amountsIn, count, NOTHING } from '#lib/format';
import { REASONS, type reportPredictedLtv } from '#reports';
import type { Forecast } from '../../charts/forecast.ts';
import { Range } from '../../charts/shapes.tsx';
import { Card } from '../../shell/parts.tsx';
import type { View } from '../../shell/view.ts';
import { type CohortGrouping, type CohortRow, cohortName } from '../../tables/cohort-parts.tsx';
import { Mark } from '../../tables/lacking.tsx';
import { Table } from '../../tables/table.tsx';

type Predicted = Awaited<ReturnType<typeof reportPredictedLtv>>['data'][number];

/** The predicted future revenue per device of each shown cohort; null if there is no prediction. */
export function forecastsOf(
  { horizon_days: ahead, data }: Awaited<ReturnType<typeof reportPredictedLtv>>,
  shown: readonly CohortRow[],
  asked: CohortGrouping,
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

/** What the devices of each cohort will have brought, from purchases and from ads, with its likely range, or why there is no prediction. */
export const PredictedCard = ({
  view,
  asked,
  report,
  children,
}: PropsWithChildren<{
  view: View;
  asked: CohortGrouping;
  report: Awaited<ReturnType<typeof reportPredictedLtv>>;
}>) => {
  const amounts = amountsIn(view.currency);
  /** The cell of a column of amounts, all with the same decimals. */
  const amountOf = (readAmount: (row: Predicted) => number | null) => {
    const places = amounts.places(report.data.flatMap((row) => readAmount(row) ?? []));
    return (row: Predicted) => {
      const value = readAmount(row);
      return (
        <>
          {amounts.text(value, places)}
          {value !== null && <Mark amounts={row.unconverted ?? []} />}
        </>
      );
    };
  };
  const bounds = report.data.flatMap((row) =>
    [row.predicted_ltv_low ?? [], row.predicted_ltv_high ?? []].flat(),
  );
  const bound = (value: number | null) => amounts.text(value, amounts.places(bounds));
  const notes = [...new Set(report.data.map(noteOf))];
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
            label: 'Revenue per device so far',
            numeric: true,
            cell: amountOf((row) => perDevice(row, row.revenue)),
          },
          {
            label: 'From purchases',
            numeric: true,
            hint: 'Per device, predicted',
            cell: amountOf((row) => perDevice(row, row.predicted_purchase_revenue)),
          },
          {
            label: 'From ads',
            numeric: true,
            hint: 'Per device, predicted',
            cell: amountOf((row) => perDevice(row, row.predicted_ad_revenue)),
          },
          { label: 'Predicted LTV', numeric: true, cell: amountOf((row) => row.predicted_ltv) },
          {
            label: 'Likely between',
            numeric: true,
            cell: (row) =>
              row.predicted_ltv_low === null
                ? NOTHING
                : `${bound(row.predicted_ltv_low)} and ${bound(row.predicted_ltv_high)}`,
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
          ...(notes.length > 1 ? [{ label: 'Note', wrap: true, classOf: () => 'hint', cell: noteOf }] : []),
        ]}
      />
      {notes.length === 1 && notes[0] !== '' && <p class="hint">{notes[0]}</p>}
      <p class="hint">
        Purchases and ads are predicted apart and added up. The true value should be within the range 19 times
        out of 20, as long as the devices behave as they have so far.
      </p>
    </Card>
  );
};

const perDevice = ({ size }: Predicted, amount: number | null) =>
  amount === null || size === 0 ? null : amount / size;

/** Why there is no prediction of purchases or of ads. */
function noteOf({ reason, ads_reason: adsReason }: Predicted): string {
  if (reason === adsReason) return reason === null ? '' : REASONS[reason];
  return [
    ...(reason === null ? [] : [`Purchases: ${REASONS[reason]}`]),
    ...(adsReason === null ? [] : [`Ads: ${REASONS[adsReason]}`]),
  ].join(' ');
}
