import { EventEnvelope, keysOfEnvelope, type LoggedEvent } from '#catalogue';
import { readToken, type TokenClaims, takesEventsUntil } from '#devices';
import { settingsOf } from '#env';
import {
  AppError,
  type AuthenticatedApplication,
  accessDenied,
  type Fault,
  invalidRequest,
  toFaults,
  unavailable,
} from '#http';
import { sha256Hex } from '#lib/crypto';
import { newId } from '#lib/ids';
import { enqueueEvent, enqueueEvents } from './enqueue.ts';
import { toEvent } from './to-event.ts';

const fault = (message: string): Fault[] => [{ path: 'creativeToken', message }];

/**
 * Throws `invalid_request` for a forged token and for one that expired longer ago than its lifetime, and `forbidden` for another
 * application's token. Needs no database.
 */
async function authorise(
  env: Env,
  application: AuthenticatedApplication,
  token: string,
  now: number,
): Promise<TokenClaims> {
  const claims = await readToken(token, settingsOf(env).TOKEN_SECRET);
  if (!claims) throw invalidRequest(fault('is not a token of this service'));
  if (claims.applicationId !== application.id) throw accessDenied();
  if (takesEventsUntil(claims) <= now) throw invalidRequest(fault('has expired; fetch a new one'));
  return claims;
}

/** The result of an accepted event. `warnings` is present only if something was dropped. */
type AcceptedEvent = { event_id: string; warnings?: Fault[] };

const acceptedEvent = (id: string, warnings: Fault[]): AcceptedEvent => ({
  event_id: id,
  ...(warnings.length > 0 ? { warnings } : {}),
});

/** Accepts one event. Returns its id once it is in the queue, so that an acknowledged event is never lost. */
export async function acceptEvent(
  env: Env,
  application: AuthenticatedApplication,
  envelope: EventEnvelope,
  header: string | undefined,
  now: number,
): Promise<AcceptedEvent> {
  const claims = await authorise(env, application, envelope.creativeToken, now);
  const event = toEvent(envelope, {
    application,
    claims,
    keys: keysOfEnvelope(header, envelope),
    id: newId('evt'),
    now,
  });
  if (!(await enqueueEvent(env.EVENTS, event))) throw unavailable();
  return acceptedEvent(event.id, envelope.warnings);
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

/**
 * Accepts many events independently: an invalid item does not affect the others. Throws `unavailable` if the queue accepted nothing. If it
 * accepted some of them, the rest are rejected with advice to retry.
 */
export async function acceptBatch(
  env: Env,
  application: AuthenticatedApplication,
  items: unknown[],
  header: string | undefined,
  now: number,
): Promise<ItemResult[]> {
  const claimsByToken = new Map<string, Promise<TokenClaims>>();
  const headerKeys = header ? await batchKeys(header, items) : [];
  const outcomes = await Promise.all(
    items.map(
      async (item, index): Promise<{ event: LoggedEvent; warnings: Fault[] } | { result: ItemResult }> => {
        const parsed = EventEnvelope.safeParse(item);
        if (!parsed.success) return { result: rejected(index, invalidRequest(toFaults(parsed.error))) };
        const envelope = parsed.data;
        let claims = claimsByToken.get(envelope.creativeToken);
        if (!claims) {
          claims = authorise(env, application, envelope.creativeToken, now);
          claimsByToken.set(envelope.creativeToken, claims);
        }
        try {
          const own = keysOfEnvelope(undefined, envelope);
          const keys = own.length > 0 ? own : keysOfEnvelope(headerKeys[index], envelope);
          const event = toEvent(envelope, { application, claims: await claims, keys, id: newId('evt'), now });
          return { event, warnings: envelope.warnings };
        } catch (error) {
          return { result: rejected(index, error) };
        }
      },
    ),
  );
  const events = outcomes.flatMap((outcome) => ('event' in outcome ? [outcome.event] : []));
  const accepted = await enqueueEvents(env.EVENTS, events);
  if (events.length > 0 && accepted.size === 0) throw unavailable();
  return outcomes.map((outcome, index) => {
    if ('result' in outcome) return outcome.result;
    const { event, warnings } = outcome;
    if (accepted.has(event.id)) return { index, ...acceptedEvent(event.id, warnings) };
    return { index, error: 'Temporarily unavailable; retry this event', details: [] };
  });
}
