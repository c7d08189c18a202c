import { and, desc, eq, inArray, lt, sql } from 'drizzle-orm';
import { idToBytes } from '#lib/ids';
import { isOfDevice, type LoggedEvent } from '#rollup';
import type { AppendedStatus, ExportRange, LogFilter, LogPage, Outcome } from './api.ts';
import { log, logOutcomes, progress } from './schema.ts';
import type { SeenIds } from './seen-ids.ts';
import { unpackEvents } from './settle.ts';
import type { Store } from './store.ts';

/** What one call reads of the log at most, unless a single batch is larger. */
const MAX_CHARACTERS = 8_000_000;

function matches(filter: LogFilter, event: LoggedEvent): boolean {
  const { type, from, to, deviceId, tokenId, eventName, creativeId } = filter;
  if (type !== undefined && event.type !== type) return false;
  if (from !== undefined && event.occurred_at < from) return false;
  if (to !== undefined && event.occurred_at >= to) return false;
  if (creativeId !== undefined && event.creative_id !== creativeId) return false;
  if (eventName !== undefined && !(event.type === 'custom' && event.event_name === eventName)) return false;
  if (!isOfDevice(event)) return deviceId === undefined && tokenId === undefined;
  return (deviceId ?? event.device_id) === event.device_id && (tokenId ?? event.token_id) === event.token_id;
}

/** Hot raw events, newest first. The cursor is the batch and the index of the last event that was looked at. */
export function readLog(
  store: Store,
  applicationId: string,
  filter: LogFilter,
  cursor: string | null,
  limit: number,
): LogPage {
  const events: LoggedEvent[] = [];
  const after = readCursor(cursor);
  let [batch, before] = [after.batch, after.index];
  let characters = 0;
  while (characters < MAX_CHARACTERS) {
    const row = store
      .select({ batch: log.batch, events: log.events })
      .from(log)
      .where(lt(log.batch, batch + 1))
      .orderBy(desc(log.batch))
      .limit(1)
      .get();
    if (!row) return { events, nextCursor: null };
    const own = unpackEvents(applicationId, row.events);
    characters += row.events.length;
    for (
      let index = Math.min(own.length, row.batch === batch ? before : own.length) - 1;
      index >= 0;
      index--
    ) {
      const event = own[index];
      if (!event || !matches(filter, event)) continue;
      events.push(event);
      if (events.length === limit) return { events, nextCursor: `${row.batch}.${index}` };
    }
    [batch, before] = [row.batch - 1, Number.POSITIVE_INFINITY];
  }
  return { events, nextCursor: `${batch + 1}.0` };
}

function readCursor(cursor: string | null): { batch: number; index: number } {
  const match = /^(\d{1,15})\.(\d{1,6})$/.exec(cursor ?? '');
  if (!match) return { batch: Number.MAX_SAFE_INTEGER - 1, index: Number.POSITIVE_INFINITY };
  return { batch: Number(match[1]), index: Number(match[2]) };
}

/** Null for an event that is not among the ids that this counter remembers. */
export function eventStatus(
  store: Store,
  applicationId: string,
  seen: SeenIds,
  eventId: string,
): AppendedStatus | null {
  const batch = seen.batchOf(idToBytes(eventId));
  if (batch === null) return null;
  const row = store.select().from(log).where(eq(log.batch, batch)).get();
  if (!row) return { status: 'exported', appendedAt: null, event: null };
  const events = unpackEvents(applicationId, row.events);
  const index = events.findIndex((event) => event?.id === eventId);
  const appended = { appendedAt: row.appendedAt, event: events[index] ?? null };
  if (batch > countedBatch(store)) return { ...appended, status: 'queued' };
  return { ...appended, status: outcomesOf(store, [batch]).get(batch)?.[index] ?? 'counted' };
}

const countedBatch = (store: Store) =>
  store.select({ batch: progress.countedBatch }).from(progress).get()?.batch ?? 0;

function outcomesOf(store: Store, batches: readonly number[]): Map<number, Record<number, Outcome>> {
  const rows = store
    .select()
    .from(logOutcomes)
    .where(inArray(logOutcomes.batch, sql`(SELECT value FROM json_each(${JSON.stringify(batches)}))`))
    .all();
  return new Map(rows.map(({ batch, outcomes }) => [batch, JSON.parse(outcomes)]));
}

