import { and, asc, desc, eq, getTableColumns, gt, isNotNull, lt, lte, min, sql } from 'drizzle-orm';
import {
  deviceOf,
  type ObjectStore,
  type OutboundConsent,
  type OutboundItem,
  type OutboundPart,
  rewriteConsent,
  rewriteParts,
  toParameters,
  withConsent,
  withoutDevice,
} from '#counting';
import { isAmong } from '#db';
import { firstIdAt, idTime } from '#lib/ids';
import { earliest } from '#lib/time';
import type { Attempt, DeliveryFilter, Replay, StoredDelivery } from './api.ts';
import { deliveries, waitingParts } from './schema.ts';

const ROWS_AT_ONCE = 2_000;
/** Attempts that are kept of a delivery that is replayed again and again. */
const MAX_ATTEMPTS = 20;

const WAITING = { table: waitingParts, key: waitingParts.sequence, payload: waitingParts.payload };

/** An event that is to be sent, as it is stored. `part`: that of `waiting_parts` with it; null once it has a row of its own. */
export type Job = { item: OutboundItem; tries: number; attempts: Attempt[]; part: number | null };

/** What became of an event. */
export type Result = Pick<StoredDelivery, 'status' | 'reason' | 'dueAt'> & { job: Job };

/** Adds a part unless it waits already. */
export function addPart(
  store: ObjectStore,
  { id, payload }: { id: string; payload: string },
  now: number,
): void {
  store.insert(waitingParts).values({ id, payload, acceptedAt: now }).onConflictDoNothing().run();
}

/** Whether a part is about a device instead of events. */
export const isNotice = (payload: string): boolean =>
  payload.startsWith('{"erased"') || payload.startsWith('{"consent"');

export const readPart = (payload: string): OutboundPart => JSON.parse(payload);

/** The events of the next part after one; null if none waits. */
export function nextPart(store: ObjectStore, after: number): { part: number; items: OutboundItem[] } | null {
  const row = store
    .select({ part: waitingParts.sequence, payload: waitingParts.payload })
    .from(waitingParts)
    .where(gt(waitingParts.sequence, after))
    .orderBy(asc(waitingParts.sequence))
    .limit(1)
    .get();
  if (!row) return null;
  const part = readPart(row.payload);
  return { part: row.part, items: 'events' in part ? part.events : [] };
}

export const dropPart = (store: ObjectStore, part: number): void => {
  store.delete(waitingParts).where(eq(waitingParts.sequence, part)).run();
};

/** Which of these events have a row. */
export function knownAmong(store: ObjectStore, ids: readonly string[]): Set<string> {
  const rows = store.values<[id: string]>(
    sql`SELECT ${deliveries.eventId} FROM json_each(${JSON.stringify(ids)}) AS wanted
      CROSS JOIN ${deliveries} ON ${deliveries.eventId} = wanted.value`,
  );
  return new Set(rows.map(([id]) => id));
}

/** Deliveries that are due, the longest due first. */
export function dueJobs(
  store: ObjectStore,
  now: number,
  limit: number,
  isBusy: (eventId: string) => boolean,
): Job[] {
  return store
    .select({
      id: deliveries.eventId,
      ...{ item: deliveries.item, tries: deliveries.tries, attempts: deliveries.attempts },
    })
    .from(deliveries)
    .where(and(isNotNull(deliveries.dueAt), lte(deliveries.dueAt, now)))
    .orderBy(asc(deliveries.dueAt))
    .limit(limit)
    .all()
    .filter(({ id }) => !isBusy(id))
    .map(({ item, tries, attempts }) => ({
      ...{ item: JSON.parse(item), tries, attempts: JSON.parse(attempts), part: null },
    }));
}

/** When the next delivery is due; null if none is. */
export const nextDueAt = (store: ObjectStore): number | null =>
  store
    .select({ at: min(deliveries.dueAt) })
    .from(deliveries)
    .where(isNotNull(deliveries.dueAt))
    .get()?.at ?? null;

export const hasWaiting = (store: ObjectStore): boolean =>
  store.select({ part: waitingParts.sequence }).from(waitingParts).limit(1).get() !== undefined;

/** An attempt without what takes the most space. */
const terseAttempt = (attempt: Attempt): Attempt => ({
  ...attempt,
  request: { ...attempt.request, headers: {}, body: null },
  answer: '',
});

/** The attempts that are kept. `isTerse`: only the last of a delivery that is tried again, and requests and answers only of what has failed for good. */
function keptAttempts({ job: { attempts }, status }: Result, isTerse: boolean): Attempt[] {
  const kept = attempts.slice(status === 'pending' && isTerse ? -1 : -MAX_ATTEMPTS);
  if (!isTerse) return kept;
  const whole = status === 'failed' ? kept.at(-1) : null;
  return kept.map((attempt) => (attempt === whole ? attempt : terseAttempt(attempt)));
}

