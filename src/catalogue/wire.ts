import * as z from 'zod';
import {
  optionalCount,
  optionalName,
  optionalNameOrNumber,
  optionalNumber,
  optionalTextOrNumber,
  requiredNameOrNumber,
  requiredText,
} from '#lib/input/fields';
import { keeps, keptBy } from '#lib/input/keeps';
import { descriptive, identifier, naming, replaceable, replacedIfMalformed } from '#lib/input/leniency';
import { placeholderName } from '#lib/input/placeholder';
import { timestamp } from '#lib/timestamp';
import { ATT_STATUSES, limitsTracking, NOT_UNDERSTOOD, readAttStatus, readGrant, readLimit } from '#networks';

// What clients send: the envelope of every event, and the parts of payloads.

const MAX_DAY_NUMBER = 100_000;
/** Google Play's purchase tokens, which clients use as keys, can have 165 characters. */
const MAX_KEY = 512;
const MAX_PROPERTIES_JSON = 4096;
/** The name shown in reports in place of a malformed one. */
export const UNKNOWN = 'unknown';

const oneKey = identifier(optionalTextOrNumber(MAX_KEY));
export const key = () => descriptive(oneKey);
export const dayNumber = () => descriptive(optionalCount(MAX_DAY_NUMBER));
export const runningTotal = () => descriptive(optionalNumber(Number.MAX_SAFE_INTEGER));
/** Refuses a name that is a placeholder, but for the one that would replace it. */
export function telling<Schema extends z.ZodType<string>>(schema: Schema): Schema {
  const reasonOf = (name: string) => (name.toLowerCase() === UNKNOWN ? null : placeholderName(name));
  const isKept = keptBy(schema);
  const checked = schema.superRefine((name, ctx) => {
    const message = reasonOf(name);
    if (message !== null) ctx.addIssue({ code: 'custom', message });
  });
  return keeps(checked, (value) => isKept(value) && reasonOf(String(value)) === null);
}

/** A name by which events are grouped. It is required, but revenue must not be lost because of a malformed one. */
export const grouping = () => replaceable(telling(requiredNameOrNumber()), UNKNOWN);

export const flag = () =>
  z
    .boolean({ error: 'must be true or false' })
    .nullish()
    .transform((value) => value ?? undefined);

const NOT_AN_OFFSET = 'must be like -07:00';

/** `-07:00`, or decimal hours as some SDKs send them. Kept as text: it only describes the device. */
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

/** An object with the caller's own properties, stored as JSON. */
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

/** What a new device and each event say of the application on the device. Stored as the event's `device`, under the same names. */
export const applicationProperties = {
  app_version: descriptive(naming(optionalNameOrNumber())),
  sdk_version: descriptive(naming(optionalNameOrNumber())),
  sdk_type: descriptive(optionalNameOrNumber()),
};

/** A choice of the person. One that is sent and not understood is kept as such, because it withholds the ids: `read` returns null for it. */
function choice(read: (value: unknown) => string | null | undefined, forms: string) {
  const error = `must be ${forms}`;
  const sent = z.union([z.boolean(), z.number(), z.string(), z.null()], { error }).optional();
  const understood = sent.transform((value, ctx): string | undefined => {
    const told = read(value);
    if (told === null) ctx.issues.push({ code: 'custom', message: error, input: value });
    return told ?? undefined;
  });
  const schema = keeps(understood, (value) => value === undefined);
  return replacedIfMalformed(schema, NOT_UNDERSTOOD, 'every id is withheld from destinations');
}

const YES_OR_NO = 'true or false';
const grant = () => choice((value) => asText(readGrant(value)), `${YES_OR_NO}, granted or denied`);
const asText = (answer: boolean | null | undefined) =>
  answer?.toString() ?? (answer === null ? null : undefined);
/** Only that it is on is stored. */
const limit = (value: unknown) => {
  const answer = readLimit(value);
  return answer === false ? undefined : asText(answer);
};

