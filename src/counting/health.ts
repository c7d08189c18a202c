import { count, desc, max } from 'drizzle-orm';
import { UNKNOWN_SEGMENT } from '#catalogue';
import { earliest, MINUTE_MS } from '#lib/time';
import { listImplausible } from './amounts/amount-book.ts';
import type { CounterHealth, NewDevice, PackedRow } from './api.ts';
import { countHeld, oldestHeld } from './credits/open-credits.ts';
import { insertDevice } from './devices/devices.ts';
import { hotEventsIn } from './files/export.ts';
import { appendSome, type Pending, progressOf } from './log.ts';
import { oldestInOutbox } from './outbox/outbox.ts';
import { devices, log, outbox, seenIds } from './schema.ts';
import type { ObjectStore } from './store.ts';

const NEWEST_BATCHES = 50;

const TRIAL_ROW: PackedRow = {
  count: 1,
  ids: new Uint8Array(16),
  events: '[null]',
  keys: new Uint8Array(),
  devices: new Uint8Array(12),
  receivedAt: 0,
};
const TRIAL_DEVICE: NewDevice = {
  id: '',
  acquiredDay: '',
  creativeId: null,
  acquiredAt: 0,
  attribution: '{}',
  description: {
    deviceName: '',
    deviceModel: '',
    osSystem: '',
    timezone: '',
    segment: UNKNOWN_SEGMENT,
    countrySource: null,
    dpi: null,
    windowHeight: null,
    windowWidth: null,
    test: false,
  },
};

/** When the oldest event came that is not in D1 yet, also if it waits for a credit; null if all are. */
const oldestPendingAt = (store: ObjectStore, pending: Pending): number | null =>
  earliest(pending.oldestAt, oldestInOutbox(store), oldestHeld(store));

/** See `Settled`. */
export function countedThrough(store: ObjectStore, pending: Pending, now: number): number {
  const oldestAt = oldestPendingAt(store, pending);
  // Restored credits wait until a later time.
  return oldestAt === null ? now : Math.min(now, oldestAt - 1);
}

class Rollback extends Error {}

const REFUSES =
  'Counting accepts neither events nor devices; what was accepted waits in the queue and is retried.';

export const RESTORING = 'The application is being restored; events wait in the queue and are retried.';

/** Why the store accepts neither events nor devices; null if it does. Finds out by writing both, and keeps nothing. */
export function appendError(storage: DurableObjectStorage, store: ObjectStore): string | null {
  try {
    storage.transactionSync(() => {
      appendSome(store, { applicationId: '', rows: [TRIAL_ROW] }, [0], 0);
      insertDevice(store, '', TRIAL_DEVICE);
      throw new Rollback();
    });
    return null;
  } catch (error) {
    return error instanceof Rollback ? null : REFUSES;
  }
}

/** The part of `CounterHealth` that is in storage. */
export function readHealth(
  store: ObjectStore,
  pending: Pending,
  now: number,
): Omit<CounterHealth, 'appendError' | 'flushError' | 'hasGap' | 'exportError' | 'bytes'> {
  const { sequence, lostAt, unknownEvents } = progressOf(store);
  const newest = store
    .select({ appendedAt: log.appendedAt, receivedAt: log.receivedAt })
    .from(log)
    .orderBy(desc(log.batch))
    .limit(NEWEST_BATCHES)
    .all();
  return {
    pending: pending.events + countHeld(store),
    oldestPendingAt: oldestPendingAt(store, pending),
    countedThrough: countedThrough(store, pending, now),
    lastAppendedAt: newest[0]?.appendedAt ?? lastMintedAt(store),
    slowestMs: newest.length === 0 ? null : Math.max(...newest.map((row) => row.appendedAt - row.receivedAt)),
    outbox: store.select({ n: count() }).from(outbox).get()?.n ?? 0,
    sequence,
    isLost: lostAt !== null,
    unknownEvents,
    devices: store.select({ n: count() }).from(devices).get()?.n ?? 0,
    hotEvents: hotEventsIn(store),
    implausible: listImplausible(store),
  };
}

/** When the newest event was minted, to the minute, including events already exported to R2. */
function lastMintedAt(store: ObjectStore): number | null {
  const minute = store
    .select({ minute: max(seenIds.minute) })
    .from(seenIds)
    .get()?.minute;
  return minute == null ? null : minute * MINUTE_MS;
}
