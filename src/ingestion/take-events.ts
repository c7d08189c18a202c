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
 * Throws `invalid_request` for a forged token and one that expired longer ago than it lived, `forbidden` for another
 * application's. Needs no database.
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
  if (takesEventsUntil(claims) <= now) throw invalidRequest(fault('has expired, fetch a new one'));
  return claims;
}

/** What became of an event that was taken. `warnings` only where something was dropped. */
export type Taken = { event_id: string; warnings?: Fault[] };

const taken = (id: string, warnings: Fault[]): Taken => ({
  event_id: id,
  ...(warnings.length > 0 ? { warnings } : {}),
});

/** Takes one event; answers its id once the queue has it, so that what is acknowledged is never lost. */
export async function takeEvent(
  env: Env,
  application: AuthenticatedApplication,
  envelope: EventEnvelope,
  header: string | undefined,
  now: number,
): Promise<Taken> {
  const claims = await authorise(env, application, envelope.creativeToken, now);
  const event = toEvent(envelope, {
    application,
    claims,
    keys: keysOfEnvelope(header, envelope),
    id: newId('evt'),
    now,
  });
  if (!(await enqueueEvent(env.EVENTS, event))) throw unavailable();
  return taken(event.id, envelope.warnings);
}

export type ItemResult = ({ index: number } & Taken) | { index: number; error: string; details: Fault[] };

function rejected(index: number, error: unknown): ItemResult {
  if (!(error instanceof AppError)) throw error;
  return { index, error: error.message, details: error.details };
}

/**
 * The header names the batch. It stands, with an item's content, for the items that have no key of their own: a batch may be
 * mended and sent again. Of items that are equal to the letter each is an event of its own.
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
 * Takes many events, each standing alone: a bad item does not keep a good one out. Throws `unavailable` when the queue took
 * nothing; when it took a part, the rest are rejected with the advice to send again.
 */
export async function takeBatch(
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
    if (accepted.has(event.id)) return { index, ...taken(event.id, warnings) };
    return { index, error: 'Temporarily unavailable; retry this event', details: [] };
  });
}