/**
 * What a new device and each event say of the person's choices, and the ids that may be passed on to destinations. Stored with the event like
 * the properties of the application, but for ids of a person who limits tracking.
 */
export const sharingProperties = {
  /** Whether the person limits ad tracking. */
  lat: choice(limit, YES_OR_NO),
  /** The person's answer to Apple's App Tracking Transparency. */
  att_status: choice(readAttStatus, `one of ${ATT_STATUSES.join(', ')}`),
  /** Whether the person consents to sending data to ad networks. */
  ad_user_data: grant(),
  /** Whether the person consents to personalized ads. */
  ad_personalization: grant(),
  /** The advertising id (IDFA or Google's). It is given to be passed on, so unlike the ids of an installation it is stored as it is. */
  advertising_id: descriptive(identifier(optionalName(64))),
  /** Apple's id for the vendor, likewise. */
  vendor_id: descriptive(identifier(optionalName(64))),
};

const deviceProperties = {
  device_name: descriptive(optionalName()),
  device_model: descriptive(optionalName()),
  os_system: descriptive(optionalName()),
  utc_offset: descriptive(utcOffset()),
  ...applicationProperties,
  ...sharingProperties,
};

type DeviceProperty = keyof typeof deviceProperties;
/** The names of what clients say of a device and the application on it. */
const DEVICE_PROPERTIES = Object.keys(deviceProperties) as DeviceProperty[];

/** What an event stores of what its sender says of the device and the application on it. */
export function devicePropertiesOf(
  told: Readonly<Partial<Record<DeviceProperty, string | undefined>>>,
): Record<string, string | undefined> {
  const device: Record<string, string | undefined> = {};
  for (const name of DEVICE_PROPERTIES) device[name] = told[name];
  if (limitsTracking(told)) {
    device.advertising_id = undefined;
    device.vendor_id = undefined;
  }
  return device;
}

const envelope = {
  created_at: timestamp(),
  creativeToken: requiredText(),
  ...deviceProperties,
  retention_day: dayNumber(),
  /** Sent by an editor or a debug build: stored and shown, but not counted in reports. */
  dev: descriptive(flag()),
  /** User properties that may be stored. */
  wp: descriptive(properties()),
  event_id: key(),
  eid: key(),
  dedupe_key: key(),
  dk: key(),
};

/** The fields of every envelope. */
type EnvelopeBase = z.output<z.ZodObject<typeof envelope>>;

export const payload = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object(shape, { error: (issue) => (issue.input === undefined ? 'is required' : 'must be an object') });

/** One way in which clients send a kind of event: a `type` with its payload. A kind may have several, or none. */
export interface WireForm<Payload = unknown, Fields = unknown> {
  readonly type: string;
  readonly schema: z.core.$ZodTypeDiscriminable;
  /** Payloads for the API's documentation, by what each demonstrates. */
  readonly examples: Readonly<Record<string, object>>;
  /** Renames fields that SDKs send under other names. */
  readPayload?(payload: Record<string, unknown>): Record<string, unknown>;
  /** The transaction that the payload names, and whether its id identifies the event: not if there may be several such events. */
  transactionOf?(payload: Payload): { id: string; identifies: boolean } | undefined;
  /** Events with the same keys but different scopes are different events. Letters only. */
  keyScope?(payload: Payload): string;
  /** The stored fields; absent ones may be undefined. `age` is whole days from the device's acquisition to the event, at least 0. */
  toStored(payload: Payload, envelope: EnvelopeBase, age: number): Fields;
}

/** A wire form with the schema of its envelope. */
export function wireForm<const Type extends string, Payload extends z.ZodType, Fields>(
  type: Type,
  payloadSchema: Payload,
  form: Omit<WireForm<z.output<Payload>, Fields>, 'type' | 'schema'>,
) {
  const schema = z.object({ type: z.literal(type), ...envelope, payload: payloadSchema });
  return { type, schema, ...form };
}
