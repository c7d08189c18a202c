import * as z from 'zod';
import { day, nullableText, time } from '#http/operations';
import { SKAN_GROUPS } from './groups.ts';

const PostbackReceived = z.object({ success: z.literal(true), message: z.literal('Postback received') });
export type PostbackReceived = z.input<typeof PostbackReceived>;

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
  last_postback_at: time().nullable(),
  last_test_postback_at: time().nullable().meta({ description: 'Tests are kept for 30 days.' }),
});
export type SkanReport = z.input<typeof SkanReport>;

/** Published by Apple, with a genuine signature. */
export const SKAN_EXAMPLE = {
  version: '4.0',
  'ad-network-id': 'com.example',
  'source-identifier': '39',
  'app-id': 525463029,
  'transaction-id': '6aafb7a5-0170-41b5-bbe4-fe71dedf1e31',
  redownload: false,
  'source-domain': 'example.com',
  'fidelity-type': 1,
  'did-win': true,
  'coarse-conversion-value': 'high',
  'postback-sequence-index': 0,
  'attribution-signature':
    'MEUCIQD4rX6eh38qEhuUKHdap345UbmlzA7KEZ1bhWZuYM8MJwIgMnyiiZe6heabDkGwOaKBYrUXQhKtF3P/ERHqkR/XpuA=',
};

/** A list in one text, separated by commas, as the schema that validates it cannot say. */
export const groupings = {
  override: {
    type: 'array',
    items: { type: 'string', enum: SKAN_GROUPS },
    minItems: 1,
    maxItems: 2,
    default: ['day'],
  },
  param: { style: 'form', explode: false },
} as const;

export const shared = { credential: 'teamToken', tag: 'SKAdNetwork and AdAttributionKit' } as const;
export const postback = {
  tag: shared.tag,
  method: 'post',
  credential: null,
  answer: {
    status: 200,
    description: 'The signature is genuine and the postback is stored. A repeated one counts once.',
    schema: PostbackReceived,
  },
} as const;
export const RECEIVES =
  'Apple sends copies of winning postbacks here, with or without the slash at the end. They are counted for the application whose `ios_store_url` has their App Store id. Until there is one, they wait for 30 days.';
