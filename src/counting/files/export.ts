import { and, asc, gt, lte, sql } from 'drizzle-orm';
import type { FileEntry, StoredEvent } from '#lake';
import { DevicePlaces } from '../devices/device-places.ts';
import { isTakenOver } from '../keys/shared-transactions.ts';
import { progressOf, unpackEvents } from '../log.ts';
import { log, logOutcomes, progress } from '../schema.ts';
import { type ObjectStore, perStore } from '../store.ts';
import { eraseFromNewFiles } from './file-erasures.ts';
import { addFiles } from './file-index.ts';
import { countingResultOf, outcomesOf } from './log-reader.ts';

/** Events leave the hot log for R2 once they are this old, or once there are this many newer ones. */
const EXPORT_AFTER_MS = 3_000_000;
const MAX_HOT_EVENTS = 50_000;
/** A range becomes one file, or several if its events are large. */
const MAX_EXPORT_EVENTS = 50_000;
const MAX_EXPORT_BYTES = 32_000_000;

export const hotEventsIn = (store: ObjectStore): number =>
  store
    .select({ n: sql<number>`coalesce(sum(${log.eventCount}), 0)` })
    .from(log)
    .get()?.n ?? 0;

/** When the next range is due, in epoch milliseconds; null if the hot log has no counted events. */
export function exportDueAt(store: ObjectStore, hotEvents: number, now: number): number | null {
  const first = store
    .select({ batch: log.batch, appendedAt: log.appendedAt })
    .from(log)
    .orderBy(asc(log.batch))
    .limit(1)
    .get();
  const { countedBatch, exportBatch } = progressOf(store);
  if (!first || first.batch > countedBatch) return null;
  return exportBatch > 0 || hotEvents > MAX_HOT_EVENTS ? now : first.appendedAt + EXPORT_AFTER_MS;
}

/**
 * The last batch of the next range: counted, and old or beyond the newest events. Null if none is due. Every call returns the same range until it
 * is confirmed.
 */
export function takeRange(store: ObjectStore, hotEvents: number, now: number): number | null {
  const { countedBatch, exportBatch } = progressOf(store);
  if (exportBatch > 0) return exportBatch;
  const rows = store
    .select({
      batch: log.batch,
      count: log.eventCount,
      // Known without reading the value, unlike its length in characters.
      bytes: sql<number>`octet_length(${log.events})`,
      appendedAt: log.appendedAt,
    })
    .from(log)
    .where(lte(log.batch, countedBatch))
    .orderBy(asc(log.batch))
    .limit(MAX_EXPORT_EVENTS)
    .all();
  let [last, events, bytes]: [number | null, number, number] = [null, 0, 0];
  for (const row of rows) {
    events += row.count;
    bytes += row.bytes;
    if (hotEvents - events < MAX_HOT_EVENTS && row.appendedAt > now - EXPORT_AFTER_MS) break;
    if (last !== null && (events > MAX_EXPORT_EVENTS || bytes > MAX_EXPORT_BYTES)) break;
    last = row.batch;
  }
  if (last !== null) store.update(progress).set({ exportBatch: last }).run();
  return last;
}

/** The first row after a batch. */
const nextRow = perStore((store) =>
  store
    .select({ batch: log.batch, events: log.events })
    .from(log)
    .where(gt(log.batch, sql.placeholder('batch')))
    .orderBy(asc(log.batch))
    .limit(1)
    .prepare(),
);

/** The batches of the log up to one, with their events in the form stored in files. Events of erased devices are left out. */
export function* eventsThrough(
  store: ObjectStore,
  applicationId: string,
  lastBatch: number,
): Generator<{ batch: number; events: StoredEvent[] }> {
  const places = new DevicePlaces(store);
  for (let batch = 0; ; ) {
    const row = nextRow(store).get({ batch });
    if (!row || row.batch > lastBatch) return;
    batch = row.batch;
    const outcomes = outcomesOf(store, [batch]).get(batch) ?? {};
    const events: StoredEvent[] = [];
    for (const [index, event] of unpackEvents(applicationId, row.events).entries()) {
      if (!event || isTakenOver(event)) continue;
      const outcome = outcomes[index];
      events.push(outcome ? { ...event, ...countingResultOf(store, event, outcome) } : event);
    }
    yield { batch, events: places.addTo(events) };
  }
}

/**
 * Lists the files of a range that are now in R2, and removes what they have from the hot log: its batches up to `through`. Call it in a
 * transaction.
 */
export function confirmRange(
  store: ObjectStore,
  range: { last: number; through: number },
  entries: readonly FileEntry[],
  now: number,
): void {
  const { last, through } = range;
  if (progressOf(store).exportBatch !== last) return;
  addFiles(store, entries, { exportedAt: now, throughBatch: through });
  eraseFromNewFiles(store, entries, last);
  dropBetween(store, 0, through);
  store.update(progress).set({ exportBatch: 0 }).run();
}

/** Removes the batches of the log after one and through another, whose events are counted and in files. Call it in a transaction. */
export function dropBetween(store: ObjectStore, after: number, through: number): void {
  for (const table of [log, logOutcomes]) {
    store
      .delete(table)
      .where(and(gt(table.batch, after), lte(table.batch, through)))
      .run();
  }
}
