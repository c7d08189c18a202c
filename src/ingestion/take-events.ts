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
import { newId } from '#lib/ids';
import type { LoggedEvent } from '#rollup';
import { enqueueEvent, enqueueEvents } from './enqueue.ts';
import { EventEnvelope } from './envelope.ts';
import { keysOfEnvelope, toEvent } from './to-event.ts';
import { readToken, type TokenClaims } from './token.ts';

const fault = (message: string): Fault[] => [{ path: 'creativeToken', message }];

/** Throws `invalid_request` for a forged or expired token, `forbidden` for another application's. Needs no database. */
async function authorise(
  env: Env,
  application: AuthenticatedApplication,
  token: string,
  now: number,
): Promise<TokenClaims> {
  const claims = await readToken(token, settingsOf(env).TOKEN_SECRET);
  if (!claims) throw invalidRequest(fault('is not a token of this service'));
  if (claims.applicationId !== application.id) throw accessDenied();
  if (claims.expiresAt <= now) throw invalidRequest(fault('has expired, fetch a new one'));
  return claims;
}

/** Takes one event; answers its id once the queue has it, so that what is acknowledged is never lost. */
export async function takeEvent(
  env: Env,
  application: AuthenticatedApplication,
  envelope: EventEnvelope,
  header: string | undefined,
  now: number,
): Promise<string> {
  const claims = await authorise(env, application, envelope.creativeToken, now);
  const event = toEvent(envelope, {
    application,
    claims,
    keys: keysOfEnvelope(header, envelope),
    id: newId('evt'),
    now,
  });
  if (!(await enqueueEvent(env.EVENTS, event))) throw unavailable();
  return event.id;
}

export type ItemResult =
  | { index: number; event_id: string }
  | { index: number; error: string; details: Fault[] };

function rejected(index: number, error: unknown): ItemResult {
  if (!(error instanceof AppError)) throw error;
  return { index, error: error.message, details: error.details };
}

/**
 * Takes many events, each standing alone: a bad item does not keep a good one out. An item's own key goes before the
 * header's, which names the batch and so, with the item's index, the items that have none.
 * Throws `unavailable` when the queue took nothing; when it took a part, the rest are rejected with the advice to send again.
 */
export async function takeBatch(
  env: Env,
  application: AuthenticatedApplication,
  items: unknown[],
  header: string | undefined,
  now: number,
): Promise<ItemResult[]> {
  const claimsByToken = new Map<string, Promise<TokenClaims>>();
  const outcomes = await Promise.all(
    items.map(async (item, index): Promise<{ event: LoggedEvent } | { result: ItemResult }> => {
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
        const keys = own.length === 0 && header ? keysOfEnvelope(`${header}:${index}`, envelope) : own;
        return {
          event: toEvent(envelope, { application, claims: await claims, keys, id: newId('evt'), now }),
        };
      } catch (error) {
        return { result: rejected(index, error) };
      }
    }),
  );
  const events = outcomes.flatMap((outcome) => ('event' in outcome ? [outcome.event] : []));
  const taken = await enqueueEvents(env.EVENTS, events);
  if (events.length > 0 && taken.size === 0) throw unavailable();
  return outcomes.map((outcome, index) => {
    if ('result' in outcome) return outcome.result;
    if (taken.has(outcome.event.id)) return { index, event_id: outcome.event.id };
    return { index, error: 'Not taken for the moment, send this event again', details: [] };
  });
}
