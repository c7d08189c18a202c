import * as z from 'zod';
import { countFunnel } from '#counting';
import { requiredText } from '#http';
import { funnelOf } from './metrics.ts';
import { deviceFilterOf } from './payers.ts';
import { checkPeriod, filtersOf, listOf, period, type Reported } from './query.ts';

const MAX_STEPS = 10;

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

/**
 * The funnel: of the devices acquired from `from` to `to`, how many reach each step, in order and within the window after the
 * first. What counts is the first time of each step; times within one second of each other are in order.
 * Erased devices are in no funnel any more.
 */
export async function reportFunnel(env: Env, application: Reported, query: FunnelQuery) {
  const windowMs = query.window_hours === undefined ? null : Math.round(query.window_hours * 3_600_000);
  const counts = await countFunnel(
    env,
    application,
    { from: query.from, to: query.to },
    query.steps,
    windowMs,
    await deviceFilterOf(env.DB, application.id, filtersOf(query)),
  );
  const steps = query.steps.map((step, index) => ({ step, devices: counts[index] ?? 0 }));
  return { data: funnelOf(steps), timezone: application.timezone };
}
