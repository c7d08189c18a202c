import { HOURLY_METRICS } from '#catalogue';
import { addDays, clockHour } from '#lib/time';
import { firstDayOfHours, isDimension, isKnownByHour } from '#reports';
import type { MetricName } from './metrics.ts';
import type { Compared } from './period.ts';
import type { View } from './view.ts';

/** Today until the last full hour, and the day in its place before until the same hour of the clock. */
export type PartOfDay = { today: string; before: string; untilHour: number };

export const isHourly = (name: MetricName): boolean => HOURLY_METRICS.includes(name);

/** Metrics of which the parts of a period add up to it. */
const RATIOS: ReadonlySet<MetricName> = new Set(['ecpm', 'fill_rate']);
export const isAddedUp = (name: MetricName): boolean => isHourly(name) && !RATIOS.has(name);

/** Whether figures by hour are known with these groupings and the filters of a view. */
export const knowsHours = (groups: readonly string[], { filters }: Pick<View, 'filters'>): boolean =>
  groups.every(isDimension) && isKnownByHour(groups, filters);

/** Whether a view is of so few days, and recent ones, that its hours are drawn. */
export function showsHours(view: Pick<View, 'from' | 'to' | 'today' | 'filters'>): boolean {
  const isShort = view.to <= addDays(view.from, 1);
  return isShort && view.from >= firstDayOfHours(view.today) && knowsHours([], view);
}

/**
 * The part of today that is compared, as far as figures by hour tell; null where today is not in the period, has not had a full hour
 * yet, or has no day in its place that hours are still kept of.
 */
export function partOfDay(
  view: Pick<View, 'application' | 'from' | 'to' | 'today' | 'now' | 'filters'>,
  { complete, before }: Compared,
): PartOfDay | null {
  const { from, to, today } = view;
  const untilHour = clockHour(view.application.timezone, view.now);
  const counterpart = complete ? addDays(before.to, 1) : before.from;
  const isKept = counterpart >= firstDayOfHours(today);
  if (untilHour === 0 || from > today || to < today || counterpart >= from || !isKept) return null;
  return knowsHours([], view) ? { today, before: counterpart, untilHour } : null;
}

/** An hour of the clock as people write it: `09:00`. */
export const clock = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;
