import { HOURLY_METRICS } from '#catalogue';
import { addDays, clockHour } from '#lib/time';
import { firstDayOfHours, isDimension, isKnownByHour } from '#reports';
import { type Compared, comparedDays } from '../shell/period.ts';
import type { View } from '../shell/view.ts';
import type { MetricName } from './metrics.ts';

export const isHourly = (name: MetricName): boolean => HOURLY_METRICS.includes(name);

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

/**
 * What a page compares: its figures, the days it names, the earlier figures and the changes all cover this. With `untilHour`, both days end at
 * that hour of the clock.
 */
export type Periods = Compared & { untilHour: number | null };

/**
 * The periods that a page compares, by the one rule for all pages: days that are over, or the hours of today that are over if there are no such
 * days. Null if nothing is compared. `groups` are the groupings of the page's figures and `metrics` those that must exist by hour for hours to
 * be compared.
 */
export function comparedPeriods(
  view: View,
  groups: readonly string[],
  metrics: readonly MetricName[],
): Periods | null {
  const days = comparedDays(view);
  if (!days || days.now.to < view.today) return days && { ...days, untilHour: null };
  const untilHour = clockHour(view.application.timezone, view.now);
  const isKnown = metrics.every(isHourly) && knowsHours(groups, view) && keepsHoursBefore(view, days);
  return isKnown && untilHour > 0 ? { ...days, untilHour } : null;
}

/** Whole days as what a page compares, for its label. */
export const wholePeriods = (days: Compared | null): { periods: Periods | null } => ({
  periods: days && { ...days, untilHour: null },
});

/** A period as parameters of a performance report. */
export const askedOf = ({ now, untilHour }: Periods) => ({
  ...now,
  ...(untilHour === null ? {} : { until_hour: untilHour }),
});

/** An hour of the clock for people: `09:00`. */
export const clock = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;
