import { requireKnownDatabase } from '#db';
import { newerFormatIn } from '#lib/encoding/store-formats';
import { logWarning } from '#lib/log';
import { withTimeout } from '#lib/timeout';
import { backoffMs } from '../retry.ts';
import type { ObjectStore } from '../store.ts';
import { Compactor } from './compactor.ts';
import { flushNext, oldestInOutbox } from './outbox.ts';
import { SequenceGap } from './sequence-gap.ts';
import { StatementLimit } from './statement-limit.ts';

type FlusherDependencies = {
  store: () => ObjectStore;
  db: () => D1Database;
  name: () => string;
  /** After how many milliseconds without an answer of D1 an attempt counts as failed. */
  timeoutMs: () => number;
};

const GAP =
  'The database and this counter disagree about what was written, as after a restore. Nothing more is written until counting is resumed: POST /v1/applications/:id/resume-counting.';

/** Sends a counter's outbox to D1, part by part. */
export class Flusher {
  /** Why the last attempt failed; null if it succeeded. */
  error: string | null = null;
  /** Whether the database and the counter disagree about what was written: see `closeGap`. */
  hasGap = false;
  private readonly around: FlusherDependencies;
  private flushing: Promise<boolean> | null = null;
  private failures = 0;
  private readonly compactor = new Compactor();

  constructor(around: FlusherDependencies) {
    this.around = around;
  }

  /**
   * Concurrent calls share the work, which continues until the outbox is empty or the limit of the first call is reached. Returns whether the
   * outbox is empty. Throws if D1 accepts nothing.
   */
  flush(limit = new StatementLimit()): Promise<boolean> {
    this.flushing ??= this.flushAll(limit).finally(() => {
      this.flushing = null;
    });
    return this.flushing;
  }

  /** Empties the outbox, then does `work` while nothing is sent to D1. Flushes wait for it. Throws if D1 accepts nothing. */
  async whileStill<Result>(work: () => Promise<Result>): Promise<Result> {
    do await this.flush();
    while (this.flushing !== null || oldestInOutbox(this.around.store()) !== null);
    const held = Promise.withResolvers<boolean>();
    this.flushing = held.promise;
    try {
      return await work();
    } finally {
      this.flushing = null;
      held.resolve(oldestInOutbox(this.around.store()) === null);
    }
  }

  /** Flushes until a deadline (epoch milliseconds). Returns false if that fails, takes longer or has to stop; the flush then continues later. */
  async flushBy(deadline: number): Promise<boolean> {
    try {
      return await withTimeout(this.flush(), Math.max(0, deadline - Date.now()));
    } catch (error) {
      logWarning('flush put off', error);
      return false;
    }
  }

  /** Waits for the current attempt, whether it succeeds or not. */
  async ended(): Promise<void> {
    await this.flushing?.catch(() => undefined);
  }

  /** When the next attempt is due, in epoch milliseconds; null if the outbox is empty. */
  dueAt(now: number): number | null {
    return oldestInOutbox(this.around.store()) === null ? null : now + backoffMs(this.failures);
  }

  /** Compacts the parts of the cube if some were added since the last time, and writes the result to D1. */
  async compact(limit: StatementLimit): Promise<void> {
    const { store, db, name } = this.around;
    if (await this.compactor.compact(store(), db(), name(), limit)) await this.flush(limit);
  }

  private async flushAll(limit: StatementLimit): Promise<boolean> {
    try {
      if (oldestInOutbox(this.around.store()) !== null) {
        await withTimeout(requireKnownDatabase(this.around.db()), this.around.timeoutMs());
      }
      while (limit.hasRoom && (await withTimeout(this.flushPart(limit), this.around.timeoutMs())))
        this.failures = 0;
      this.error = null;
      this.hasGap = false;
      return oldestInOutbox(this.around.store()) === null;
    } catch (error) {
      this.failures++;
      this.hasGap = error instanceof SequenceGap;
      this.error = this.hasGap
        ? GAP
        : (newerFormatIn(error) ?? 'The database did not accept the counted sums; the counter will retry.');
      throw error;
    }
  }

  private flushPart(limit: StatementLimit): Promise<boolean> {
    const { store, db, name } = this.around;
    const onParts = () => this.compactor.note();
    return flushNext(store(), db(), name(), Date.now(), { limit, onParts });
  }
}
