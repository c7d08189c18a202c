import type { FigureFormat } from '#lib/format';
import { isMostOf } from '../tables/cohort-parts.tsx';
import { LineChart, type Series } from './chart.tsx';
import { type Forecast, withForecasts } from './forecast.ts';
import type { Tick } from './ticks.ts';

/** Every day of a month, then weeks, because curves bend most at the beginning. */
export const CURVE_DAYS = [...Array.from({ length: 31 }, (_, day) => day), 37, 44, 51, 60, 75, 90];
const TICK_DAYS = [0, 1, 2, 3, 4, 5, 7, 14, 21, 30, 60, 90];
/** The smallest distances, as shares of the axis, at which labels are readable on a phone. The first label begins at the edge, not at its day. */
const MIN_TICK_GAP = 0.18;
const MIN_FIRST_GAP = 0.22;
export const MAX_CURVES = 6;

/**
 * A cohort's curve. It ends where fewer than half of the devices have completed the day: beyond that, it would jump, because it covers different
 * devices.
 */
export function curveOf<Day extends { eligible: number }, Value>(
  row: { size: number; days: Readonly<Record<string, Day>> } | undefined,
  figureOf: (day: Day) => Value | null,
): (Value | null)[] {
  return CURVE_DAYS.map((day) => {
    const cell = row?.days[day];
    return cell && row && isMostOf(row, cell.eligible) ? figureOf(cell) : null;
  });
}

export const CURVE_HINT = 'A curve ends where fewer than half of its devices have completed that day.';

/** The line in a chart of ROAS. */
export const PAID_BACK = { value: 1, text: '100%, where revenue has paid back the spend' };

/** Curves by day since acquisition, up to the last day that any of them has. */
export const CohortCurves = ({ title, format, level, series, predicted }: CurvesProps) => {
  const { days, ticks, shown } = predicted
    ? predictedAxis(series, predicted, format)
    : { ...curveAxis(series), shown: null };
  return (
    <LineChart
      title={`${title} by day since acquisition`}
      labels={days.map((day) => `Day ${day}`)}
      xs={days}
      ticks={ticks}
      format={format}
      {...(level ? { level } : {})}
      series={shown ?? series.map((one) => ({ ...one, values: one.values.slice(0, days.length) }))}
    />
  );
};

type CurvesProps = {
  title: string;
  format: FigureFormat;
  /** A horizontal line, such as where spend is paid back. */
  level?: { value: number; text: string } | undefined;
  series: Series[];
  /** The prediction for each series, this many days ahead. */
  predicted?: { ahead: number; forecasts: readonly (Forecast | null)[] } | undefined;
};

/** The axis and the curves, with their predictions. */
function predictedAxis(
  series: readonly Series[],
  predicted: NonNullable<CurvesProps['predicted']>,
  format: CurvesProps['format'],
) {
  const { days, ends, series: shown } = withForecasts(series, CURVE_DAYS, predicted, format.text);
  return { days, ticks: ticksOn(days, new Set([...TICK_DAYS, ...ends])), shown };
}

/** The days of a curve's axis, up to the last that any series has, and its labels. */
export function curveAxis(series: readonly { values: readonly (number | null)[] }[]): {
  days: readonly number[];
  ticks: Tick[];
} {
  const last = Math.max(0, ...series.map(({ values }) => values.findLastIndex((value) => value !== null)));
  const days = CURVE_DAYS.slice(0, last + 1);
  return { days, ticks: ticksOn(days, new Set(TICK_DAYS)) };
}

/** The labels below the days in `named`, if there is room for them. */
function ticksOn(days: readonly number[], named: ReadonlySet<number>): Tick[] {
  const ticks: Tick[] = [];
  for (const [index, day] of days.entries()) {
    const before = days[ticks.at(-1)?.index ?? -1] ?? Number.NEGATIVE_INFINITY;
    const isApart = day - before >= (days.at(-1) ?? 0) * (ticks.length === 1 ? MIN_FIRST_GAP : MIN_TICK_GAP);
    if (named.has(day) && isApart) ticks.push({ index, text: `Day ${day}` });
  }
  return ticks;
}
