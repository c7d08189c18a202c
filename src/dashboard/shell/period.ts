import { daysOf, monthOf } from '#lib/calendar';
import { addDays, daysBetween } from '#lib/time';

/** Inclusive days. */
export type Days = { from: string; to: string };

/** The available periods. All but `custom` are relative: their days depend on when the link is opened. */
export const PERIODS = {
  today: 'Today',
  yesterday: 'Yesterday',
  '7d': 'Last 7 days',
  '28d': 'Last 28 days',
  '90d': 'Last 90 days',
  month: 'This month',
  last_month: 'Last month',
  all: 'All time',
  custom: 'Custom dates',
} as const;
export type Period = keyof typeof PERIODS;
export const DEFAULT_PERIOD = '28d' satisfies Period;

export const COMPARISONS = {
  previous: 'vs. previous period',
  year: 'vs. last year',
  none: 'No comparison',
} as const;
export type Comparison = keyof typeof COMPARISONS;
export const DEFAULT_COMPARISON = 'previous' satisfies Comparison;

/** Whether nothing comes before a period that it could be compared with. */
export const isUncompared = (period: string | null): boolean => period === 'all';

const firstOfMonth = (day: string) => `${monthOf(day)}-01`;
const endOfMonth = (day: string) => addDays(firstOfMonth(addDays(firstOfMonth(day), 31)), -1);

/** The days of a relative period as of `today`. `firstDay` is the start of `all`. */
export function daysOfPeriod(
  period: Exclude<Period, 'custom'>,
  today: string,
  firstDay: string = today,
): Days {
  switch (period) {
    case 'today':
      return { from: today, to: today };
    case 'yesterday':
      return { from: addDays(today, -1), to: addDays(today, -1) };
    case 'month':
      return { from: firstOfMonth(today), to: today };
    case 'last_month': {
      const to = addDays(firstOfMonth(today), -1);
      return { from: firstOfMonth(to), to };
    }
    case 'all':
      return { from: firstDay < today ? firstDay : today, to: today };
    default:
      return { from: addDays(today, 1 - Number.parseInt(period, 10)), to: today };
  }
}

/** The same day a year earlier; 29 February becomes 28 February. */
function yearBefore(day: string): string {
  const year = String(Number(day.slice(0, 4)) - 1).padStart(4, '0');
  return day.endsWith('-02-29') ? `${year}-02-28` : `${year}${day.slice(4)}`;
}

export type Compared = {
  /** The days of the figures that are shown and compared. */
  now: Days;
  /** The earlier days. */
  before: Days;
};

type ComparedView = Days & {
  period: Period;
  today: string;
  comparison: Comparison;
  /** Whether the application has no figures before today. */
  isFirstDay: boolean;
};

/**
 * The days that a view compares. Today is not over, so it is left out, and with it its counterpart in the earlier period. A view without any
 * day that is over compares today itself. Calendar months are compared with calendar months. Returns null if there is no comparison.
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
  if (comparison === 'year') return { now, before: { from: yearBefore(from), to: yearBefore(last) } };
  if (period === 'month' || period === 'last_month') {
    const start = firstOfMonth(addDays(from, -1));
    const end = endOfMonth(start);
    const same = addDays(start, daysBetween(from, last));
    return { now, before: { from: start, to: period === 'last_month' || same > end ? end : same } };
  }
  const days = daysBetween(from, to) + 1;
  return { now, before: { from: addDays(from, -days), to: addDays(last, -days) } };
}

/** The same for figures that are known only for whole days: null if today is all there is to compare. */
export function comparedWholeDays(view: ComparedView): Compared | null {
  const days = comparedDays(view);
  return days && days.now.to < view.today ? days : null;
}

/** The days of a period that have begun. */
export const daysBegun = ({ from, to, today }: Days & { today: string }): string[] =>
  daysOf(from, to < today ? to : today);
