import { isolate } from '#lib/input/isolate';
import type { Series } from './chart.tsx';

/** The predicted revenue of a device in the days ahead, and its likely range. */
export type Forecast = { low: number; value: number; high: number };

type Point = { day: number; value: number };

/** A curve's value on a day, by linear interpolation; null before the first point and after the last. */
function valueOn(points: readonly Point[], day: number): number | null {
  const next = points.findIndex((point) => point.day >= day);
  const [before, after] = [points[next - 1], points[next]];
  if (!after) return null;
  if (after.day === day) return after.value;
  if (!before) return null;
  return before.value + ((after.value - before.value) * (day - before.day)) / (after.day - before.day);
}

/**
 * Adds predictions to curves over `curveDays`. The prediction of a curve (`forecasts`, by index) is a series of its own with a band. It
 * starts at the curve's last known day and ends `ahead` days later. The returned `days` are the days up to the last known one of any curve,
 * and the days on which predictions end (`ends`).
 */
export function withForecasts(
  series: readonly Series[],
  curveDays: readonly number[],
  { ahead, forecasts }: { ahead: number; forecasts: readonly (Forecast | null)[] },
  format: (value: number | null) => string,
): { days: number[]; ends: number[]; series: Series[] } {
  const curves = series.map(({ values }) =>
    values.flatMap((value, index): Point[] => {
      const day = curveDays[index];
      return value === null || day === undefined ? [] : [{ day, value }];
    }),
  );
  const predicted = curves.flatMap((points, of) => {
    const [start, forecast] = [points.at(-1), forecasts[of]];
    return start && forecast ? [{ of, start, forecast, end: start.day + ahead }] : [];
  });
  const ends = [...new Set(predicted.map(({ end }) => end))];
  const last = Math.max(0, ...curves.map((points) => points.at(-1)?.day ?? 0));
  const days = [...new Set([...curveDays.filter((day) => day <= last), ...ends])].sort((a, b) => a - b);
  const exact = (points: readonly Point[]) =>
    days.map((day) => points.find((point) => point.day === day)?.value ?? null);
  const drawn = (points: readonly Point[]) => days.map((day) => valueOn(points, day));
  return {
    days,
    ends,
    series: [
      ...series.map((one, index) => ({
        ...one,
        values: exact(curves[index] ?? []),
        lacks: days.map((day) => one.lacks?.[curveDays.indexOf(day)] ?? null),
        drawn: drawn(curves[index] ?? []),
      })),
      ...predicted.map(({ of, start, forecast, end }): Series => {
        const to = (more: number) => [start, { day: end, value: start.value + more }];
        const text = (more: number) => format(start.value + more);
        const range = `${text(forecast.value)}, likely between ${text(forecast.low)} and ${text(forecast.high)}`;
        return {
          name: `${isolate(series[of]?.name ?? '')}, predicted`,
          before: of,
          values: days.map((day) => (day === end ? start.value + forecast.value : null)),
          drawn: drawn(to(forecast.value)),
          texts: days.map((day) => (day === end ? range : format(null))),
          band: { low: drawn(to(forecast.low)), high: drawn(to(forecast.high)) },
        };
      }),
    ],
  };
}
