import { Buffer } from 'node:buffer';
import { asc, eq, gt, sql } from 'drizzle-orm';
import type { LoggedEvent } from '#catalogue';
import { chunksBySize, chunksOf } from '#lib/collections/chunks';
import { idFromBytes, idToBytes } from '#lib/ids';
import type { Steps } from '#lib/steps';
import { type EventWithText, eventText } from '#rollup';
import type { PackedBatch, PackedRow } from './api.ts';
import { DEVICE_WORDS, deviceWordsOf, KEY_WORDS, keyWordsOf, withWords, wordsOf } from './pack.ts';
import { log, progress } from './schema.ts';
import type { SeenIds } from './seen-ids.ts';
import { readCounterName } from './shards.ts';
import { type ObjectStore, perStore } from './store.ts';

/** A value may have 2 MB, and a character takes at most three bytes. */
const MAX_ROW_CHARACTERS = 600_000;
const MAX_ROW_EVENTS = 1_000;

/** Packs events of one application for its counter. Ids must come from `newId`. */
export const packEvents = (applicationId: string, events: readonly LoggedEvent[]): PackedBatch =>
  packTexts(
    applicationId,
    events.map((event) => ({ event, text: eventText(event) })),
  );

/** As `packEvents`, for events whose texts are known. */
export function packTexts(applicationId: string, events: readonly EventWithText[]): PackedBatch {
  const rows = chunksBySize(events, MAX_ROW_CHARACTERS, ({ text }) => text.length + 1).flatMap((own) =>
    Array.from(chunksOf(own, MAX_ROW_EVENTS), packRow),
  );
  return { applicationId, rows };
}

/** The events of a row, complete with the values that the row stores separately; null for events of erased devices. */
export function unpackEvents(applicationId: string, events: string): (LoggedEvent | null)[] {
  const unpacked: (LoggedEvent | null)[] = JSON.parse(events);
  for (const event of unpacked) if (event) event.application_id = applicationId;
  return unpacked;
}

function packRow(packed: readonly EventWithText[]): PackedRow {
  const events = packed.map(({ event }) => event);
  const ids = new Uint8Array(events.length * 16);
  let receivedAt = Number.POSITIVE_INFINITY;
  for (const [index, event] of events.entries()) {
    ids.set(idToBytes(event.id), index * 16);
    receivedAt = Math.min(receivedAt, event.received_at);
  }
  return {
    count: events.length,
    ids,
    events: `[${packed.map(({ text }) => text).join(',')}]`,
    ...wordsOf(events),
    receivedAt,
  };
}

/** What waits to be counted; `oldestAt` is when the first of it was appended. */
export type Pending = { events: number; oldestAt: number | null };

const { placeholder } = sql;

// The number of a batch is never reused, even if all counted ones were exported.
const last = sql<number>`max(${progress.countedBatch}, (SELECT coalesce(max(${log.batch}), 0) FROM ${log}))`;

const ofBatch = eq(log.batch, placeholder('batch'));

/** Prepared, because a log of small batches is written and read with many of them. */
const statementsOf = perStore((store) => ({
  lastBatch: store.select({ batch: last }).from(progress).prepare(),
  shards: store.select({ shards: progress.shards }).from(progress).prepare(),
  insert: store
    .insert(log)
    .values({
      // Null for the next one.
      batch: sql`coalesce(${placeholder('batch')}, (SELECT 1 + ${last} FROM ${progress}))`,
      eventCount: placeholder('eventCount'),
      appendedAt: placeholder('appendedAt'),
      receivedAt: placeholder('receivedAt'),
      firstEventId: placeholder('firstEventId'),
      lastEventId: placeholder('lastEventId'),
      keys: placeholder('keys'),
      devices: placeholder('devices'),
      events: placeholder('events'),
    })
    .prepare(),
  keys: store.select({ keys: log.keys }).from(log).where(ofBatch).prepare(),
  devices: store.select({ devices: log.devices }).from(log).where(ofBatch).prepare(),
  events: store.select({ events: log.events }).from(log).where(ofBatch).prepare(),
}));

