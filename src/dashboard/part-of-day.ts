import { HOURLY_METRICS } from '#catalogue';
import { addDays, clockHour } from '#lib/time';
import { firstDayOfHours, isDimension, isKnownByHour } from '#reports';
import { METRICS, type MetricName } from './metrics.ts';
import type { Compared } from './period.ts';
import type { View } from './view.ts';

/** Today up to the last full hour, and the earlier day at the same position up to the same hour of the clock. */
export type PartOfDay = { today: string; before: string; untilHour: number };

export const isHourly = (name: MetricName): boolean => HOURLY_METRICS.includes(name);

/** Metrics whose values for the parts of a period add up to the whole. */
export const isAddedUp = (name: MetricName): boolean => isHourly(name) && METRICS[name].kind === 'sum';

/** Whether figures by hour exist for these groupings and the view's filters. */
export const knowsHours = (groups: readonly string[], { filters }: Pick<View, 'filters'>): boolean =>
  groups.every(isDimension) && isKnownByHour(groups, filters);

/** Whether a view's days are few and recent enough to draw its hours. */
export function showsHours(view: Pick<View, 'from' | 'to' | 'today' | 'filters'>): boolean {
  const isShort = view.to <= addDays(view.from, 1);
  return isShort && view.from >= firstDayOfHours(view.today) && knowsHours([], view);
}

/** Whether the hours of the whole earlier period are still stored. */
export const keepsHoursBefore = ({ today }: Pick<View, 'today'>, { before }: Compared): boolean =>
  before.from >= firstDayOfHours(today);

/** The earlier day that today is compared with. */
const counterpartOf = ({ complete, before }: Compared) => (complete ? addDays(before.to, 1) : before.from);

/** Whether the hours of the day that today is compared with are still stored. */
export const keepsPartBefore = ({ today }: Pick<View, 'today'>, days: Compared): boolean =>
  counterpartOf(days) >= firstDayOfHours(today);

/**
 * The part of today that is compared by hour. Null if today is not in the period, has had no full hour yet, or has no earlier counterpart whose
 * hours are still stored.
 */
export function partOfDay(
  view: Pick<View, 'application' | 'from' | 'to' | 'today' | 'now' | 'filters'>,
  days: Compared,
): PartOfDay | null {
  const { from, to, today } = view;
  const untilHour = clockHour(view.application.timezone, view.now);
  const counterpart = counterpartOf(days);
  const hasOne = from <= today && to >= today && counterpart < from && keepsPartBefore(view, days);
  if (untilHour === 0 || !hasOne) return null;
  return knowsHours([], view) ? { today, before: counterpart, untilHour } : null;
}

/** An hour of the clock for people: `09:00`. */
export const clock = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;
