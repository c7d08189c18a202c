import * as z from 'zod';
import { ATTRIBUTION_CHOICES, segmentFilters } from '#catalogue';
import type { applications } from '#db';
import { atMostDays, dayText, repeatable, requiredText, searchText, wholeNumber } from '#http';

/** The longest period that one report covers. */
export const MAX_SPAN_DAYS = 1100;

const format = z.enum(['json', 'csv'], { error: 'must be json or csv' }).default('json');

/** A report's filters. A row must match every filter, by any of that filter's values. */
const filterFields = {
  campaign_id: repeatable(requiredText(128)),
  adset_id: repeatable(requiredText(128)),
  creative_id: repeatable(requiredText(128)),
  ...segmentFilters(),
  attribution: z.enum(ATTRIBUTION_CHOICES, { error: 'must be paid, organic or all' }).optional().meta({
    description:
      '`paid`: only devices that a creative brought; `organic`: only the others. What is computed from spend, such as CPI and ROAS, is of paid devices: with `all`, it is of all devices, as everything else is without this parameter.',
  }),
};
export const ReportFilters = z.object(filterFields);
export type ReportFilters = z.infer<typeof ReportFilters>;

/** The filters among a query's fields, as they were asked for; empty if there are none. */
export function askedFilters(query: ReportFilters): ReportFilters {
  const names = Object.keys(filterFields) as (keyof ReportFilters)[];
  const given = names.filter((name) => query[name] !== undefined && query[name].length > 0);
  return Object.fromEntries(given.map((name) => [name, query[name]]));
}

/** The filters that leave something out; empty if there are none. */
export function filtersOf(query: ReportFilters): ReportFilters {
  const { attribution, ...filters } = askedFilters(query);
  return attribution === undefined || attribution === 'all' ? filters : { ...filters, attribution };
}

/** The fields of every report: an application, inclusive days in its time zone, and filters. */
export const period = {
  application_id: requiredText(128),
  from: dayText(),
  to: dayText(),
  format,
  ...filterFields,
};

/** The largest number of rows in an answer, not counting the one that sums up the rest. */
export const MAX_ROWS = 1_000;
const limit = wholeNumber(1, MAX_ROWS).default(MAX_ROWS);

/** Limits a long table to `limit` rows with `q` in one of their names. The rest is in the row `other`. */
export const listing = { limit, q: searchText() };

/** A comma-separated list, without blanks and repeats. */
export const listOf = (text: string) =>
  [...new Set(text.split(',').map((part) => part.trim()))].filter((part) => part !== '');

/** Checks a period for faults that its fields alone do not show. */
export const checkPeriod = atMostDays(MAX_SPAN_DAYS);

/** The application of a report, already checked to be the caller's own. */
export type Reported = Pick<
  typeof applications.$inferSelect,
  'id' | 'teamId' | 'currency' | 'timezone' | 'shards' | 'storeFeeBasisPoints' | 'fraudRules'
>;

const daysError = `must be day numbers from 0 to ${MAX_SPAN_DAYS}, such as 0,1,7,30`;

/** Day numbers since acquisition, separated by commas. */
export const dayNumbers = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform(listOf)
    .pipe(
      z
        .array(z.string().regex(/^\d{1,4}$/, daysError))
        .min(1, daysError)
        .max(100, daysError),
    )
    .transform((days) => [...new Set(days.map(Number))])
    .refine((days) => days.every((number) => number <= MAX_SPAN_DAYS), daysError);

/** Whether revenue is without refunds and the share that stores keep. */
export const netOrGross = () =>
  z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default('false')
    .transform((net) => net === 'true');

/** The fields of cohort reports: the days of acquisition, how they are grouped, and the day numbers. */
export const cohortPeriod = {
  ...period,
  limit,
  days: dayNumbers('0,1,7,30'),
  cohort: z
    .enum(['day', 'week', 'month', 'all'], { error: 'must be one of day, week, month, all' })
    .default('all'),
};
