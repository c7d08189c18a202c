import * as z from 'zod';
import { requiredText } from '#http';
import { funnelOf } from './metrics.ts';
import { checkPeriod, listOf, period, type Reported } from './query.ts';

const MAX_STEPS = 10;
/** Webhook events are dated by the second, devices by the millisecond: within one second nothing is out of order. */
const TIE_MS = 1_000;

const stepsError = `must be 1 to ${MAX_STEPS} of install, retention, purchase, ad, event:<name>`;
const hoursError = 'must be a number of hours above 0, at most 87600';

export const FunnelQuery = z
  .object({
    ...period,
    steps: requiredText(3_000)
      .transform((text) => listOf(text).map((step) => step.replaceAll(/%2c/gi, ',')))
      .pipe(
        z
          .array(z.string().regex(/^(?:install|retention|purchase|ad|event:.+)$/s, stepsError))
          .min(1, stepsError)
          .max(MAX_STEPS, stepsError),
      ),
    window_hours: z.coerce
      .number({ error: hoursError })
      .positive(hoursError)
      .max(87_600, hoursError)
      .optional(),
  })
  .superRefine(checkPeriod);
export type FunnelQuery = z.infer<typeof FunnelQuery>;

/** Counts the devices that reach each of `steps` steps; ?4 is the window in milliseconds, ?5 and on are the steps. */
export function funnelSql(steps: number): string {
  const indexes = Array.from({ length: steps }, (_, index) => index);
  const times = indexes.map(
    (index) =>
      `(SELECT step.value FROM json_each(milestones) AS step WHERE step.key = ?${index + 5}) AS at${index}`,
  );
  const reached = indexes.map((index) =>
    index === 0
      ? 'at0 IS NOT NULL'
      : `at${index} >= at${index - 1} - ${TIE_MS} AND at${index} <= at0 + coalesce(?4, at${index})`,
  );
  const sums = indexes.map(
    (index) =>
      `sum(CASE WHEN ${reached.slice(0, index + 1).join(' AND ')} THEN 1 ELSE 0 END) AS step${index}`,
  );
  return `WITH times AS MATERIALIZED (SELECT ${times.join(', ')} FROM devices
      WHERE application_id = ?1 AND acquired_day BETWEEN ?2 AND ?3)
    SELECT ${sums.join(', ')}, ?4 AS window FROM times`;
}

/**
 * The funnel: of the devices acquired from `from` to `to`, how many reach each step, in order and within the window after the
 * first. What counts is the first time of each step; times within one second of each other are in order.
 * Erased devices are in no funnel any more.
 */
export async function reportFunnel(db: D1Database, application: Reported, query: FunnelQuery) {
  const windowMs = query.window_hours === undefined ? null : Math.round(query.window_hours * 3_600_000);
  const row = await db
    .prepare(funnelSql(query.steps.length))
    .bind(application.id, query.from, query.to, windowMs, ...query.steps)
    .first<Record<string, number | null>>();
  const steps = query.steps.map((step, index) => ({ step, devices: row?.[`step${index}`] ?? 0 }));
  return { data: funnelOf(steps), timezone: application.timezone };
}