/** What leaves for R2: whatever was appended so long ago, and whatever is beyond so many newer events. */
export const EXPORT_AFTER_MS = 3_600_000;
export const MAX_HOT_EVENTS = 50_000;
/** A range becomes one file. */
const MAX_EXPORT_EVENTS = 20_000;
const MAX_EXPORT_CHARACTERS = 16_000_000;

/** The last batch of the next range to export; null when none is due. */
function nextExportBatch(store: Store, now: number): number | null {
  const rows = store.values<[number, number, number, number]>(sql`
    SELECT ${log.batch}, ${log.eventCount}, length(${log.events}), ${log.appendedAt} FROM ${log}
    WHERE ${log.batch} <= ${countedBatch(store)} ORDER BY ${log.batch}`);
  let newer =
    store.get<{ n: number }>(sql`SELECT coalesce(sum(${log.eventCount}), 0) AS n FROM ${log}`)?.n ?? 0;
  let [last, events, characters]: [number | null, number, number] = [null, 0, 0];
  for (const [batch, count, length, appendedAt] of rows) {
    newer -= count;
    events += count;
    characters += length;
    if (newer < MAX_HOT_EVENTS && appendedAt > now - EXPORT_AFTER_MS) break;
    if (last !== null && (events > MAX_EXPORT_EVENTS || characters > MAX_EXPORT_CHARACTERS)) break;
    last = batch;
  }
  return last;
}

/** See `CounterApi.takeForExport`. */
export function takeForExport(store: Store, applicationId: string, now: number): ExportRange | null {
  const taken = store.select({ batch: progress.exportBatch }).from(progress).get()?.batch ?? 0;
  const lastBatch = taken || nextExportBatch(store, now);
  if (!lastBatch) return null;
  if (!taken) store.update(progress).set({ exportBatch: lastBatch }).run();
  const rows = store
    .select({ batch: log.batch, events: log.events })
    .from(log)
    .where(lt(log.batch, lastBatch + 1))
    .orderBy(log.batch)
    .all();
  const outcomes = outcomesOf(
    store,
    rows.map(({ batch }) => batch),
  );
  const events = rows.flatMap(({ batch, events: packed }) =>
    unpackEvents(applicationId, packed).flatMap((event, index) => {
      if (!event) return [];
      const outcome = outcomes.get(batch)?.[index];
      return [outcome ? { event, outcome } : { event }];
    }),
  );
  return { firstBatch: rows[0]?.batch ?? lastBatch, lastBatch, events };
}

/** See `CounterApi.confirmExport`. */
export function confirmExport(store: Store, lastBatch: number): void {
  const taken = store.select({ batch: progress.exportBatch }).from(progress).get()?.batch ?? 0;
  if (taken !== lastBatch) return;
  store
    .delete(log)
    .where(lt(log.batch, lastBatch + 1))
    .run();
  store
    .delete(logOutcomes)
    .where(lt(logOutcomes.batch, lastBatch + 1))
    .run();
  store.update(progress).set({ exportBatch: 0 }).run();
}

/** Replaces a device's events, or the event of an id, in the hot log by null; answers how many. What is not counted yet stays. */
export function blankEvents(store: Store, id: string): number {
  const rows = store
    .select({ batch: log.batch })
    .from(log)
    .where(and(sql`instr(${log.events}, ${id}) > 0`, lt(log.batch, countedBatch(store) + 1)))
    .all();
  let blanked = 0;
  for (const { batch } of rows) {
    const row = store.select({ events: log.events }).from(log).where(eq(log.batch, batch)).get();
    const events: ({ id: string; device_id?: string } | null)[] = JSON.parse(row?.events ?? '[]');
    const kept = events.map((event) => (event?.device_id === id || event?.id === id ? null : event));
    blanked += kept.filter((event, index) => event === null && events[index] !== null).length;
    store
      .update(log)
      .set({ events: JSON.stringify(kept) })
      .where(eq(log.batch, batch))
      .run();
  }
  return blanked;
}
