import * as z from 'zod';
import { FUNNEL_STEP_FORMS, isFunnelStep, per } from '#catalogue';
import { type FunnelAnswer, queryFunnel, sumFunnel } from '#counting';
import { database } from '#db';
import { requiredText } from '#http';
import { MAX_FUNNEL_LENGTH } from '#rollup';
import { counterGroup, deviceGroupBy, labelGroups } from './device-groups.ts';
import { otherColumns } from './dimensions.ts';
import { deviceFilterOf } from './payers.ts';
import { checkPeriod, filtersOf, MAX_ROWS, period, type Reported } from './query.ts';

const stepsError = `must be 1 to ${MAX_FUNNEL_LENGTH} of ${FUNNEL_STEP_FORMS}`;
const hoursError = 'must be a number of hours above 0, at most 87600';

export const FunnelQuery = z
  .object({
    ...period,
    group_by: deviceGroupBy,
    steps: requiredText(3_000)
      .transform((text) =>
        text
          .split(',')
          .map((step) => step.trim().replaceAll(/%2c/gi, ','))
          .filter((step) => step !== ''),
      )
      .pipe(
        z
          .array(z.string().refine(isFunnelStep, stepsError))
          .min(1, stepsError)
          .max(MAX_FUNNEL_LENGTH, stepsError),
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
 * The funnel: how many of the devices acquired from `from` to `to` reach each step within the window after the first, and how fast. Each step is
 * the earliest event of its kind at or after the previous step's; events within one second of each other count as in order. A step that is
 * repeated takes a further event of its kind.
 */
export async function reportFunnel(env: Env, application: Reported, query: FunnelQuery) {
  const { from, to, steps, group_by: group, window_hours: hours } = query;
  const db = database(env.DB);
  const parts = await queryFunnel(env, application, {
    cohort: { from, to },
    filter: await deviceFilterOf(env.DB, application.id, filtersOf(query)),
    groupBy: counterGroup(group),
    steps,
    windowSeconds: hours === undefined ? null : Math.round(hours * 3_600),
  });
  const labelled = await labelGroups(db, application.id, group, parts);
  const groups: { columns: Record<string, string | null | true>; own: FunnelAnswer; size: number }[] =
    labelled
      .map(({ columns, parts: own }) => ({
        columns,
        own,
        size: sumFunnel(steps.slice(0, 1), own).steps[0]?.devices ?? 0,
      }))
      .sort((left, right) => right.size - left.size);
  const maxGroups = Math.floor(MAX_ROWS / steps.length);
  const rest = [
    ...groups.splice(maxGroups).flatMap(({ own }) => own),
    ...parts.filter(({ key }) => key === null),
  ];
  if (group && rest.length > 0) groups.push({ columns: otherColumns(group), own: rest, size: 0 });
  // Without a grouping there is a funnel even if there are no devices.
  if (!group && groups.length === 0) groups.push({ columns: {}, own: [], size: 0 });
  const sums = groups.map(({ columns, own }) => ({ columns, ...sumFunnel(steps, own) }));
  return {
    data: sums.flatMap(({ columns, steps: own }) => funnelOf(own).map((row) => ({ ...columns, ...row }))),
    devices_with_incomplete_history: sums.reduce((total, { incomplete }) => total + incomplete, 0),
    timezone: application.timezone,
  };
}

/** A funnel's steps, from how many devices reach each and how fast. */
function funnelOf(steps: readonly { step: string; devices: number; medianSeconds: number | null }[]) {
  return steps.map(({ step, devices, medianSeconds }, index) => ({
    step,
    devices,
    from_first: per(devices, steps[0]?.devices ?? 0),
    from_previous: index === 0 ? null : per(devices, steps[index - 1]?.devices ?? 0),
    median_seconds: medianSeconds,
  }));
}
