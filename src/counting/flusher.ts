import { withTimeout } from '#lib/timeout';
import { BlockMerger } from './block-merger.ts';
import { flushNext, oldestInOutbox, SequenceGap } from './outbox.ts';
import type { Store } from './store.ts';
import { backoffMs } from './upkeep.ts';

type Surroundings = {
  store: () => Store;
  db: () => D1Database;
  name: () => string;
  /** After how many milliseconds an answer of D1 counts as lost. */
  timeoutMs: () => number;
};

const GAP =
  'The database and this counter disagree about what was written, as after a restore. Nothing more is written until counting is resumed: POST /v1/applications/:id/resume-counting.';

/** Brings a counter's outbox to D1, part by part. */
export class Flusher {
  /** Why the last try failed; null where it did not. */
  error: string | null = null;
  /** The database and the counter disagree about what was written: see `closeGap`. */
  hasGap = false;
  private readonly around: Surroundings;
  private flushing: Promise<void> | null = null;
  private failures = 0;
  private readonly merger = new BlockMerger();

  constructor(around: Surroundings) {
    this.around = around;
  }

  /** Calls at once share the work; it goes on until the outbox is empty. Throws when D1 takes nothing. */
  flush(): Promise<void> {
    this.flushing ??= this.flushAll().finally(() => {
      this.flushing = null;
    });
    return this.flushing;
  }

  /** Waits for what is being sent, whether it succeeds or not. */
  async ended(): Promise<void> {
    await this.flushing?.catch(() => undefined);
  }

  /** When the next try is due, epoch milliseconds; null for an empty outbox. */
  dueAt(now: number): number | null {
    return oldestInOutbox(this.around.store()) === null ? null : now + backoffMs(this.failures);
  }

  /** Merges the small blocks of what was added since the last time, and brings them to D1. */
  async mergeBlocks(): Promise<void> {
    const { store, db, name } = this.around;
    if (await this.merger.merge(store(), db(), name())) await this.flush();
  }

  private async flushAll(): Promise<void> {
    try {
      while (await withTimeout(this.flushPart(), this.around.timeoutMs())) this.failures = 0;
      this.error = null;
      this.hasGap = false;
    } catch (error) {
      this.failures++;
      this.hasGap = error instanceof SequenceGap;
      this.error = this.hasGap ? GAP : 'The database did not take what was counted; it is tried again.';
      throw error;
    }
  }

  private flushPart(): Promise<boolean> {
    const { store, db, name } = this.around;
    return flushNext(store(), db(), name(), Date.now(), (rows) => this.merger.note(rows));
  }
}
