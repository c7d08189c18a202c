import { UNKNOWN_SEGMENT } from '../../src/catalogue/index.ts';
import { Counter } from '../../src/counting/index.ts';
import { WAIT_MS } from '../../src/counting/runs/pace.ts';
import { DatabaseMeter, type Metered, StorageMeter } from './meter.ts';
import { type BenchDevice, makeDevices } from './workload.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const realNow = Date.now;

/** Puts the clock of the isolate forward while `work` runs; nothing else may run there meanwhile. */
async function later<Result>(milliseconds: number, work: () => Promise<Result>): Promise<Result> {
  Date.now = () => realNow() + milliseconds;
  try {
    return await work();
  } finally {
    Date.now = realNow;
  }
}

type Meters = { object: Metered; d1: Metered };
const metersOf = new Map<string, Meters[]>();

function addUp(all: readonly Metered['tables'][]): Metered['tables'] {
  const total: Record<string, number> = {};
  for (const tables of all) {
    for (const [table, rows] of Object.entries(tables)) total[table] = (total[table] ?? 0) + rows;
  }
  return total;
}

export type CounterCosts = { object: Metered; d1: Metered; bytes: number };

/**
 * The service's counter, whose stores are watched, and whose alarms ring when the benchmark says so: a run is then as large as
 * it would be after the longest wait.
 */
export class BenchCounter extends Counter {
  private readonly storageMeter = new StorageMeter(this.ctx.storage);
  private readonly databaseMeter = new DatabaseMeter(this.env.DB);
  private readonly meters: Meters[];

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.db = this.databaseMeter.binding;
    this.growth = { eventsPerSecond: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
    // An idle object is evicted; what it has cost before counts on.
    const meters = metersOf.get(ctx.id.toString()) ?? [];
    meters.push({ object: this.storageMeter, d1: this.databaseMeter });
    metersOf.set(ctx.id.toString(), meters);
    this.meters = meters;
    void ctx.blockConcurrencyWhile(async () => this.use(this.storageMeter.storage));
  }

  override async alarm(): Promise<void> {}

  /** Counts and flushes all that waits, as alarms do once the longest wait is over: one alone may not have the time for it. */
  async ring(): Promise<void> {
    for (let left = Number.POSITIVE_INFINITY; ; ) {
      await later(WAIT_MS + MINUTE_MS, () => super.alarm());
      const { events } = this.scheduler.pending;
      if (events === 0) return;
      if (events >= left) throw new Error(`${events} events cannot be counted`);
      left = events;
    }
  }

  /** Counts and flushes all that waits, and nothing else. */
  async count(): Promise<void> {
    while (await this.scheduler.countNext());
    await this.flusher.flush();
  }

  /** Forgets everything that is ever forgotten. */
  async forget(): Promise<void> {
    await later(1_000 * DAY_MS, () => super.alarm());
  }

  /** Writes all that was counted as raw event files, as the alarm does within the hour; answers how many events. */
  async exportAll(): Promise<number> {
    const { hotEvents } = await this.health();
    for (let left = hotEvents; left > 0; left = (await this.health()).hotEvents) {
      await later(2 * HOUR_MS, () => super.alarm());
    }
    return hotEvents;
  }

  /** As `/fetch-token` makes them, many at once. */
  async insertDevices(count: number, oneSegment: boolean): Promise<void> {
    const described = { deviceName: 'Pixel 9', deviceModel: 'Pixel 9', test: false };
    const attribution = JSON.stringify({ method: 'click', confidence: 1, candidates: [] });
    const devices = makeDevices(1, count, oneSegment);
    for (let start = 0; start < count; start += 5_000) {
      const rows = devices
        .slice(start, start + 5_000)
        .map(({ id, acquiredDay, creativeId, country, os }: BenchDevice) => {
          return [
            id,
            acquiredDay,
            creativeId,
            JSON.stringify({ ...described, segment: { ...UNKNOWN_SEGMENT, country, os } }),
          ];
        });
      this.ctx.storage.sql.exec(
        `INSERT INTO devices (id, acquired_day, acquired_at, creative_id, description, attribution)
         SELECT value ->> 0, value ->> 1, 0, value ->> 2, value ->> 3, ?2 FROM json_each(?1)`,
        JSON.stringify(rows),
        attribution,
      );
    }
  }

  async costs(): Promise<CounterCosts> {
    const sum = (store: 'object' | 'd1', of: 'statements' | 'rowsWritten' | 'rowsRead') =>
      this.meters.reduce((total, meters) => total + meters[store][of], 0);
    const all = (store: 'object' | 'd1'): Metered => ({
      statements: sum(store, 'statements'),
      rowsWritten: sum(store, 'rowsWritten'),
      rowsRead: sum(store, 'rowsRead'),
      tables: addUp(this.meters.map((meters) => meters[store].tables)),
    });
    return {
      object: all('object'),
      d1: all('d1'),
      bytes: this.ctx.storage.sql.databaseSize,
    };
  }
}
