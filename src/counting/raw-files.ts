import { type Bucket, mergeFiles, rewriteWithout, writeFiles } from '#lake';
import { confirmRange, eventsThrough, exportDueAt, hotEventsIn, takeRange } from './export.ts';
import { finishErasure, hasErasures, nextErasure } from './file-erasures.ts';
import { dropExpired, fileIndex, forgetLoose, looseKeys, nextMerge, noteLoose } from './file-index.ts';
import type { Store } from './store.ts';
import { backoffMs } from './upkeep.ts';

/** R2 deletes so many objects at once. */
const MAX_DELETED = 1_000;

type Surroundings = {
  store: () => Store;
  bucket: () => Bucket;
  source: () => { applicationId: string; shard: number };
  transaction: <Result>(work: () => Result) => Result;
};

/**
 * The raw event files of one counter: export, erasure, merging and expiry. One piece of work at a time, from the alarm; each may
 * fail or be killed at any point, and is then done again.
 */
export class RawFiles {
  private readonly around: Surroundings;
  private failures = 0;
  private running: Promise<void> = Promise.resolve();
  private isEnded = false;
  hotEvents: number;
  /** Why the last work failed; null where it did not. */
  error: string | null = null;

  constructor(around: Surroundings) {
    this.around = around;
    this.hotEvents = hotEventsIn(around.store());
  }

  /** When there is something to do next, epoch milliseconds; null when there is nothing. */
  dueAt(now: number): number | null {
    const store = this.around.store();
    const isWaiting = hasErasures(store) || looseKeys(store, 1).length > 0;
    const due = isWaiting ? now : exportDueAt(store, this.hotEvents, now);
    if (due === null || this.failures === 0) return due;
    return Math.max(due, now + backoffMs(this.failures));
  }

  /** Does what is due, until a time. Throws when R2 fails: nothing is lost, the next call goes on. */
  async work(deadline: number): Promise<void> {
    await this.attempt(async () => {
      await this.deleteLoose();
      while (this.hasTime(deadline) && (await this.exportNext()));
      while (this.hasTime(deadline) && (await this.eraseNext()));
      await this.deleteLoose();
    });
  }

  /** Ends the work that is being done after the present file, and lets none begin. Never throws. */
  async end(): Promise<void> {
    this.isEnded = true;
    await this.running;
  }

  /** Merges the small files of past days, and deletes those that were received before a time. */
  async tidy(deadline: number, now: number, before: number): Promise<void> {
    await this.attempt(async () => {
      while (
        this.hasTime(deadline) &&
        this.around.transaction(() => dropExpired(this.around.store(), before)) > 0
      )
        await this.deleteLoose();
      while (this.hasTime(deadline) && (await this.mergeNext(now)));
      await this.deleteLoose();
    });
  }

  private hasTime(deadline: number): boolean {
    return !this.isEnded && Date.now() < deadline;
  }

  /** One at a time: what one has written and not yet listed, another would delete. */
  private attempt(work: () => Promise<void>): Promise<void> {
    const attempt = this.running.then(async () => {
      try {
        await work();
        this.failures = 0;
        this.error = null;
      } catch (error) {
        this.failures++;
        this.error = 'Raw events could not be written to R2, or read there; the counter tries again.';
        throw error;
      }
    });
    this.running = attempt.catch(() => undefined);
    return attempt;
  }

  private async exportNext(): Promise<boolean> {
    const { transaction, store, source } = this.around;
    const since = Date.now();
    const last = transaction(() => takeRange(store(), this.hotEvents, since));
    if (last === null) return false;
    const events = eventsThrough(store(), source().applicationId, last);
    const entries = await writeFiles(this.notingBucket(), source(), events);
    transaction(() => confirmRange(store(), last, entries, since, Date.now()));
    this.hotEvents = hotEventsIn(store());
    return true;
  }

  private async eraseNext(): Promise<boolean> {
    const { transaction, store } = this.around;
    const next = nextErasure(store());
    if (!next) return false;
    const index = fileIndex(store(), transaction);
    const { entry } = await rewriteWithout(this.notingBucket(), index, next.entry, next.ids);
    if (entry) transaction(() => finishErasure(store(), entry.key, next.ids));
    return true;
  }

  private async mergeNext(now: number): Promise<boolean> {
    const { transaction, store } = this.around;
    const entries = nextMerge(store(), now);
    if (entries.length < 2) return false;
    await mergeFiles(this.notingBucket(), fileIndex(store(), transaction), entries);
    return true;
  }

  /** The bucket, but that each object is noted before it is written: one that is never listed would else stay for ever. */
  private notingBucket(): Bucket {
    const bucket = this.around.bucket();
    return {
      get: (key, options) => bucket.get(key, options),
      delete: (keys) => bucket.delete(keys),
      put: (key, bytes) => {
        this.around.transaction(() => noteLoose(this.around.store(), [key]));
        return bucket.put(key, bytes);
      },
    };
  }

  private async deleteLoose(): Promise<void> {
    for (;;) {
      const keys = looseKeys(this.around.store(), MAX_DELETED);
      if (keys.length === 0) return;
      await this.around.bucket().delete(keys);
      this.around.transaction(() => forgetLoose(this.around.store(), keys));
    }
  }
}
