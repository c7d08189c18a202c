import * as z from 'zod';
import { withWarnings } from '#lib/leniency';
import { EVENT_KINDS } from './events/index.ts';
import type { EventKind } from './kind.ts';
import { type DeviceEvent, kindOf } from './logged-event.ts';
import type { OwnFields } from './stored.ts';
import type { WireForm } from './wire.ts';

type Wire = (typeof EVENT_KINDS)[number]['wires'][number];
type WireSchema = Wire['schema'];

const FORMS: readonly Wire[] = EVENT_KINDS.flatMap<Wire>(({ wires }) => wires);

/** What `type` may be. */
export const SENT_TYPES: readonly string[] = FORMS.map(({ type }) => type);

/** What a payload becomes: the event's type and the fields that only its kind has. */
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
  if (!sending) throw new Error(`Nothing is sent as ${type}`);
  return sending;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseObject(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : text;
  } catch {
    return text;
  }
}

/**
 * What clients put around the fields: other names, JSON within JSON, a type with spaces. Read here once, so that the schemas see
 * one form. Anything that is no object stays as it is.
 */
function readEnvelope(body: unknown): unknown {
  if (!isObject(body)) return body;
  const type = typeof body.type === 'string' ? body.type.trim() : body.type;
  const sent = typeof body.payload === 'string' ? parseObject(body.payload) : body.payload;
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

/**
 * Body of `POST /webhook`, and an item of `POST /webhook/batch`: the payload's fields depend on `type`. `warnings` names what was
 * malformed and only described the event.
 */
export const EventEnvelope = z
  .preprocess(
    readEnvelope,
    z.discriminatedUnion('type', FORMS.map(({ schema }) => schema) as [WireSchema, ...WireSchema[]], {
      error: typeError,
    }),
  )
  .transform(withWarnings);
export type EventEnvelope = z.infer<typeof EventEnvelope>;

/** The type and own fields of the event that an envelope becomes. `age`: whole days from its device's acquisition, at least 0. */
export function fieldsOf(envelope: EventEnvelope, age: number): SentFields {
  const { kind, form } = sendingOf(envelope.type);
  // The form is the one whose schema parsed this payload, and gives its kind's fields.
  return { type: kind.type, ...(form.toStored(envelope.payload, envelope, age) as object) } as SentFields;
}

/**
 * The keys by which repeats of an event are recognised; none where every request is its own event. `header`: the value of
 * `Idempotency-Key`.
 */
export function keysOfEnvelope(header: string | undefined, envelope: EventEnvelope): string[] {
  const { form } = sendingOf(envelope.type);
  const eventId = envelope.event_id ?? envelope.eid;
  const dedupeKey = envelope.dedupe_key ?? envelope.dk;
  const transaction = form.transactionKey?.(envelope.payload);
  const keys = [
    ...(header ? [`h:${header}`] : []),
    ...(eventId ? [`e:${eventId}`] : []),
    ...(dedupeKey ? [`d:${dedupeKey}`] : []),
    ...(transaction ? [`t:${transaction}`] : []),
  ];
  const scope = form.keyScope?.(envelope.payload);
  return scope === undefined ? keys : keys.map((key) => `${scope}:${key}`);
}

/** The reverse of `keysOfEnvelope`: the `event_id` or `dedupe_key` that an event was sent with. */
export function sentKeyOf(event: DeviceEvent, name: 'event_id' | 'dedupe_key'): string | undefined {
  const isScoped = kindOf(event).wires.some(({ keyScope }) => keyScope !== undefined);
  const form = new RegExp(`^${isScoped ? '[a-z]+:' : ''}${name === 'event_id' ? 'e' : 'd'}:(.+)$`, 's');
  return event.keys?.map((key) => form.exec(key)?.[1]).find((value) => value !== undefined);
}
