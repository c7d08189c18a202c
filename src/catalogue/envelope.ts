import * as z from 'zod';
import { currencyDayFault, isDatedCurrency } from '#lib/currencies';
import { isObject, readObject } from '#lib/encoding/json-object';
import { withWarnings } from '#lib/input/leniency';
import { iso } from '#lib/time';
import { EVENT_KINDS } from './events/index.ts';
import type { EventKind } from './kind.ts';
import { type DeviceEvent, findKind } from './logged-event.ts';
import type { OwnFields } from './stored.ts';
import type { WireForm } from './wire.ts';

type Wire = (typeof EVENT_KINDS)[number]['wires'][number];
type WireSchema = Wire['schema'];

const FORMS: readonly Wire[] = EVENT_KINDS.flatMap<Wire>(({ wires }) => wires);

/** The possible values of `type`. */
const SENT_TYPES: readonly string[] = FORMS.map(({ type }) => type);

/** The result of parsing a payload: the event's type and the fields that only its kind has. */
export type SentFields = DeviceEvent extends infer Event
  ? Event extends DeviceEvent
    ? { type: Event['type'] } & OwnFields<Event>
    : never
  : never;

type Sending = { kind: EventKind; form: WireForm };

const byType = new Map<string, Sending>(
  EVENT_KINDS.flatMap((kind) => kind.wires.map((form): [string, Sending] => [form.type, { kind, form }])),
);

function sendingOf(type: string): Sending {
  const sending = byType.get(type);
  if (!sending) throw new Error(`No kind of event is sent as ${type}`);
  return sending;
}

/**
 * Normalizes what clients put around the fields: other names, JSON inside JSON, a type with spaces. Doing it once lets the schemas expect a
 * single form. Values that are not objects are returned unchanged.
 */
function readEnvelope(body: unknown): unknown {
  if (!isObject(body)) return body;
  const type = typeof body.type === 'string' ? body.type.trim() : body.type;
  const sent = typeof body.payload === 'string' ? (readObject(body.payload) ?? body.payload) : body.payload;
  const form = typeof type === 'string' ? byType.get(type)?.form : undefined;
  const payload = form?.readPayload && isObject(sent) ? form.readPayload(sent) : sent;
  return type === body.type && payload === body.payload ? body : { ...body, type, payload };
}

const typeError = (issue: { input?: unknown }) => {
  const { input } = issue;
  if (!isObject(input)) return 'The event must be a JSON object';
  const absent = !('type' in input) || input.type === null || input.type === '';
  return absent ? 'is required' : `must be one of ${SENT_TYPES.join(', ')}`;
};

const CURRENCY_PATH = ['payload', 'currency'];
/** A time that cannot be meant is dated when received, after every currency that has ended. */
const AFTER_ALL = '9999-12-31';

/** Why the currency of an amount was not in force on its day; null if it was, or if there is none. */
function currencyFaultOf({ payload, created_at }: z.output<WireSchema>): string | null {
  const currency = 'currency' in payload ? payload.currency : undefined;
  if (typeof currency !== 'string' || !isDatedCurrency(currency)) return null;
  return currencyDayFault(currency, created_at.at === null ? AFTER_ALL : iso(created_at.at).slice(0, 10));
}

/**
 * Body of `POST /webhook`, and an item of `POST /webhook/batch`. The payload's fields depend on `type`. `warnings` names malformed
 * descriptive fields.
 */
export const EventEnvelope = z
  .preprocess(
    readEnvelope,
    z.discriminatedUnion('type', FORMS.map(({ schema }) => schema) as [WireSchema, ...WireSchema[]], {
      error: typeError,
    }),
  )
  .transform((body, ctx) => {
    const fault = currencyFaultOf(body);
    const isDropped = fault !== null && 'source' in body.payload;
    if (fault !== null && !isDropped) {
      ctx.issues.push({ code: 'custom', path: CURRENCY_PATH, message: fault, input: body });
    }
    const kept = withWarnings(body);
    if (isDropped && 'currency' in kept.payload) {
      kept.payload.currency = '';
      kept.warnings.push({ path: CURRENCY_PATH.join('.'), message: `${fault}; revenue counted as 0` });
    }
    return kept;
  });
export type EventEnvelope = z.infer<typeof EventEnvelope>;

/** The type and kind-specific fields of the event in an envelope. `age` is whole days since the device's acquisition, at least 0. */
export function fieldsOf(envelope: EventEnvelope, age: number): SentFields {
  const { kind, form } = sendingOf(envelope.type);
  // This form's schema parsed the payload, so it returns its own kind's fields.
  return { type: kind.type, ...(form.toStored(envelope.payload, envelope, age) as object) } as SentFields;
}

/**
 * The idempotency keys that identify repeats of an event; empty if every request is a new event. `header` is the value of
 * `Idempotency-Key`.
 */
export function keysOfEnvelope(header: string | undefined, envelope: EventEnvelope): string[] {
  const { form } = sendingOf(envelope.type);
  const eventId = envelope.event_id ?? envelope.eid;
  const transaction = form.transactionOf?.(envelope.payload);
  const dedupeKey = envelope.dedupe_key ?? envelope.dk;
  // SDKs send the transaction's id as the dedupe key of each of its refunds.
  const isOfTransaction = transaction?.identifies === false && dedupeKey === transaction.id;
  const keys = [
    ...(header ? [`h:${header}`] : []),
    ...(eventId ? [`e:${eventId}`] : []),
    ...(dedupeKey && !isOfTransaction ? [`d:${dedupeKey}`] : []),
    ...(transaction?.identifies ? [`t:${transaction.id}`] : []),
  ];
  const scope = form.keyScope?.(envelope.payload);
  return scope === undefined ? keys : keys.map((key) => `${scope}:${key}`);
}

/** The inverse of `keysOfEnvelope`: the `event_id` or `dedupe_key` that an event was sent with. */
export function sentKeyOf(event: DeviceEvent, name: 'event_id' | 'dedupe_key'): string | undefined {
  if (!event.keys) return undefined;
  const isScoped = findKind(event)?.wires.some(({ keyScope }) => keyScope !== undefined) ?? false;
  const form = SENT_KEY[name][isScoped ? 'scoped' : 'plain'];
  for (const key of event.keys) {
    const value = form.exec(key)?.[1];
    if (value !== undefined) return value;
  }
  return undefined;
}

const SENT_KEY = {
  event_id: { plain: /^e:(.+)$/s, scoped: /^[a-z]+:e:(.+)$/s },
  dedupe_key: { plain: /^d:(.+)$/s, scoped: /^[a-z]+:d:(.+)$/s },
} as const;