export const lastBatch = (store: ObjectStore): number => statementsOf(store).lastBatch.get()?.batch ?? 0;

/** The largest number of the application's shards that the counter has seen. */
export const shardsIn = (store: ObjectStore): number => statementsOf(store).shards.get()?.shards ?? 1;

/** How many counters the application has, as far as this one knows. It knows of those before it, and of those that told it of themselves. */
export function knownShards(store: ObjectStore): number {
  const { name, shards } = progressOf(store);
  return Math.max(shards, readCounterName(name).shard + 1);
}

export function progressOf(store: ObjectStore): typeof progress.$inferSelect {
  const row = store.select().from(progress).get();
  if (!row) throw new Error('The counter has no progress row');
  return row;
}

/** What waits after a batch. */
export function pendingIn(store: ObjectStore, countedBatch: number): Pending {
  const row = store
    .select({
      events: sql<number>`coalesce(sum(${log.eventCount}), 0)`,
      oldestAt: sql<number | null>`min(${log.appendedAt})`,
    })
    .from(log)
    .where(gt(log.batch, countedBatch))
    .get();
  return row ?? { events: 0, oldestAt: null };
}

/** Appends the events whose ids were not appended before, and returns how many. Call it in a transaction. */
export function appendFresh(store: ObjectStore, seen: SeenIds, batch: PackedBatch, now: number): number {
  let next = lastBatch(store);
  let appended = 0;
  for (const row of batch.rows) {
    const fresh = seen.addAll(row.ids, next + 1);
    if (fresh.length === 0) continue;
    const values = rowValues(fresh.length === row.count ? row : pickEvents(row, fresh), now);
    statementsOf(store).insert.run({ batch: ++next, ...values });
    appended += fresh.length;
  }
  return appended;
}

/** What events are appended to: the log of a counter, and the ids that it has seen. */
export type CounterLog = { store: ObjectStore; seen: SeenIds; applicationId: string };

/** `appendFresh` for events that were not sent to the counter as a batch. */
export const appendEvents = (
  { store, seen, applicationId }: CounterLog,
  events: readonly LoggedEvent[],
  now: number,
): number => appendFresh(store, seen, packEvents(applicationId, events), now);

/** Appends the events with these indexes, in ascending order, without checking their ids: the caller excludes duplicates otherwise. */
export function appendSome(
  store: ObjectStore,
  batch: PackedBatch,
  indexes: readonly number[],
  now: number,
): void {
  let first = 0;
  for (const row of batch.rows) {
    const own = indexes.flatMap((index) =>
      index >= first && index < first + row.count ? [index - first] : [],
    );
    first += row.count;
    if (own.length === 0) continue;
    const values = rowValues(own.length === row.count ? row : pickEvents(row, own), now);
    statementsOf(store).insert.run({ batch: null, ...values });
  }
}

/** The columns of a row except its batch. */
function rowValues({ count, ids, keys, devices, events, receivedAt }: PackedRow, now: number) {
  return {
    eventCount: count,
    appendedAt: now,
    receivedAt,
    ...idRange(ids),
    keys: Buffer.from(keys),
    devices: Buffer.from(devices),
    events,
  };
}

/** The smallest and largest of ids with 16 bytes each. */
function idRange(ids: Uint8Array): { firstEventId: string; lastEventId: string } {
  const view = new DataView(ids.buffer, ids.byteOffset, ids.byteLength);
  const isSmaller = (left: number, right: number): boolean => {
    // Word by word, because a `compare` of the bytes takes several times as long.
    for (let byte = 0; byte < 16; byte += 4) {
      const [own, other] = [view.getUint32(left + byte), view.getUint32(right + byte)];
      if (own !== other) return own < other;
    }
    return false;
  };
  let [first, last] = [0, 0];
  for (let at = 16; at < ids.length; at += 16) {
    if (isSmaller(at, first)) first = at;
    else if (isSmaller(last, at)) last = at;
  }
  const idAt = (at: number) => idFromBytes('evt', ids.subarray(at, at + 16));
  return { firstEventId: idAt(first), lastEventId: idAt(last) };
}

