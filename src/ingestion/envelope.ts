import * as z from 'zod';
import {
  currencyCode,
  oneOf,
  optionalCount,
  optionalName,
  optionalNumber,
  optionalText,
  requiredName,
  requiredNumber,
  requiredText,
} from '#http';
import { MAX_AMOUNT } from '#lib/money';
import { descriptive, dropped, replaceable, withWarnings } from './leniency.ts';
import { readParams } from './params.ts';
import { timestamp } from './timestamp.ts';
import { readWire } from './wire.ts';

const EVENT_TYPES = ['retention', 'custom.purchase', 'custom.ad', 'custom', 'session'] as const;
const MAX_DAY_NUMBER = 100_000;
/** Google Play's purchase tokens, which clients use as keys, have up to 165 characters. */
const MAX_KEY = 512;
const MAX_SESSION_SECONDS = 7 * 86_400;
const MAX_PROPERTIES_JSON = 4096;
/** Stands in reports for a name that was malformed. */
const UNKNOWN = 'unknown';

const lowerCase = (text: string) => text.toLowerCase();
const isUndefined = (value: unknown) => value === undefined;

const key = () => descriptive(optionalName(MAX_KEY));
const dayNumber = () => descriptive(optionalCount(MAX_DAY_NUMBER));
const runningTotal = () => descriptive(optionalNumber(Number.MAX_SAFE_INTEGER));
/** A name that groups events: without it the event is not understood, but a malformed one is no reason to lose money. */
const grouping = () => replaceable(requiredName(), UNKNOWN);

const NOT_AN_OFFSET = 'must be like -07:00';

/** `-07:00`, or decimal hours as some SDKs send them. Kept as text: it describes the device and counts nothing. */
const utcOffset = () =>
  z
    .union(
      [
        z.number().min(-14).max(14),
        z
          .string()
          .trim()
          .regex(/^(?:[+-]?\d{1,2}(?::?\d{2}|\.\d{1,4})?|Z)?$/, NOT_AN_OFFSET),
        z.null(),
      ],
      { error: NOT_AN_OFFSET },
    )
    .optional()
    .transform((offset) => (offset === null || offset === '' ? undefined : offset?.toString()));

const flag = () =>
  z
    .boolean({ error: 'must be true or false' })
    .nullish()
    .transform((value) => value ?? undefined);

/** An object of the caller's own, kept as its JSON. */
const properties = () =>
  z
    .record(z.string(), z.unknown(), { error: 'must be an object' })
    .nullish()
    .transform((value) =>
      value && Object.keys(value).length > 0 ? JSON.stringify(value).toWellFormed() : undefined,
    )
    .refine((json) => (json?.length ?? 0) <= MAX_PROPERTIES_JSON, {
      error: `must be at most ${MAX_PROPERTIES_JSON} characters of JSON`,
    });

const payload = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object(shape, { error: (issue) => (issue.input === undefined ? 'is required' : 'must be an object') });

const RetentionPayload = payload({
  retentionDay: dayNumber(),
  backfillDay: dayNumber(),
  session_id: descriptive(optionalName()),
});

const SessionPayload = payload({
  /** Whether the session starts or ends. */
  a: descriptive(z.enum(['start', 'end'], { error: 'must be start or end' }).nullish()),
  /** The session's id. */
  sid: descriptive(optionalName()),
  /** Its length in seconds, at its end. */
  sd: descriptive(optionalNumber(MAX_SESSION_SECONDS)),
});

/** `success` and `completed` are revenue; a purchase that did not come about, or not yet, counts as failed. */
const STATUSES = {
  completed: 'completed',
  success: 'success',
  failed: 'failed',
  canceled: 'failed',
  cancelled: 'failed',
  pending: 'failed',
  refunded: 'refunded',
} as const;

const PurchasePayload = payload({
  item_id: grouping(),
  item_name: descriptive(optionalName()),
  value: requiredNumber(MAX_AMOUNT),
  currency: currencyCode(),
  status: oneOf(Object.keys(STATUSES) as [keyof typeof STATUSES]).transform((status) => STATUSES[status]),
  total_purchase_value: runningTotal(),
  tr_id: key(),
});

const AdPayload = payload({
  ad_id: grouping(),
  name: descriptive(optionalName()),
  source: replaceable(requiredName().transform(lowerCase), UNKNOWN),
  media_source: descriptive(optionalName().transform((name) => name && lowerCase(name))),
  channel: descriptive(optionalName()),
  watch_time: descriptive(optionalNumber(Number.MAX_SAFE_INTEGER)),
  reward: descriptive(flag()),
  /** Some networks send -1 or no currency where they do not know what an impression earned. */
  value: replaceable(requiredNumber(MAX_AMOUNT), 0, {
    effect: 'revenue counted as 0',
    isAbsent: isUndefined,
  }),
  currency: replaceable(currencyCode(), '', { effect: 'revenue counted as 0', isAbsent: isUndefined }),
  total_ad_value: runningTotal(),
});

/** The event name by which a backend reports ad requests for the fill rate. */
export const AD_REQUEST = 'ad_request';
const REQUEST_COUNT = /^\d{1,6}$/;

const CustomPayload = payload({
  event_name: requiredText(),
  params: descriptive(
    z
      .record(z.string(), z.unknown(), { error: 'must be an object' })
      .nullish()
      .transform((params) => (params ? readParams(params) : undefined)),
  ),
}).transform((custom) => {
  const count = custom.params?.value;
  if (custom.event_name !== AD_REQUEST || typeof count !== 'string' || REQUEST_COUNT.test(count))
    return custom;
  const fault = dropped('must be a whole number from 0 to 999999; counted as 1') as never;
  return { ...custom, params: { ...custom.params, value: fault } };
});

const common = {
  created_at: timestamp(),
  creativeToken: requiredText(),
  device_name: descriptive(optionalText()),
  device_model: descriptive(optionalText()),
  os_system: descriptive(optionalText()),
  utc_offset: descriptive(utcOffset()),
  retention_day: dayNumber(),
  app_version: descriptive(optionalName()),
  sdk_version: descriptive(optionalName()),
  sdk_type: descriptive(optionalName()),
  /** Sent by an editor or a debug build: kept and shown, counted in no report. */
  dev: descriptive(flag()),
  /** Properties of the user that may be kept. */
  wp: descriptive(properties()),
  event_id: key(),
  eid: key(),
  dedupe_key: key(),
  dk: key(),
};

const typeError = (issue: { input?: unknown }) => {
  const { input } = issue;
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return 'The event must be a JSON object';
  const absent = !('type' in input) || input.type === null || input.type === '';
  return absent ? 'is required' : `must be one of ${EVENT_TYPES.join(', ')}`;
};

/**
 * Body of `POST /webhook`, and an item of `POST /webhook/batch`: the payload's fields depend on `type`. `warnings` names what was
 * malformed and only described the event.
 */
export const EventEnvelope = z
  .preprocess(
    readWire,
    z.discriminatedUnion(
      'type',
      [
        z.object({ type: z.literal('retention'), ...common, payload: RetentionPayload }),
        z.object({ type: z.literal('session'), ...common, payload: SessionPayload }),
        z.object({ type: z.literal('custom.purchase'), ...common, payload: PurchasePayload }),
        z.object({ type: z.literal('custom.ad'), ...common, payload: AdPayload }),
        z.object({ type: z.literal('custom'), ...common, payload: CustomPayload }),
      ],
      { error: typeError },
    ),
  )
  .transform(withWarnings);
export type EventEnvelope = z.infer<typeof EventEnvelope>;
