import { and, desc, eq, gt, gte, lt, lte, sql } from 'drizzle-orm';
import {
  type DeviceEvent,
  deviceIdIn,
  EVENT_DIMENSIONS,
  isOfDevice,
  keepsKeys,
  type LoggedEvent,
  ofDimensions,
} from '#catalogue';
import { isAmong } from '#db';
import { type CountingResult, type EventFilter, matches, type StoredEvent } from '#lake';
import { idAfter, idToBytes } from '#lib/ids';
import { PARK_REASON, reasonToIgnore } from '#rollup';
import type { AppendedStatus, EventOutcome, LogPage } from '../api.ts';
import { withPlaces } from '../devices/device-places.ts';
import { findKnown } from '../devices/devices.ts';
import { isErased } from '../devices/unknown-devices.ts';
import { hexOfText } from '../keys/hashed-rows.ts';
import { findPurchases } from '../keys/purchase-keys.ts';
import { isTakenOver } from '../keys/shared-transactions.ts';
import { type CounterLog, progressOf, textOf, unpackEvents } from '../log.ts';
import { oldestInOutbox } from '../outbox/outbox.ts';
import { log, logOutcomes, revokedTokens } from '../schema.ts';
import type { ObjectStore } from '../store.ts';
import { filesOfEvent } from './file-index.ts';

/** The largest amount of the log that one call reads, unless batches overlap in time. */
const MAX_CHARACTERS = 8_000_000;

/** See `CounterApi.readLog`. */
export function readLog(
  store: ObjectStore,
  applicationId: string,
  filter: EventFilter,
  before: string | null,
  limit: number,
): LogPage {
  const isBefore = (id: string) => before === null || id < before;
  const heads = store
    .select({ batch: log.batch, lastEventId: log.lastEventId })
    .from(log)
    .where(before === null ? undefined : lt(log.firstEventId, before))
    .orderBy(desc(log.lastEventId))
    .all();
  // Filter by the events' own fields first, so that fewer devices have to be looked up.
  const ofEvents = { ...filter, segment: ofDimensions(EVENT_DIMENSIONS, (name) => filter.segment?.[name]) };
  let found: StoredEvent[] = [];
  let characters = 0;
  for (const [index, { batch }] of heads.entries()) {
    const text = textOf(store, batch);
    characters += text.length;
    const own = unpackEvents(applicationId, text).filter((event) => event !== null);
    const wanted = own.filter(
      (event) => isBefore(event.id) && !isTakenOver(event) && matches(event, ofEvents),
    );
    found.push(...withPlaces(store, wanted).filter((event) => matches(event, filter)));
    // Batches overlap in time. Newer events than the newest one of the remaining batches are complete.
    const horizon = heads[index + 1]?.lastEventId;
    if (horizon === undefined) break;
    const next = idAfter(horizon);
    if (isBefore(next)) {
      const complete = found.filter(({ id }) => id > horizon);
      if (complete.length >= limit || characters >= MAX_CHARACTERS) return cut(complete, limit, next);
    }
    if (found.length > 4 * limit) found = found.sort(newestFirst).slice(0, 2 * limit);
  }
  return cut(found, limit, null);
}

const newestFirst = (left: LoggedEvent, right: LoggedEvent) => (left.id < right.id ? 1 : -1);

function cut(found: StoredEvent[], limit: number, through: string | null): LogPage {
  const events = found.sort(newestFirst).slice(0, limit);
  const last = events.at(-1);
  return { events, through: found.length > limit && last ? last.id : through };
}

/** See `CounterApi.eventStatus`. */
export function eventStatus(
  { store, applicationId, seen }: CounterLog,
  eventId: string,
): AppendedStatus | null {
  const batch = seen.batchOf(idToBytes(eventId));
  const row =
    batch === null ? rowOfUnseen(store, eventId) : store.select().from(log).where(eq(log.batch, batch)).get();
  if (!row) {
    const files = filesOfEvent(store, eventId);
    return batch === null && files.length === 0
      ? null
      : { status: 'exported', files, wasTaken: batch !== null };
  }
  const events = unpackEvents(applicationId, row.events);
  const index = events.findIndex((event) => event?.id === eventId);
  const event = events[index];
  if (!event) return { status: 'erased' };
  const [shown = null] = withPlaces(store, [event]);
  const { countedBatch, countedAt } = progressOf(store);
  const { appendedAt } = row;
  const queued = { status: 'queued', appendedAt, event: shown } as const;
  if (row.batch > countedBatch) return queued;
  const outcome = outcomesOf(store, [row.batch]).get(row.batch)?.[index];
  const result = outcome ? countingResultOf(store, event, outcome) : {};
  // Events in the outbox are not in reports yet. That of an unknown device is nowhere else, and may wait for long.
  const isWritten = appendedAt < (oldestInOutbox(store) ?? Number.POSITIVE_INFINITY);
  if (!isWritten && result.reason !== PARK_REASON.unknownDevice) return queued;
  return { status: outcome ?? 'counted', appendedAt, countedBy: countedAt, event: shown, result };
}

