import { eq } from 'drizzle-orm';
import { applications, database } from '#db';
import { progressOf } from './log.ts';
import { progress } from './schema.ts';
import { MAX_SHARDS, raiseShards } from './shards.ts';
import type { Store } from './store.ts';

/** Beyond these an application's new devices are spread over twice as many counters. */
export type GrowthLimits = { eventsPerSecond: number; bytes: number };
export const GROWTH: GrowthLimits = { eventsPerSecond: 5_000, bytes: 4_000_000_000 };

/** Of one counter: its shard, the size of its database, its rate of events, and at which size it last asked for more shards. */
type Load = { shard: number; bytes: number; eventsPerSecond: number; raisedBytes: number };

/**
 * Asks for more shards when a limit is passed; answers whether it did. By load only a counter among the newest asks, because an
 * older one keeps its devices whatever is added; by size each asks once for every doubling of its own.
 */
async function growWhenLoaded(
  db: D1Database,
  applicationId: string,
  load: Load,
  limits: GrowthLimits,
): Promise<'size' | 'rate' | null> {
  const isLarge = load.bytes > Math.max(limits.bytes, 2 * load.raisedBytes);
  if (!isLarge && load.eventsPerSecond <= limits.eventsPerSecond) return null;
  const [row] = await database(db)
    .select({ shards: applications.shards })
    .from(applications)
    .where(eq(applications.id, applicationId));
  if (!row || row.shards >= MAX_SHARDS) return null;
  if (!isLarge && load.shard < row.shards / 2) return null;
  await raiseShards(db, applicationId, row.shards);
  return isLarge ? 'size' : 'rate';
}

/** A rate is measured for as long as this at most. */
const MAX_MEASURED_SECONDS = 60;

/** Measures the rate at which a counter takes events. */
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

  /** Since the measurement started; 0 in its first second, which tells nothing. */
  perSecond(now: number): number {
    const seconds = (now - this.since) / 1_000;
    return seconds >= 1 ? this.events / seconds : 0;
  }

  isOver(now: number): boolean {
    return (now - this.since) / 1_000 >= MAX_MEASURED_SECONDS;
  }
}

type Growing = {
  store: Store;
  db: D1Database;
  applicationId: string;
  shard: number;
  /** The size of the counter's database. */
  bytes: number;
  limits: GrowthLimits;
};

/** Asks for more shards where a counter is past a limit (see `growWhenLoaded`), and then measures its rate anew. */
export async function growByLoad(counter: Growing, meter: LoadMeter, now: number): Promise<void> {
  const { store, db, applicationId, shard, bytes, limits } = counter;
  const { raisedBytes } = progressOf(store);
  const load = { shard, bytes, eventsPerSecond: meter.perSecond(now), raisedBytes };
  const reason = await growWhenLoaded(db, applicationId, load, limits);
  if (reason || meter.isOver(now)) meter.startAt(now);
  if (reason === 'size') store.update(progress).set({ raisedBytes: bytes }).run();
}
