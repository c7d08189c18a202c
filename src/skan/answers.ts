import * as z from 'zod';
import { day, nullableText, time } from '#http/answers';

export const PostbackReceived = z.object({
  success: z.literal(true),
  message: z.literal('Postback received'),
});

export const AppStoreClaim = z
  .object({
    app_store_id: z.string(),
    application_id: z.string(),
    application: z.string().meta({ description: 'Its name.' }),
    team_id: z.string(),
    team: z.string().meta({ description: 'Its name.' }),
    confirmed: z.boolean().meta({
      description: 'Whether the deployment’s owner confirmed that the app is this application’s.',
    }),
    waiting_postbacks: z.int().meta({
      description:
        'Postbacks of the app that arrived before any application had it, and that no application has yet.',
    }),
  })
  .meta({ id: 'AppStoreClaim' });
export type AppStoreClaim = z.input<typeof AppStoreClaim>;
export const AssignedApp = z.object({ app_store_id: z.string(), application_id: z.string() });

const Meaning = z.object({
  event: nullableText(),
  revenue_min: z.number(),
  revenue_max: z.number(),
});
const window = z.object({ low: Meaning, medium: Meaning, high: Meaning }).partial();
export const ConversionSchema = z.object({
  versions: z.array(
    z.object({
      valid_from: day(),
      currency: z.string(),
      fine: z.record(z.string(), Meaning),
      coarse: z.object({ 1: window, 2: window, 3: window }).partial(),
    }),
  ),
  updated_at: time().nullable(),
});
export type ConversionSchema = z.input<typeof ConversionSchema>;

const count = (description: string) => z.int().meta({ description });
const range = z.object({ low: z.number(), high: z.number() });
const metrics = {
  postbacks: count('Postbacks that arrived, repeats and tests excluded.'),
  did_win: count('Those of an ad that won the attribution.'),
  installs: count("First postbacks of winning ads' installs."),
  redownloads: count('The same of people who had the app before.'),
  reengagements: count('The same of people who had the app installed.'),
  value_hidden: count('Postbacks without a value, because Apple withholds it for small crowds.'),
  value_unmapped: count('Postbacks with a value that the schema does not have.'),
  value_conflicts: count('Postbacks that arrived again with another value. The first one counts.'),
  revenue_estimated: range.nullable().meta({
    description:
      'The range of revenue that the values mean. Null if no value tells any: a hidden value is not 0.',
  }),
  events: z
    .record(z.string(), z.int())
    .meta({ description: 'Postbacks by the event that their value means.' }),
  unconverted: z
    .array(range.extend({ currency: z.string() }))
    .optional()
    .meta({ description: 'Estimates without an exchange rate, which `revenue_estimated` lacks.' }),
};
const text = () => nullableText().optional();
const names = {
  day: day().nullish(),
  network: text(),
  source_identifier: text(),
  source_app: text(),
  country: text(),
  fidelity: z.int().nullish(),
  conversion_type: text(),
  window: z.int().nullish(),
};
export const SkanReport = z.object({
  data: z.array(
    z.object({
      ...names,
      is_other: z.literal(true).optional(),
      ...metrics,
    }),
  ),
  totals: z.object(metrics),
  total_rows: z.int(),
  currency: z.string(),
  timezone: z.string(),
  counted_through: time().meta({
    description:
      'Every postback that arrived before this time is included: they count as they arrive. CSV: the header `X-Counted-Through`.',
  }),
  last_postback_at: time().nullable(),
  last_test_postback_at: time().nullable().meta({ description: 'Tests are kept for 30 days.' }),
});
export type SkanReport = z.input<typeof SkanReport>;
/** The report without its time, which the route adds. */
export type SkanFigures = Omit<SkanReport, 'counted_through'>;
