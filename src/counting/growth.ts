import { eq } from 'drizzle-orm';
import { applications, database } from '#db';
import { progressOf } from './log.ts';
import { progress } from './schema.ts';
import { MAX_SHARDS, raiseShards } from './shards.ts';
import type { ObjectStore } from './store.ts';

/** Beyond these limits, an application's new devices are spread over twice as many counters. */
export type GrowthLimits = { eventsPerSecond: number; bytes: number };
export const GROWTH: GrowthLimits = { eventsPerSecond: 5_000, bytes: 4_000_000_000 };

type Growing = {
  store: ObjectStore;
  db: D1Database;
  applicationId: string;
  shard: number;
  /** The size of the counter's database in bytes. */
  bytes: number;
  limits: GrowthLimits;
};

/**
 * Requests more shards if a limit is exceeded, and returns whether it did. Only the newest counters request them because of their load: an older
 * one keeps its devices whatever is added. Because of size, each counter requests them once for every doubling of its size.
 */
async function growWhenLoaded(
  { store, db, applicationId, shard, bytes, limits }: Growing,
  eventsPerSecond: number,
): Promise<'size' | 'rate' | null> {
  const isLarge = bytes > Math.max(limits.bytes, 2 * progressOf(store).raisedBytes);
  if (!isLarge && eventsPerSecond <= limits.eventsPerSecond) return null;
  const [row] = await database(db)
    .select({ shards: applications.shards })
    .from(applications)
    .where(eq(applications.id, applicationId));
  if (!row || row.shards >= MAX_SHARDS) return null;
  // The newest counters are the upper half; of one counter, that is the one.
  if (!isLarge && shard < Math.floor(row.shards / 2)) return null;
  await raiseShards(db, applicationId, row.shards * 2);
  return isLarge ? 'size' : 'rate';
}

/** The longest time over which a rate is measured. */
const MAX_MEASURED_SECONDS = 60;

/** Measures the rate at which a counter receives events. */
export class LoadMeter {
  private since: number;
  private events = 0;

  constructor(now: number) {
    this.since = now;
  }

  add(events: number): void {
    this.events += events;
  }

  startAt(since: number): void {
    this.since = since;
    this.events = 0;
  }

  /** The rate since the measurement started; 0 in the first second, which is too short. */
  perSecond(now: number): number {
    const seconds = (now - this.since) / 1_000;
    return seconds >= 1 ? this.events / seconds : 0;
  }

  isOver(now: number): boolean {
    return (now - this.since) / 1_000 >= MAX_MEASURED_SECONDS;
  }
}

/** Requests more shards if a counter exceeds a limit (see `growWhenLoaded`), and then restarts the measurement of its rate. */
export async function growByLoad(counter: Growing, meter: LoadMeter, now: number): Promise<void> {
  const reason = await growWhenLoaded(counter, meter.perSecond(now));
  if (reason || meter.isOver(now)) meter.startAt(now);
  if (reason === 'size') counter.store.update(progress).set({ raisedBytes: counter.bytes }).run();
}
