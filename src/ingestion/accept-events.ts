import { type DeviceEvent, devicePropertiesOf, EventEnvelope, fieldsOf, keysOfEnvelope } from '#catalogue';
import { readToken, type TokenClaims, takesEventsUntil } from '#devices';
import { settingsOf, versionOf } from '#env';
import {
  type AppContext,
  AppError,
  type AuthenticatedApplication,
  accessDenied,
  answerJson,
  type Fault,
  invalidRequest,
  keepAliveOf,
  noteAbsent,
  toFaults,
  unavailable,
} from '#http';
import { sha256Hex } from '#lib/crypto';
import { newId } from '#lib/ids';
import { addWarning } from '#lib/input/leniency';
import { placeholderFault, placeholderId } from '#lib/input/placeholder';
import { daysBetween, eventTimes } from '#lib/time';
import { importFault, timeWarnings, toOccurredAt } from '#lib/timestamp';
import {
  type EventLine,
  enqueueEvent,
  enqueueEvents,
  eventLine,
  MAX_EVENT_BYTES,
  messageHead,
} from '#rollup';
import type { EventAccepted } from './answers.ts';
import { MAX_KEY_LENGTH } from './requests.ts';

const tooLarge = () =>
  new AppError('too_large', `The event is larger than ${MAX_EVENT_BYTES.toLocaleString('en')} bytes`);

const fault = (message: string): Fault[] => [{ path: 'creativeToken', message }];

/**
 * The claims of a token that may send events to the application. `invalid_request` for a forged token and for one that expired longer ago than
 * its lifetime, and `forbidden` for another application's token.
 */
async function authorise(
  env: Env,
  application: AuthenticatedApplication,
  token: string,
  now: number,
): Promise<TokenClaims | AppError> {
  const claims = await readToken(token, settingsOf(env).TOKEN_SECRET);
  if (!claims) return invalidRequest(fault('is not a token of this service'));
  if (claims.applicationId !== application.id) return accessDenied();
  if (takesEventsUntil(claims) <= now) return invalidRequest(fault('has expired; fetch a new one'));
  return claims;
}

/** The result of an accepted event. `warnings` is present only if something was dropped or replaced. */
type AcceptedEvent = { event_id: string; warnings?: Fault[] };

function acceptedEvent(id: string, envelope: EventEnvelope, now: number): AcceptedEvent {
  const warnings = [...timeWarnings(envelope.created_at, now), ...envelope.warnings];
  return { event_id: id, ...(warnings.length > 0 ? { warnings } : {}) };
}

/** The first line of a message of this version with events whose tokens agree in `creditOpen`. */
const headOf = (env: Env, { id }: AuthenticatedApplication, creditOpen = false): string =>
  messageHead(id, versionOf(env), creditOpen);

/** What the sender said about the device. */
type SentDevice = Readonly<Record<string, string | undefined>>;

/** An event as it is sent to the queue, in a message that names its application. */
type SentEvent = DeviceEvent extends infer Event
  ? Event extends DeviceEvent
    ? Omit<Event, 'application_id' | 'device'> & { device: SentDevice | undefined }
    : never
  : never;

type Sender = {
  application: AuthenticatedApplication;
  claims: TokenClaims;
  keys: string[];
  id: string;
  now: number;
};

/**
 * Converts a valid envelope to an event: days in the application's time zone, money in nanos, the device from the token. Absent fields may be
 * undefined, because JSON leaves those out.
 */
function toEvent(envelope: EventEnvelope, { application, claims, keys, id, now }: Sender): SentEvent {
  const { occurredAt, clockAhead } = toOccurredAt(envelope.created_at, now);
  const times = eventTimes(application.timezone, occurredAt, now);
  const hasKeys = keys.length > 0;
  return {
    id,
    device_id: claims.deviceId,
    shard: claims.shard || undefined,
    creative_id: claims.creativeId,
    acquired_day: claims.acquiredDay,
    ...times,
    token_id: claims.tokenId,
    token_expired: claims.expiresAt <= now || undefined,
    keys: hasKeys ? keys : undefined,
    key_day: hasKeys ? envelope.created_at.day : undefined,
    test: envelope.dev || undefined,
    clock_ahead: clockAhead || undefined,
    device: deviceOf(envelope),
    warnings: envelope.warnings.length > 0 ? envelope.warnings : undefined,
    ...fieldsOf(envelope, Math.max(0, daysBetween(claims.acquiredDay, times.day))),
  };
}

/** Undefined if the sender said nothing. */
function deviceOf(envelope: EventEnvelope): SentDevice | undefined {
  const device = devicePropertiesOf(envelope);
  device.retention_day = envelope.retention_day?.toString();
  device.user_properties = envelope.wp;
  return Object.values(device).some((value) => value !== undefined) ? device : undefined;
}

const KEY_HEADER = 'Idempotency-Key';

