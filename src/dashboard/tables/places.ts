import { firstOfMonth, mondayOf, monthOf, weekOf } from '#lib/calendar';
import { addDays, type DayRange, daysBetween, hourIn, hoursOf } from '#lib/time';
import { dayText, placeText } from '../shell/dates.ts';
import { daysBegun } from '../shell/period.ts';
import type { View } from '../shell/view.ts';
import { type MetricName, nothingOf, numberOf } from './metrics.ts';
import { clock, showsHours } from './part-of-day.ts';

/** The unit of a chart's time axis. */
type DayUnit = 'day' | 'week' | 'month';
export type AxisUnit = 'hour' | DayUnit;

const MAX_DAYS = 100;
const MAX_WEEK_DAYS = 700;

/** Hours for a day or two if figures by hour exist, otherwise like `unitOf`. */
export const finestUnitOf = (view: View): AxisUnit => (showsHours(view) ? 'hour' : unitOf(view));

/** The unit, among those in which every metric exists, that divides a period into about 20 to 100 places. */
export function unitOf({ from, to }: DayRange): DayUnit {
  const days = daysBetween(from, to) + 1;
  if (days <= MAX_DAYS) return 'day';
  return days <= MAX_WEEK_DAYS ? 'week' : 'month';
}

/** The key of a day's unit in reports: `2026-11-20`, `2026-W47`, `2026-11`. */
const KEY_OF: Record<DayUnit, (day: string) => string> = { day: String, week: weekOf, month: monthOf };

const START_OF: Record<DayUnit, (day: string) => string> = {
  day: String,
  week: mondayOf,
  month: firstOfMonth,
};
const NEXT_OF: Record<DayUnit, (start: string) => string> = {
  day: (start) => addDays(start, 1),
  week: (start) => addDays(start, 7),
  month: (start) => firstOfMonth(addDays(start, 31)),
};

export type AxisPlace = {
  /** The key in reports. */
  key: string;
  /** Its first day; for an hour, its key. */
  start: string;
  /** The text in the readout. */
  label: string;
  /** Whether some of its days are outside the period or not over yet. */
  partial: boolean;
  /** An hour of today that has not begun. It is drawn without a value, so that the day has its full width. */
  isAhead?: boolean;
};

type AxisView = DayRange &
  Pick<View, 'today' | 'now'> & { application: Pick<View['application'], 'timezone'> };

/** Every place of a period in a unit: see `hoursIn` and `placesOf`. */
export const placesIn = (view: AxisView, unit: AxisUnit): AxisPlace[] =>
  unit === 'hour' ? hoursIn(view) : placesOf(view, unit);

/** Every hour of a period's days that have begun, including the remaining hours of today. */
export function hoursIn(view: AxisView): AxisPlace[] {
  const { timezone } = view.application;
  const current = hourIn(timezone, view.now);
  return daysBegun(view).flatMap((day) => {
    const hours = hoursOf(timezone, day);
    const at = day === view.today ? hours.indexOf(current) : hours.length;
    return hours.map((key, index): AxisPlace => {
      const hour = Number(key.slice(11, 13));
      // An hour that occurs twice is identified by its offset.
      const isTwice = hours.filter((other) => other.slice(11, 13) === key.slice(11, 13)).length > 1;
      const span = `${clock(hour)}–${clock((hour + 1) % 24)}${isTwice ? ` (UTC${key.slice(-6)})` : ''}`;
      const label = `${dayText(day, view.today)}, ${span}`;
      return { key, start: key, label, partial: index === at, isAhead: index > at };
    });
  });
}

/**
 * Aligns earlier values with the places of a period, by day and hour of the clock, because days may have different numbers of hours. Other units
 * are aligned by position.
 */
export function alignedTo<Value>(
  places: readonly AxisPlace[],
  earlier: readonly AxisPlace[],
  figures: readonly (Value | null)[],
  unit: AxisUnit,
): (Value | null)[] {
  if (unit !== 'hour') return places.map((_, index) => figures[index] ?? null);
  const hourOf = (all: readonly AxisPlace[]) => {
    const days = [...new Set(all.map(({ key }) => key.slice(0, 10)))];
    return ({ key }: AxisPlace) => `${days.indexOf(key.slice(0, 10))} ${key.slice(11, 13)}`;
  };
  const [ofNow, ofEarlier] = [hourOf(places), hourOf(earlier)];
  const byHour = new Map<string, Value | null>();
  for (const [index, place] of earlier.entries()) {
    const hour = ofEarlier(place);
    if (!byHour.has(hour)) byHour.set(hour, figures[index] ?? null);
  }
  return places.map((place) => byHour.get(ofNow(place)) ?? null);
}

/** Every place of a period that has begun, with or without data. */
export function placesOf(view: DayRange & { today: string }, unit: DayUnit): AxisPlace[] {
  const begun = daysBegun(view);
  const last = begun.at(-1);
  if (last === undefined) return [];
  const places: AxisPlace[] = [];
  for (let start = START_OF[unit](view.from); start <= last; start = NEXT_OF[unit](start)) {
    const end = addDays(NEXT_OF[unit](start), -1);
    const partial = start < view.from || end > view.to || end >= view.today;
    const key = KEY_OF[unit](start);
    places.push({ key, start, label: placeText(unit, key, view.today), partial });
  }
  return places;
}

/** A metric of a report at every place. Places without a row have 0 of a sum, and null of a ratio. */
export function valuesAt(
  places: readonly AxisPlace[],
  unit: AxisUnit,
  rows: readonly Record<string, unknown>[],
  metric: MetricName,
): (number | null)[] {
  const byKey = new Map(rows.map((row) => [String(row[unit]), row]));
  return places.map(({ key, isAhead }) => {
    if (isAhead) return null;
    const row = byKey.get(key);
    return row ? numberOf(row[metric]) : nothingOf(metric);
  });
}