/** Stores what became of events. `isTerse`: see `Space`. Call it in a transaction. */
export function saveResults(store: ObjectStore, results: readonly Result[], isTerse: boolean): void {
  const rows = results.map((result) => {
    const { job, status, reason, dueAt } = result;
    const { item, tries } = job;
    const own = [item.event.id, deviceOf(item), item.type, status, reason, dueAt, tries];
    return [...own, JSON.stringify(item), JSON.stringify(keptAttempts(result, isTerse))];
  });
  for (const parameter of toParameters(rows)) {
    store.run(sql`INSERT INTO ${deliveries}
      SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8
      FROM json_each(${parameter}) WHERE true
      ON CONFLICT (event_id) DO UPDATE SET status = excluded.status, reason = excluded.reason, due_at = excluded.due_at,
        tries = excluded.tries, attempts = excluded.attempts`);
  }
}

/** Forgets a device: its deliveries, and its events that wait. Call it in a transaction. */
export function eraseDevice(store: ObjectStore, deviceId: string): void {
  store.delete(deliveries).where(eq(deliveries.deviceId, deviceId)).run();
  rewriteParts(store, WAITING, deviceId, (part) => withoutDevice(part, deviceId));
}

/** Keeps the choices of a device for its events that were not sent, or may be sent again. Call it in a transaction. */
export function keepConsent(store: ObjectStore, told: OutboundConsent): void {
  const own = eq(deliveries.deviceId, told.deviceId);
  const rows = store
    .select({ eventId: deliveries.eventId, item: deliveries.item })
    .from(deliveries)
    .where(own)
    .all();
  for (const { eventId, item } of rows) {
    store
      .update(deliveries)
      .set({ item: JSON.stringify(withConsent(JSON.parse(item), told)) })
      .where(eq(deliveries.eventId, eventId))
      .run();
  }
  rewriteConsent(store, WAITING, told);
}

/** The newest first, before the event with an id. */
export function listDeliveries(
  store: ObjectStore,
  { status, eventId }: DeliveryFilter,
  before: string,
  limit: number,
): StoredDelivery[] {
  const { item: _, deviceId: __, tries: ___, ...shown } = getTableColumns(deliveries);
  return store
    .select(shown)
    .from(deliveries)
    .where(
      and(
        before === '' ? undefined : lt(deliveries.eventId, before),
        eventId === undefined ? undefined : eq(deliveries.eventId, eventId),
        status === undefined ? undefined : eq(deliveries.status, status),
      ),
    )
    .orderBy(desc(deliveries.eventId))
    .limit(limit)
    .all()
    .map((row) => ({ ...row, attempts: JSON.parse(row.attempts) }));
}

/** Makes deliveries due, some at a time. Returns how many, and the id after which to continue; null at the end. */
export function replaySome(
  store: ObjectStore,
  what: Replay,
  after: string,
  now: number,
): { replayed: number; through: string | null } {
  const isMeant =
    'eventId' in what
      ? eq(deliveries.eventId, what.eventId)
      : and(
          sql`${deliveries.eventId} >= ${firstIdAt('evt', what.from)}`,
          lt(deliveries.eventId, firstIdAt('evt', what.to)),
          what.status === 'all' ? undefined : eq(deliveries.status, what.status),
        );
  const ids = store
    .select({ id: deliveries.eventId })
    .from(deliveries)
    .where(and(isMeant, gt(deliveries.eventId, after)))
    .orderBy(asc(deliveries.eventId))
    .limit(ROWS_AT_ONCE)
    .all()
    .map(({ id }) => id);
  store
    .update(deliveries)
    .set({ status: 'pending', reason: null, dueAt: now, tries: 0 })
    .where(isAmong(deliveries.eventId, ids))
    .run();
  return { replayed: ids.length, through: ids.length < ROWS_AT_ONCE ? null : (ids.at(-1) ?? null) };
}

/** What waits: see `DestinationHealth`. */
export function readWaiting(store: ObjectStore): { pending: number; oldestAt: number | null } {
  const pending = store
    .select({ count: sql<number>`count(*)`, first: min(deliveries.eventId) })
    .from(deliveries)
    .where(eq(deliveries.status, 'pending'))
    .get();
  const acceptedAt = store
    .select({ at: min(waitingParts.acceptedAt) })
    .from(waitingParts)
    .get()?.at;
  const createdAt = pending?.first ? idTime(pending.first) : null;
  return { pending: pending?.count ?? 0, oldestAt: earliest(createdAt, acceptedAt) };
}
