import { daysOf, endOfMonth, firstOfMonth, mondayOf } from '#lib/calendar';
import { addDays, type DayRange, daysBetween } from '#lib/time';
import { earlierDays } from '#reports';

/** The available periods. All but `custom` are relative: their days depend on when the link is opened. */
export const PERIODS = {
  today: 'Today',
  yesterday: 'Yesterday',
  '7d': 'Last 7 days',
  '28d': 'Last 28 days',
  '90d': 'Last 90 days',
  week: 'Week to date',
  last_week: 'Last week',
  month: 'Month to date',
  last_month: 'Last month',
  all: 'All time',
  custom: 'Custom dates',
} as const;
export type Period = keyof typeof PERIODS;
export const DEFAULT_PERIOD = '28d' satisfies Period;

export const COMPARISONS = {
  previous: 'vs. previous period',
  weekdays: 'vs. same weekdays before',
  year: 'vs. last year',
  none: 'No comparison',
} as const;
export type ComparisonChoice = keyof typeof COMPARISONS;
export const DEFAULT_COMPARISON = 'previous' satisfies ComparisonChoice;

/** Whether nothing comes before a period that it could be compared with. */
export const isUncompared = (period: string | null): boolean => period === 'all';

/** Periods of whole days, which end yesterday. */
const isOfWholeDays = (period: Period | null): boolean => /^\d+d$/.test(period ?? '');

/** Whether the days of a period depend on the first day with figures. */
export const needsFirstDay = (period: Period): boolean => period === 'all' || isOfWholeDays(period);

/**
 * The days of a relative period as of `today`, by the one rule for every page, card, table, chart and file, compared or not. Some days back are
 * whole days, which end yesterday; the others include today. `firstDay` is the first with figures: the start of `all`, and on that day itself
 * today is all there is to show.
 */
export function daysOfPeriod(
  period: Exclude<Period, 'custom'>,
  today: string,
  firstDay: string = today,
): DayRange {
  switch (period) {
    case 'today':
      return { from: today, to: today };
    case 'yesterday':
      return { from: addDays(today, -1), to: addDays(today, -1) };
    case 'week':
      return { from: mondayOf(today), to: today };
    case 'last_week':
      return { from: addDays(mondayOf(today), -7), to: addDays(mondayOf(today), -1) };
    case 'month':
      return { from: firstOfMonth(today), to: today };
    case 'last_month': {
      const to = addDays(firstOfMonth(today), -1);
      return { from: firstOfMonth(to), to };
    }
    case 'all':
      return { from: firstDay < today ? firstDay : today, to: today };
    default: {
      const days = Number.parseInt(period, 10);
      const to = firstDay < today ? addDays(today, -1) : today;
      return { from: addDays(to, 1 - days), to };
    }
  }
}

export type Compared = {
  /** The days of the figures that are shown and compared. */
  now: DayRange;
  /** The earlier days. */
  before: DayRange;
};

/** The days of a page, in its application's time zone, and what they are compared with. */
export type ComparedView = DayRange & {
  period: Period;
  today: string;
  comparison: ComparisonChoice;
  /** Whether the application has no figures before today, so that there is nothing to compare today with. False if it was not looked up. */
  isFirstDay: boolean;
};

/**
 * The days that a view compares. Today is not over, so it is left out, and with it its counterpart in the earlier period. A view without any
 * day that is over compares today itself. Calendar months are compared with calendar months, and
 * weeks with weeks. Returns null if there is no comparison.
 */
export function comparedDays({
  period,
  from,
  to,
  today,
  comparison,
  isFirstDay,
}: ComparedView): Compared | null {
  const isAhead = from > today;
  const hasNoDayBefore = isFirstDay && to >= today;
  if (comparison === 'none' || isUncompared(period) || isAhead || hasNoDayBefore) return null;
  const last = to < today ? to : from === today ? today : addDays(today, -1);
  const now = { from, to: last };
  if (comparison === 'year') return { now, before: earlierDays(now, 'year') };
  // A week has the days of the week before.
  const isWeek = period === 'week' || period === 'last_week';
  if (comparison === 'weekdays' || isWeek)
    return { now, before: alignedBefore({ from, to }, last, 'weekdays') };
  if (period === 'month' || period === 'last_month') {
    const start = firstOfMonth(addDays(from, -1));
    const end = endOfMonth(start);
    const same = addDays(start, daysBetween(from, last));
    return { now, before: { from: start, to: period === 'last_month' || same > end ? end : same } };
  }
  return { now, before: alignedBefore({ from, to }, last, 'previous') };
}

/** The days before a whole period, up to the counterpart of its `last` day that is compared. */
function alignedBefore(whole: DayRange, last: string, comparison: 'previous' | 'weekdays'): DayRange {
  const { from } = earlierDays(whole, comparison);
  return { from, to: addDays(from, daysBetween(whole.from, last)) };
}

/** The same for figures that are known only for whole days: null if today is all there is to compare. */
export function comparedWholeDays(view: ComparedView): Compared | null {
  const days = comparedDays(view);
  return days && days.now.to < view.today ? days : null;
}

/** The days of a period that have begun. */
export const daysBegun = ({ from, to, today }: DayRange & { today: string }): string[] =>
  daysOf(from, to < today ? to : today);
