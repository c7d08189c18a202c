import { monthText, shortDay, shortWeekday } from '../shell/dates.ts';
import type { AxisPlace, AxisUnit } from '../tables/places.ts';

/** The number of labels that fit below a chart on a phone, as days or as months with their year. */
const MAX_LABELS = 5;
const MAX_MONTH_LABELS = 4;

/** A label below the axis, at the index of a place. */
export type Tick = { index: number; text: string };

/** At most `most` evenly spaced places, including the first. */
export function evenly(length: number, most = MAX_LABELS): number[] {
  const step = [1, 2, 5, 7, 10, 14, 15, 20, 28, 30, 50, 60, 90].find((size) => (length - 1) / size < most);
  const apart = step ?? Math.ceil(length / most);
  return Array.from({ length: Math.ceil(length / apart) }, (_, index) => index * apart);
}

/** The labels below a chart over time. */
export const ticksOf = (places: readonly AxisPlace[], unit: AxisUnit): Tick[] =>
  placesToName(places, unit).map((index) => {
    const start = places[index]?.start ?? '';
    return { index, text: tickText(start, unit) };
  });

function tickText(start: string, unit: AxisUnit): string {
  if (unit === 'month') return monthText(start);
  const [day = '', time = ''] = start.split('T');
  if (unit === 'hour' && !time.startsWith('00')) return time.slice(0, 5);
  return unit === 'day' ? shortWeekday(day) : shortDay(day);
}

/** Hours are labelled at fixed times of day, even if clocks change on that day. */
function placesToName(places: readonly AxisPlace[], unit: AxisUnit): number[] {
  if (unit !== 'hour') return evenly(places.length, unit === 'month' ? MAX_MONTH_LABELS : MAX_LABELS);
  const apart = places.length > 30 ? 12 : 6;
  const named = places.flatMap(({ key }, index) => (Number(key.slice(11, 13)) % apart === 0 ? [index] : []));
  const hourAt = (index: number | undefined) => places[index ?? -1]?.key.slice(0, 13);
  return named.filter((index, number) => hourAt(index) !== hourAt(named[number - 1]));
}
