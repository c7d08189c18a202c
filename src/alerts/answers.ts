import * as z from 'zod';
import { day, nullableText, time } from '#http/answers';

/** What an alert of the kind `metric` watches. */
const rule = z
  .object({
    metric: z.string(),
    condition: z.enum(['below', 'above', 'falls', 'rises', 'changes']),
    compared_with: z.enum(['weekdays', 'previous']).nullable(),
    days: z.int(),
    group_by: nullableText(),
    filters: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
    min_spend: z.number().nullable(),
    min_installs: z.number().nullable(),
  })
  .partial();

export const Alert = z.object({
  id: z.string(),
  application_id: z.string(),
  kind: z.string().meta({
    description: 'Alerts of the kind `metric` also have the fields from `metric` to `min_installs`.',
  }),
  threshold: z.number(),
  ...rule.shape,
  text: z.string().meta({ description: 'The alert as a sentence.' }),
  enabled: z.boolean().meta({ description: 'Whether it is on. An alert that is off is not checked.' }),
  firing_since: time().nullable(),
  firing_groups: z
    .array(
      z.object({
        name: z.string(),
        since: time(),
        last_day: day().meta({ description: 'The last day on which the group had data.' }),
      }),
    )
    .meta({ description: 'The groups that an alert with `group_by` fires for.' }),
  last_fired_at: time().nullable(),
  finding: nullableText().meta({ description: 'What the last check found; null before the first.' }),
  created_at: time(),
});
export type Alert = z.input<typeof Alert>;

const group = z.object({
  name: z.string().meta({ description: 'Empty without `group_by`.' }),
  filter: z
    .record(z.string(), z.string())
    .nullable()
    .meta({ description: 'The filter that selects the group in reports; null if there is none.' }),
  value: z
    .number()
    .nullable()
    .meta({ description: "In the metric's unit, as in reports; null if it does not exist." }),
  before: z
    .number()
    .nullable()
    .meta({ description: 'What the value is compared with; null if it is not, or too little is known.' }),
  firing: z.boolean().nullable().meta({ description: 'Null if there is no data, or too little.' }),
});

export const AlertPreview = z.object({
  currency: z.string(),
  data: z.array(
    z.object({
      from: day(),
      to: day(),
      groups: z.array(group),
      left_out: z.int().meta({ description: 'The number of groups beyond the 100 largest.' }),
    }),
  ),
});
export type AlertPreview = z.input<typeof AlertPreview>;