/** The header that names a request, or its batch, for repeats of it. A placeholder names nothing, and `warning` says so. */
export function idempotencyKeyOf(c: AppContext): { key?: string; warning?: Fault } {
  const value = c.req.header(KEY_HEADER);
  if (!value) return {};
  if (value.length > MAX_KEY_LENGTH) {
    throw invalidRequest([{ path: KEY_HEADER, message: `must be at most ${MAX_KEY_LENGTH} characters` }]);
  }
  const warning = placeholderFault(KEY_HEADER, value, placeholderId);
  return warning === null ? { key: value } : { warning };
}

/** Accepts the event of a request. Answers once it is in the queue, so that an acknowledged event is never lost. */
export async function acceptEvent(c: AppContext, { body: envelope }: { body: EventEnvelope }) {
  const { env } = c;
  const application = c.get('application');
  const header = idempotencyKeyOf(c);
  if (header.warning) addWarning(envelope, header.warning);
  const now = Date.now();
  const claims = await authorise(env, application, envelope.creativeToken, now);
  if (claims instanceof AppError) throw claims;
  const id = newId('evt');
  const event = toEvent(envelope, {
    application,
    claims,
    keys: keysOfEnvelope(header.key, envelope),
    id,
    now,
  });
  const place = { applicationId: application.id, shard: claims.shard };
  const head = headOf(env, application, claims.creditOpen);
  if (!(await enqueueEvent(env, keepAliveOf(c), place, head, JSON.stringify(event)))) throw unavailable();
  c.set('eventId', id);
  if (envelope.warnings.length > 0) noteAbsent(c, application.id, envelope.warnings);
  const accepted = acceptedEvent(id, envelope, now);
  return answerJson<EventAccepted>(c, { success: true, message: 'Webhook Received', ...accepted });
}

export type ItemResult =
  | ({ index: number } & AcceptedEvent)
  | { index: number; error: string; details: Fault[] };

function rejected(index: number, error: unknown): ItemResult {
  if (!(error instanceof AppError)) throw error;
  return { index, error: error.message, details: error.details };
}

/**
 * Keys for the items of a batch that have none, derived from the batch's header and the item's content, so that a batch can be corrected and
 * sent again. Identical items count as separate events.
 */
async function batchKeys(header: string, items: readonly unknown[]): Promise<string[]> {
  const seen = new Map<string, number>();
  const digests = await Promise.all(items.map((item) => sha256Hex(JSON.stringify(item) ?? '')));
  return digests.map((digest) => {
    const before = seen.get(digest) ?? 0;
    seen.set(digest, before + 1);
    return `${header}:${digest.slice(0, 32)}:${before}`;
  });
}

type ItemOutcome =
  | { result: ItemResult }
  | { line: EventLine & { shard: number; head: string }; accepted: AcceptedEvent };

/**
 * Accepts many events independently: an invalid item does not affect the others. Throws `unavailable` if no queue accepted anything. If
 * some were accepted, the rest are rejected with advice to retry.
 */
export async function acceptBatch(
  env: Env,
  application: AuthenticatedApplication,
  items: unknown[],
  { header, isImport }: { header: ReturnType<typeof idempotencyKeyOf>; isImport: boolean },
  now: number,
): Promise<ItemResult[]> {
  const headerKeys = header.key ? await batchKeys(header.key, items) : [];
  const parsed = items.map((item) => EventEnvelope.safeParse(item));
  const tokens = new Set(parsed.flatMap(({ data }) => data?.creativeToken ?? []));
  const claimsByToken = new Map(
    await Promise.all(
      Array.from(tokens, async (token) => [token, await authorise(env, application, token, now)] as const),
    ),
  );
  const [settled, open] = [headOf(env, application), headOf(env, application, true)];
  const outcomes = parsed.map(({ data: envelope, error }, index): ItemOutcome => {
    if (!envelope) return { result: rejected(index, invalidRequest(toFaults(error))) };
    const untimely = isImport ? importFault(envelope.created_at) : null;
    if (untimely) return { result: rejected(index, invalidRequest([untimely])) };
    const claims = claimsByToken.get(envelope.creativeToken);
    if (!claims || claims instanceof AppError) return { result: rejected(index, claims) };
    if (header.warning) addWarning(envelope, header.warning);
    const own = keysOfEnvelope(undefined, envelope);
    const keys = own.length > 0 ? own : keysOfEnvelope(headerKeys[index], envelope);
    const id = newId('evt');
    const line = eventLine(JSON.stringify(toEvent(envelope, { application, claims, keys, id, now })));
    if (line.bytes > MAX_EVENT_BYTES) return { result: rejected(index, tooLarge()) };
    const place = { shard: claims.shard, head: claims.creditOpen ? open : settled };
    return { line: { ...line, ...place }, accepted: acceptedEvent(id, envelope, now) };
  });
  const events = outcomes.flatMap((outcome) => ('line' in outcome ? [outcome.line] : []));
  const accepted = await enqueueEvents(env, application.id, events);
  if (events.length > 0 && !accepted.includes(true)) throw unavailable();
  const isAccepted = accepted.values();
  return outcomes.map((outcome, index) => {
    if ('result' in outcome) return outcome.result;
    if (isAccepted.next().value) return { index, ...outcome.accepted };
    return { index, error: 'Temporarily unavailable; retry this event', details: [] };
  });
}
