import type { Child } from 'hono/jsx';
import { amountsIn, count, type FigureFormat, NOTHING, RATIOS, signOf } from '#lib/format';
import type { reportCompare } from '#reports';
import { Interval } from '../../charts/shapes.tsx';
import { dateText } from '../../shell/dates.ts';
import { Card } from '../../shell/parts.tsx';
import type { View } from '../../shell/view.ts';
import { Mark } from '../../tables/lacking.tsx';
import { Table } from '../../tables/table.tsx';

const METRIC_LABELS = {
  retention: 'Retention',
  conversion: 'Paying devices',
  arpu: 'Revenue per device',
} as const;

type CompareReport = Awaited<ReturnType<typeof reportCompare>>;
type ComparedFigure = CompareReport['data'][number];

/** How certain a difference is, in words. `sizes` are the devices of each side, whether the day is over for them or not. */
export function certainty(
  {
    p_value: p,
    low,
    high,
    ...row
  }: Pick<ComparedFigure, 'p_value' | 'low' | 'high' | 'day' | 'a_devices' | 'b_devices'>,
  sizes: { a: number; b: number },
): string {
  const isOver = (devices: number, size: number) => devices > 0 || size === 0;
  if (!isOver(row.a_devices, sizes.a) || !isOver(row.b_devices, sizes.b)) {
    return `Day ${row.day} is not over yet`;
  }
  if (p === null || low === null || high === null) return 'Too few devices to tell';
  if (p < 0.01) return 'Very likely a real difference';
  if (p < 0.05) return 'Likely a real difference';
  return 'May be chance';
}

/** A difference that is unlikely to be chance. */
const isReal = ({ p_value }: ComparedFigure) => p_value !== null && p_value < 0.05;

/** What the comparison says, in one sentence. */
function verdictOf({ data, a, b }: CompareReport, names: { a: string; b: string }): string {
  const real = data.filter(isReal);
  if (a.size === 0 || b.size === 0) return 'One side has no devices in this period.';
  if (real.length === 0) return 'No clear difference yet: each may be chance.';
  const wins = (isMore: boolean) => real.filter(({ difference }) => (difference ?? 0) > 0 === isMore);
  const listed = (rows: readonly ComparedFigure[]) =>
    rows.map(({ metric, day }) => `${METRIC_LABELS[metric].toLowerCase()} on day ${day}`).join(', ');
  const sentences = [
    { name: names.b, rows: wins(true) },
    { name: names.a, rows: wins(false) },
  ].filter(({ rows }) => rows.length > 0);
  return sentences.map(({ name, rows }) => `${name} is ahead in ${listed(rows)}.`).join(' ');
}

const devices = ({ size }: { size: number }) => `${count(size)} ${size === 1 ? 'device' : 'devices'}`;

type Writer = (row: ComparedFigure, value: number | null) => string;

const isAmount = ({ metric }: ComparedFigure) => metric === 'arpu';

/** Writes the values of a column, all shares with the same decimals and all amounts. `valuesOf` are a row's values in it. */
function writerOf(
  { data }: CompareReport,
  { currency }: View,
  valuesOf: (row: ComparedFigure) => readonly (number | null)[],
): Writer {
  const writeLike = (format: FigureFormat, rows: readonly ComparedFigure[]) => {
    const places = format.places(rows.flatMap(valuesOf).filter((value) => value !== null));
    return (value: number | null) => format.text(value, places);
  };
  const amount = writeLike(amountsIn(currency), data.filter(isAmount));
  const share = writeLike(
    RATIOS,
    data.filter((row) => !isAmount(row)),
  );
  return (row, value) => (isAmount(row) ? amount(value) : share(value));
}

/** Writes differences with their sign. Those of shares are in percentage points, so that they are not mistaken for relative changes. */
const differenceWriter =
  (write: Writer): Writer =>
  (row, value) => {
    if (value === null) return NOTHING;
    const size = Math.abs(value);
    return signOf(value) + (isAmount(row) ? write(row, size) : `${(size * 100).toFixed(2)} pts`);
  };

/** Two sides next to each other: what the comparison says, and each metric with its difference. `names` are isolated, for sentences. */
export const Sides = ({
  report,
  names,
  view,
  children,
}: {
  report: CompareReport;
  names: { a: string; b: string };
  view: View;
  children?: Child;
}) => {
  const figures = writerOf(report, view, ({ a, b }) => [a, b]);
  const differences = differenceWriter(writerOf(report, view, ({ difference }) => [difference]));
  const bounds = differenceWriter(writerOf(report, view, ({ low, high }) => [low, high]));
  /** Bars of the same metric share an axis. */
  const extentOf = ({ metric }: ComparedFigure) =>
    Math.max(
      0,
      ...report.data
        .filter((row) => row.metric === metric)
        .flatMap(({ low, high }) => [Math.abs(low ?? 0), Math.abs(high ?? 0)]),
    );
  return (
    <Card title={`${names.a} against ${names.b}`} aside={children}>
      <p class="verdict">{verdictOf(report, names)}</p>
      <p class="muted">{`A has ${devices(report.a)}, B has ${devices(report.b)}.`}</p>
      <Table
        caption={`${names.a} against ${names.b}`}
        rows={report.data}
        columns={[
          {
            label: 'Metric',
            cell: (row) => (
              <>
                {`${METRIC_LABELS[row.metric]}, day ${row.day}`}
                <Mark amounts={'unconverted' in row ? (row.unconverted ?? []) : []} />
              </>
            ),
          },
          {
            label: 'B against A',
            hint: 'The difference and its 95% interval; the line is no difference',
            cell: (row) =>
              row.low === null || row.high === null || row.difference === null ? (
                NOTHING
              ) : (
                <Interval
                  low={row.low}
                  value={row.difference}
                  high={row.high}
                  extent={extentOf(row)}
                  isReal={isReal(row)}
                />
              ),
          },
          { label: 'A', numeric: true, cell: (row) => figures(row, row.a) },
          { label: 'B', numeric: true, cell: (row) => figures(row, row.b) },
          {
            label: 'Difference',
            numeric: true,
            hint: 'B minus A',
            cell: (row) => differences(row, row.difference),
          },
          {
            label: '95% interval',
            numeric: true,
            wideOnly: true,
            hint: 'Contains the true difference 19 times out of 20',
            cell: (row) =>
              row.low === null ? NOTHING : `${bounds(row, row.low)} to ${bounds(row, row.high)}`,
          },
          {
            label: 'Certainty',
            cell: (row) => (
              <span title={row.p_value === null ? '' : `p = ${row.p_value.toPrecision(2)}, ${row.test}`}>
                {certainty(row, { a: report.a.size, b: report.b.size })}
              </span>
            ),
          },
        ]}
      />
      <p class="hint">
        Only devices whose day is over count. Revenue per device is converted at the rates of{' '}
        {dateText(report.rate_day, view.today)}. The more rows you look at, the more likely one of them
        differs by chance.
      </p>
    </Card>
  );
};
