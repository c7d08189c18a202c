import type { OutboundRule } from '#catalogue';
import { isParquetLoaded, loadParquet } from '#lib/encoding/parquet';
import { atOnce, inTurns } from '#lib/steps';
import { TimedOut, withTimeout } from '#lib/timeout';
import { isolateMemory } from '../isolate-memory.ts';
import { type Pending, pendingIn, progressOf } from '../log.ts';
import { finishInterrupted, oldestInOutbox } from '../outbox/outbox.ts';
import type { ObjectStore } from '../store.ts';
import { nextRun } from './next-run.ts';
import { REPORT_RUN } from './pace.ts';
import type { RunLimits } from './run.ts';

/** The memory that a run is given: more than it needs, unless each event is of another device or adds rows of its own. */
const SMALL_RUN_BYTES = 8_000_000;
const BYTES_PER_EVENT = 400;

type SchedulerDependencies = {
  store: () => ObjectStore;
  storage: () => DurableObjectStorage;
  applicationId: () => string;
  /** The application's destinations. */
  outbound: () => readonly OutboundRule[] | Promise<readonly OutboundRule[]>;
  /** The limits of a run that nobody waits for. */
  fullRun: () => RunLimits;
  /** How long events wait to be counted unless someone asks, in milliseconds. */
  waitMs: () => number;
};

/** Counts a counter's log, one run at a time. */
export class RunScheduler {
  private readonly around: SchedulerDependencies;
  private running: Promise<boolean> | null = null;
  private waiting: Pending = { events: 0, oldestAt: null };
  /** The last batch whose run is finished. A run that commits several times is ahead of it. */
  private countedBatch = 0;
  private changes = 0;
  /** The last batch that a call waited for. Until it is counted, the next run is due at once. */
  private wantedBatch = 0;
  /** Events of finished runs whose sums may still be in the outbox; null if unknown, because the object was restarted. */
  private unwritten: number | null = 0;
  /** See `rebuild`. */
  private rebuilds = false;

  constructor(around: SchedulerDependencies) {
    this.around = around;
  }

  /** What waits to be counted. */
  get pending(): Pending {
    return this.waiting;
  }

  /** How many appended events may not be in D1 yet; null if unknown. */
  get uncounted(): number | null {
    if (oldestInOutbox(this.around.store()) === null) this.unwritten = 0;
    return this.unwritten === null ? null : this.waiting.events + this.unwritten;
  }

  /** What changes whenever counted devices may have; null during a run, which changes them step by step. */
  get deviceVersion(): number | null {
    return this.running === null ? this.changes : null;
  }

  /** Finishes a run during which the object was stopped, and reads what waits. */
  begin(storage: DurableObjectStorage, store: ObjectStore): void {
    this.changes++;
    atOnce(finishInterrupted(storage, store));
    this.countedBatch = progressOf(store).countedBatch;
    this.unwritten = oldestInOutbox(store) === null ? 0 : null;
    this.refresh(store);
  }

  /** Reads what waits from the store. */
  refresh(store: ObjectStore): void {
    this.waiting = pendingIn(store, this.countedBatch);
  }

  noteAppended(events: number, now: number): void {
    if (events === 0) return;
    this.waiting = { events: this.waiting.events + events, oldestAt: this.waiting.oldestAt ?? now };
  }

  /** Parts whose events are unknown went back to the outbox. */
  noteRequeued(): void {
    this.unwritten = null;
  }

  /** Nothing waits, because everything was deleted. */
  forget(): void {
    this.changes++;
    this.countedBatch = 0;
    this.wantedBatch = 0;
    this.unwritten = 0;
    this.waiting = { events: 0, oldestAt: null };
  }

  /** Whether the events through this batch are counted, and their sums are in the outbox. */
  isCounted(batch: number): boolean {
    return this.countedBatch >= batch;
  }