/** The row of an install, which is appended with its device, so that its id is not among those that were seen. */
const rowOfUnseen = (store: ObjectStore, eventId: string) =>
  store
    .select()
    .from(log)
    .where(
      and(
        lte(log.firstEventId, eventId),
        gte(log.lastEventId, eventId),
        gt(sql`instr(${log.events}, ${JSON.stringify(eventId)})`, 0),
      ),
    )
    .get();

/** The outcome that a file records for an event that was not counted. */
export function countingResultOf(
  store: ObjectStore,
  event: LoggedEvent,
  outcome: EventOutcome,
): CountingResult {
  const id = deviceIdIn(event);
  if (id === '') return { outcome };
  const device = findKnown(store, [id]).get(id);
  if (outcome === 'parked') {
    const isUnknown = !device && !isErased(store, id);
    return isUnknown ? { outcome, reason: PARK_REASON.unknownDevice } : { outcome };
  }
  if (!isOfDevice(event)) return { outcome };
  if (outcome === 'duplicate') {
    const first = firstPurchase(store, event);
    return first ? { outcome, duplicate_of: first } : { outcome };
  }
  const revoked = store
    .select({ at: revokedTokens.revokedAt })
    .from(revokedTokens)
    .where(eq(revokedTokens.tokenId, event.token_id ?? ''))
    .get();
  const isTest = !device && event.test === true && !isErased(store, event.device_id);
  const reason = isTest ? 'test event' : reasonToIgnore(event, device ?? 'erased', revoked?.at);
  return reason ? { outcome, reason } : { outcome };
}

/** The purchase that was counted under one of an event's keys. Other kinds' keys are stored only as hashes. */
function firstPurchase(store: ObjectStore, event: DeviceEvent): string | undefined {
  if (!keepsKeys(event)) return undefined;
  const hashes = (event.keys ?? []).map(hexOfText);
  for (const [, eventId] of findPurchases(store, hashes)) if (eventId !== event.id) return eventId;
  return undefined;
}

export function outcomesOf(
  store: ObjectStore,
  batches: readonly number[],
): Map<number, Record<number, EventOutcome>> {
  const rows = store.select().from(logOutcomes).where(isAmong(logOutcomes.batch, batches)).all();
  return new Map(rows.map(({ batch, outcomes }) => [batch, JSON.parse(outcomes)]));
}

type BlankedEvent = { id: string; device_id?: string; type?: string };

/**
 * Replaces the events of a device, or a single event by id, with null in the counted part of the hot log. Returns them. Events that are not
 * counted yet are kept.
 */
export function blankEvents(store: ObjectStore, id: string): BlankedEvent[] {
  const isMeant = (event: BlankedEvent | null): event is BlankedEvent =>
    event !== null && (event.id === id || event.device_id === id);
  const rows = store
    .select({ batch: log.batch })
    .from(log)
    .where(
      and(
        lt(log.batch, progressOf(store).countedBatch + 1),
        id.startsWith('evt_')
          ? and(sql`${log.firstEventId} <= ${id}`, sql`${log.lastEventId} >= ${id}`)
          : sql`instr(${log.events}, ${id}) > 0`,
      ),
    )
    .all();
  const blanked: BlankedEvent[] = [];
  for (const { batch } of rows) {
    const events: (BlankedEvent | null)[] = JSON.parse(textOf(store, batch));
    const own = events.filter(isMeant);
    if (own.length === 0) continue;
    blanked.push(...own);
    store
      .update(log)
      .set({ events: JSON.stringify(events.map((event) => (isMeant(event) ? null : event))) })
      .where(eq(log.batch, batch))
      .run();
  }
  return blanked;
}

/**
 * Leaves of a batch's events of some devices only what recognises them: their ids, type and times, by which their status is known. Call it in the
 * transaction that counts the batch.
 */
export function reduceEvents(store: ObjectStore, batch: number, deviceIds: ReadonlySet<string>): void {
  const events: (Partial<DeviceEvent> | null)[] = JSON.parse(textOf(store, batch));
  const reduced = events.map((event) => {
    if (!event?.device_id || !deviceIds.has(event.device_id)) return event;
    const { id, device_id, shard, type, acquired_day, day, occurred_at, received_at } = event;
    return { id, device_id, shard, creative_id: null, type, acquired_day, day, occurred_at, received_at };
  });
  store
    .update(log)
    .set({ events: JSON.stringify(reduced) })
    .where(eq(log.batch, batch))
    .run();
}
