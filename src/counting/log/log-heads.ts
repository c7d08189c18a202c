import { asc, eq, gt, sql } from 'drizzle-orm';
import type { LoggedEvent } from '#catalogue';
import type { Steps } from '#lib/steps';
import { deviceWordsOf, keyWordsOf, unpackEvents } from '../pack.ts';
import { log, progress } from '../schema.ts';
import { perStore, type Store } from '../store.ts';

/** A batch of the log without its events; `keys`: see `pack.ts`. */
export type Head = { batch: number; eventCount: number; appendedAt: number; keys: Uint32Array };

/** The number of batches read to find where a run ends. */
const MAX_BATCHES = 4_000;
const BATCHES_PER_STEP = 100;
/** The limit for a run's hashed keys: about 350,000. */
const MAX_KEY_BYTES = 8_400_000;

const { placeholder } = sql;

/** Prepared, because a log of small batches is read with many of them. */
const statementsOf = perStore((store) => {
  const own = eq(log.batch, placeholder('batch'));
  return {
    keys: store.select({ keys: log.keys }).from(log).where(own).prepare(),
    devices: store.select({ devices: log.devices }).from(log).where(own).prepare(),
    events: store.select({ events: log.events }).from(log).where(own).prepare(),
  };
});

/** The batches of the next run, in order: at least one if any waits, but no more than contain `limit` events. */
export function* nextHeads(store: Store, limit: number): Steps<Head[]> {
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
    const stored = statementsOf(store).keys.get({ batch: row.batch });
    const words = stored ? keyWordsOf(stored, () => textOf(store, row.batch)) : new Uint32Array();
    chosen.push({ ...row, keys: words });
    if (chosen.length % BATCHES_PER_STEP === 0) yield;
  }
  return chosen;
}

/** The events of a batch; null for an erased device's. */
export function readBatch(store: Store, applicationId: string, batch: number): (LoggedEvent | null)[] {
  return unpackEvents(applicationId, textOf(store, batch));
}

const textOf = (store: Store, batch: number): string =>
  statementsOf(store).events.get({ batch })?.events ?? '[]';

/** The hashes of the devices of a batch's events: see `pack.ts`. */
export function readDeviceWords(store: Store, batch: number): Uint32Array {
  const row = statementsOf(store).devices.get({ batch });
  return row ? deviceWordsOf(row, () => textOf(store, batch)) : new Uint32Array();
}
