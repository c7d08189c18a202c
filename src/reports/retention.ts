import * as z from 'zod';
import { dayIn, daysBetween } from '#lib/time';
import { CREATIVE_GROUPS, creativeColumns, readCreativeNames } from './names.ts';
import { listOf, MAX_SPAN_DAYS, orderedPeriod, period } from './query.ts';

const daysError = 'must be day numbers from 0 to 1100, such as 0,1,7,30';

export const RetentionQuery = z
  .object({
    ...period,
    days: z
      .string()
      .default('0,1,7,30')
      .transform(listOf)
      .pipe(
        z
          .array(z.string().regex(/^\d{1,4}$/, daysError))
          .min(1, daysError)
          .max(100, daysError),
      )
      .transform((days) => days.map(Number))
      .refine((days) => days.every((day) => day <= MAX_SPAN_DAYS), daysError),
    group_by: z.enum(CREATIVE_GROUPS, { error: `must be one of ${CREATIVE_GROUPS.join(', ')}` }).optional(),
    cohort: z.enum(['all'], { error: 'must be all' }).default('all'),
  })
  .refine(orderedPeriod.check, orderedPeriod.fault);
export type RetentionQuery = z.infer<typeof RetentionQuery>;

/** Devices acquired on one day: how many were active `age` days later, and of how many that was the last active day. */
export type ActivityRow = { acquiredDay: string; age: number; active: number; lastActive: number };

export type RetentionDay = {
  eligible: number;
  active: number;
  classic: number | null;
  rolling: number | null;
};

const ratio = (above: number, below: number) => (below === 0 ? null : above / below);

/**
 * Classic retention of day N: devices active on exactly day N / devices whose day N is over. Rolling: active on N or later.
 * `today` is a day in the application's time zone. Cohorts whose day N is not over count neither above nor below the line.
 * Source: the "classic" and "rolling" (unbounded) retention of product analytics, as Amplitude's documentation defines them.
 */
export function retentionOfDay(rows: readonly ActivityRow[], day: number, today: string): RetentionDay {
  const over = rows.filter((row) => daysBetween(row.acquiredDay, today) > day);
  const sum = (chosen: readonly ActivityRow[], count: (row: ActivityRow) => number) =>
    chosen.reduce((total, row) => total + count(row), 0);
  const eligible = cohortSize(over);
  const active = sum(
    over.filter((row) => row.age === day),
    (row) => row.active,
  );
  const later = sum(
    over.filter((row) => row.age >= day),
    (row) => row.lastActive,
  );
  return { eligible, active, classic: ratio(active, eligible), rolling: ratio(later, eligible) };
}

/** Every device is active on day 0, the day of its acquisition. */
export function cohortSize(rows: readonly ActivityRow[]): number {
  return rows.filter((row) => row.age === 0).reduce((total, row) => total + row.active, 0);
}

export async function reportRetention(
  db: D1Database,
  application: { timezone: string },
  query: RetentionQuery,
  now: number,
) {
  const { results } = await db
    .prepare(
      `SELECT acquired_day AS acquiredDay, creative_id AS creativeId, age, sum(active_devices) AS active,
         sum(last_active_devices) AS lastActive
       FROM cohort_activity WHERE application_id = ?1 AND acquired_day BETWEEN ?2 AND ?3
       GROUP BY acquired_day, creative_id, age ORDER BY acquired_day, creative_id, age`,
    )
    .bind(query.application_id, query.from, query.to)
    .all<ActivityRow & { creativeId: string }>();
  const { group_by: group } = query;
  const creativeIds = group ? results.map(({ creativeId }) => creativeId) : [];
  const names = await readCreativeNames(db, query.application_id, creativeIds);
  const keyOf = ({ creativeId }: { creativeId: string }) =>
    group ? creativeColumns(names, group, creativeId) : { creative: null, creative_id: null };
  const today = dayIn(application.timezone, now);
  const data = Map.groupBy(results, (row) => JSON.stringify(keyOf(row)));
  return {
    data: [...data.values()].flatMap((rows) => {
      const [first] = rows;
      if (!first || cohortSize(rows) === 0) return [];
      const days = query.days.map((day) => [String(day), retentionOfDay(rows, day, today)]);
      return {
        cohort_from: query.from,
        cohort_to: query.to,
        ...keyOf(first),
        size: cohortSize(rows),
        days: Object.fromEntries(days),
      };
    }),
    timezone: application.timezone,
  };
}