  /** When the next run is due, in epoch milliseconds; null if nothing waits. */
  dueAt(now: number): number | null {
    const { fullRun, waitMs } = this.around;
    const { events, oldestAt } = this.waiting;
    if (events === 0 || oldestAt === null) return null;
    if (events >= fullRun().events || !this.isCounted(this.wantedBatch)) return now;
    return oldestAt + waitMs();
  }

  isDue(now: number): boolean {
    return (this.dueAt(now) ?? Number.POSITIVE_INFINITY) <= now;
  }

  /** Counts one run. A call during a run waits for that one. Returns false if nothing waited when it started. */
  countNext(limits = this.around.fullRun()): Promise<boolean> {
    this.running ??= this.run(limits).finally(() => {
      this.running = null;
    });
    return this.running;
  }

  /** Makes what waits through a batch due at once. */
  want(batch: number): void {
    this.wantedBatch = Math.max(this.wantedBatch, batch);
  }

  /**
   * Counts what waits through a batch until a deadline (epoch milliseconds), in small runs. A run that takes longer continues, and what is
   * left is due at once.
   */
  async countBy(batch: number, deadline: number): Promise<void> {
    this.want(batch);
    while (!this.isCounted(batch) && Date.now() < deadline) {
      try {
        await withTimeout(this.countNext(REPORT_RUN), deadline - Date.now());
      } catch (error) {
        if (!(error instanceof TimedOut)) throw error;
      }
    }
  }

  /** Counts what waits through a batch, of which D1 and the destinations have everything: only the state of this counter is missing. */
  async rebuild(target: number): Promise<void> {
    await this.ended();
    this.rebuilds = true;
    try {
      while (!this.isCounted(target)) await this.countNext();
    } finally {
      this.rebuilds = false;
    }
  }

  /** Waits for the current run, whether it succeeds or not. */
  async ended(): Promise<void> {
    await this.running?.catch(() => undefined);
  }

  /**
   * Counts everything that waits, then does `work` while no run is in progress, and nothing that a run prepared is left. `work` must be
   * synchronous.
   */
  async betweenRuns<Result>(work: () => Result): Promise<Result> {
    while (await this.countNext());
    // Between the answer above and now, another call may have started a run.
    while (this.running !== null) await this.ended();
    const { storage, store } = this.around;
    this.changes++;
    atOnce(finishInterrupted(storage(), store()));
    return work();
  }

  /**
   * Counts what has been appended, then does `work` while no run is in progress, and nothing that a run prepared is left. Runs wait for it:
   * unlike `betweenRuns`, it may take long.
   */
  async whileStill<Result>(target: number, work: () => Promise<Result>): Promise<Result> {
    while (!this.isCounted(target)) await this.countNext();
    while (this.running !== null) await this.ended();
    const { storage, store } = this.around;
    atOnce(finishInterrupted(storage(), store()));
    const held = Promise.withResolvers<boolean>();
    this.running = held.promise;
    try {
      return await work();
    } finally {
      this.running = null;
      // Whoever waited looks again for what to count.
      held.resolve(true);
    }
  }

  private async run(limits: RunLimits): Promise<boolean> {
    const { storage, store, applicationId } = this.around;
    this.changes++;
    if (!isParquetLoaded()) await loadParquet();
    const known = this.around.outbound();
    // A run that waits for nothing begins at once.
    const rules = known instanceof Promise ? await known : known;
    const { rebuilds } = this;
    const outbound = rebuilds ? [] : rules;
    const wanted = Math.min(limits.weight, SMALL_RUN_BYTES + BYTES_PER_EVENT * this.waiting.events);
    const run = await isolateMemory.use(wanted, ({ bytes, renew }) =>
      inTurns(
        nextRun(storage(), applicationId(), { ...limits, weight: bytes }, Date.now(), { outbound, rebuilds }),
        renew,
      ),
    );
    // Those of earlier runs count until the outbox is empty: see `uncounted`.
    if (run !== null && this.unwritten !== null) this.unwritten += run.events;
    this.countedBatch = progressOf(store()).countedBatch;
    this.refresh(store());
    return run !== null;
  }
}
