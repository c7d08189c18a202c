import * as z from 'zod';
import { oneOf, optionalCount, optionalNumber, optionalText, requiredNumber, requiredText } from '#http';
import { CURRENCIES } from '#lib/currencies';
import { MAX_AMOUNT } from '#lib/money';
import { timestamp } from './timestamp.ts';

const EVENT_TYPES = ['retention', 'custom.purchase', 'custom.ad', 'custom'] as const;
const MAX_DAY_NUMBER = 100_000;
const MAX_PARAMS = 100;

const currency = () =>
  requiredText()
    .toLowerCase()
    .refine((code) => CURRENCIES.has(code), 'must be an ISO 4217 code');

/** `-07:00`, or decimal hours as some SDKs send them. Kept as text: it describes the device and counts nothing. */
const utcOffset = () =>
  z
    .union(
      [
        z.number().min(-14).max(14),
        z
          .string()
          .trim()
          .regex(/^(?:[+-]?\d{1,2}(?::?\d{2}|\.\d{1,4})?|Z)?$/),
        z.null(),
      ],
      { error: 'must be like -07:00' },
    )
    .optional()
    .transform((offset) => (offset === null || offset === '' ? undefined : offset?.toString()));

const payload = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object(shape, { error: (issue) => (issue.input === undefined ? 'is required' : 'must be an object') });

const RetentionPayload = payload({
  retentionDay: optionalCount(MAX_DAY_NUMBER),
  backfillDay: optionalCount(MAX_DAY_NUMBER),
  session_id: optionalText(),
});

const PurchasePayload = payload({
  item_id: requiredText(),
  item_name: requiredText(),
  value: requiredNumber(MAX_AMOUNT),
  currency: currency(),
  status: oneOf(['completed', 'success', 'failed']),
  total_purchase_value: optionalNumber(Number.MAX_SAFE_INTEGER),
  tr_id: optionalText(128),
});

const AdPayload = payload({
  ad_id: requiredText(),
  name: optionalText(),
  source: requiredText().toLowerCase(),
  media_source: optionalText().transform((name) => name?.toLowerCase()),
  channel: optionalText(),
  watch_time: optionalNumber(Number.MAX_SAFE_INTEGER),
  reward: z
    .boolean({ error: 'must be true or false' })
    .nullish()
    .transform((reward) => reward ?? undefined),
  value: requiredNumber(MAX_AMOUNT),
  currency: currency(),
  total_ad_value: optionalNumber(Number.MAX_SAFE_INTEGER),
});

/** The event name by which a backend reports ad requests for the fill rate. */
export const AD_REQUEST = 'ad_request';

const param = z
  .union([optionalText().pipe(z.string().optional()), z.number(), z.boolean()], {
    error: 'must be text of at most 256 characters',
  })
  .transform((value) => value?.toString());

const CustomPayload = payload({
  event_name: requiredText(),
  params: z
    .record(z.string().max(256, 'must be at most 256 characters'), param, { error: 'must be an object' })
    .refine((params) => Object.keys(params).length <= MAX_PARAMS, `must have at most ${MAX_PARAMS} entries`)
    .nullish()
    .transform((params) => params ?? undefined),
}).superRefine(({ event_name, params }, ctx) => {
  const count = params?.value;
  if (event_name !== AD_REQUEST || count === undefined || /^\d{1,6}$/.test(count)) return;
  ctx.addIssue({
    code: 'custom',
    path: ['params', 'value'],
    message: 'must be a whole number from 0 to 999999',
  });
});

const common = {
  created_at: timestamp(),
  creativeToken: requiredText(),
  device_name: optionalText(),
  device_model: optionalText(),
  os_system: optionalText(),
  utc_offset: utcOffset(),
  retention_day: optionalCount(MAX_DAY_NUMBER),
  event_id: optionalText(128),
  eid: optionalText(128),
  dedupe_key: optionalText(128),
  dk: optionalText(128),
};

const typeError = (issue: { input?: unknown }) => {
  const { input } = issue;
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return 'The event must be a JSON object';
  const absent = !('type' in input) || input.type === null || input.type === '';
  return absent ? 'is required' : `must be one of ${EVENT_TYPES.join(', ')}`;
};

function trimType(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('type' in body) || typeof body.type !== 'string')
    return body;
  const type = body.type.trim();
  return type === body.type ? body : { ...body, type };
}

/** Body of `POST /webhook`, and an item of `POST /webhook/batch`: the payload's fields depend on `type`. */
export const EventEnvelope = z.preprocess(
  trimType,
  z.discriminatedUnion(
    'type',
    [
      z.object({ type: z.literal('retention'), ...common, payload: RetentionPayload }),
      z.object({ type: z.literal('custom.purchase'), ...common, payload: PurchasePayload }),
      z.object({ type: z.literal('custom.ad'), ...common, payload: AdPayload }),
      z.object({ type: z.literal('custom'), ...common, payload: CustomPayload }),
    ],
    { error: typeError },
  ),
);
export type EventEnvelope = z.infer<typeof EventEnvelope>;