/** The row with only the events at these indexes. */
function pickEvents(row: PackedRow, indexes: readonly number[]): PackedRow {
  const events: unknown[] = JSON.parse(row.events);
  const places = new Map(indexes.map((index, place) => [index, place]));
  const words: number[] = [];
  const keys = keyWordsOf(row, () => row.events);
  for (let at = 0; at < keys.length; at += KEY_WORDS) {
    const place = places.get(keys[at] ?? 0);
    if (place !== undefined) words.push(place, ...keys.subarray(at + 1, at + KEY_WORDS));
  }
  const devices = deviceWordsOf(row, () => row.events);
  const picked = indexes.flatMap((index) => [
    ...devices.subarray(index * DEVICE_WORDS, (index + 1) * DEVICE_WORDS),
  ]);
  const text = JSON.stringify(indexes.map((index) => events[index]));
  return withWords(
    { ...row, count: indexes.length, events: text },
    Uint32Array.from(words),
    Uint32Array.from(picked),
  );
}

/** A batch of the log without its events; `keys`: see `pack.ts`. */
export type Head = { batch: number; eventCount: number; appendedAt: number; keys: Uint32Array };

/** The number of batches read to find where a run ends. */
const MAX_BATCHES = 4_000;
const BATCHES_PER_STEP = 100;
/** The limit for a run's hashed keys: about 350,000. */
const MAX_KEY_BYTES = 8_400_000;

/** The batches of the next run, in order: at least one if any waits, but no more than contain `limit` events. */
export function* nextHeads(store: ObjectStore, limit: number): Steps<Head[]> {
  const rows = store
    .select({
      batch: log.batch,
      eventCount: log.eventCount,
      appendedAt: log.appendedAt,
      keyBytes: sql<number>`length(${log.keys})`,
    })
    .from(log)
    .where(gt(log.batch, sql`(SELECT ${progress.countedBatch} FROM ${progress})`))
    .orderBy(asc(log.batch))
    .limit(MAX_BATCHES)
    .all();
  const chosen: Head[] = [];
  let [events, keyBytes] = [0, 0];
  for (const { keyBytes: own, ...row } of rows) {
    events += row.eventCount;
    keyBytes += own;
    if (chosen.length > 0 && (events > limit || keyBytes > MAX_KEY_BYTES)) break;
    chosen.push({ ...row, keys: readKeyWords(store, row.batch) });
    if (chosen.length % BATCHES_PER_STEP === 0) yield;
  }
  return chosen;
}

/** The events of a batch; null for an erased device's. */
export function readBatch(store: ObjectStore, applicationId: string, batch: number): (LoggedEvent | null)[] {
  return unpackEvents(applicationId, textOf(store, batch));
}

/** The JSON array of a batch's events; empty if the log does not have the batch. */
export const textOf = (store: ObjectStore, batch: number): string =>
  statementsOf(store).events.get({ batch })?.events ?? '[]';

/** The hashed keys of a batch's events: see `pack.ts`. */
export function readKeyWords(store: ObjectStore, batch: number): Uint32Array {
  const row = statementsOf(store).keys.get({ batch });
  return row ? keyWordsOf(row, () => textOf(store, batch)) : new Uint32Array();
}

/** The hashes of the devices of a batch's events: see `pack.ts`. */
export function readDeviceWords(store: ObjectStore, batch: number): Uint32Array {
  const row = statementsOf(store).devices.get({ batch });
  return row ? deviceWordsOf(row, () => textOf(store, batch)) : new Uint32Array();
}
