import { type Bucket, mergeFiles, missingAmong, rewriteSince, rewriteWithout, writeFiles } from '#lake';
import type { MissingFiles } from '../api.ts';
import { NewDevices } from '../devices/new-devices.ts';
import { isolateMemory } from '../isolate-memory.ts';
import { progressOf } from '../log.ts';
import { backoffMs } from '../retry.ts';
import type { SeenIds } from '../seen-ids.ts';
import type { ObjectStore } from '../store.ts';
import { confirmRange, eventsThrough, exportDueAt, hotEventsIn, takeRange } from './export.ts';
import { finishErasure, hasErasures, nextErasure, pruneErasures } from './file-erasures.ts';
import {
  dropExpired,
  fileIndex,
  forgetFiles,
  forgetLoose,
  listKeys,
  looseKeys,
  nextMerge,
  nextPartlyExpired,
  noteLoose,
} from './file-index.ts';

/** The largest number of objects that R2 deletes at once. */
const MAX_DELETED = 1_000;
/** The files that are looked for at once, because an invocation has a limited number of calls. */
const MAX_EXAMINED = 500;

/** A range ends early if its events are of more days than this, each of which is a file. */
const MAX_FILES_PER_EXPORT = 500;

/** The memory that writing a file takes. */
const SMALL_EXPORT_BYTES = 2_000_000;
const BYTES_PER_EVENT = 300;
const MAX_EXPORT_BYTES = 16_000_000;

type RawFilesDependencies = {
  store: () => ObjectStore;
  bucket: () => Bucket;
  source: () => { applicationId: string; shard: number };
  seen: () => SeenIds;
  transaction: <Result>(work: () => Result) => Result;
};

/**
 * The raw event files of one counter: export, erasure, merging and expiry. The alarm does one piece of work at a time. Each may fail or be
 * killed at any point, and is then repeated.
 */
export class RawFiles {
  private readonly around: RawFilesDependencies;
  private failures = 0;
  private running: Promise<unknown> = Promise.resolve();
  private isEnded = false;
  hotEvents: number;
  /** Why the last work failed; null if it succeeded. */
  error: string | null = null;

  constructor(around: RawFilesDependencies) {
    this.around = around;
    this.hotEvents = hotEventsIn(around.store());
  }

  /** Reads from the store how much waits for export. */
  refresh(): void {
    this.hotEvents = hotEventsIn(this.around.store());
  }

  /** When the next work is due, in epoch milliseconds; null if there is none. */
  dueAt(now: number): number | null {
    const store = this.around.store();
    const isWaiting = hasErasures(store) || looseKeys(store, 1).length > 0;
    const due = isWaiting ? now : exportDueAt(store, this.hotEvents, now);
    if (due === null || this.failures === 0) return due;
    return Math.max(due, now + backoffMs(this.failures));
  }

  /** Does due work until a deadline. Throws if R2 fails: nothing is lost, and the next call continues. */
  async work(deadline: number): Promise<void> {
    await this.attempt(async () => {
      await this.deleteLoose();
      while (this.hasTime(deadline) && (await this.exportNext()));
      while (this.hasTime(deadline) && (await this.eraseNext()));
      await this.deleteLoose();
    });
  }

  /** Exports everything that is counted, whether or not it is due. Throws like `work`. */
  async exportAll(): Promise<void> {
    await this.attempt(async () => {
      while (!this.isEnded && (await this.exportNext(Number.POSITIVE_INFINITY)));
    });
  }

  /** Stops after the current file, waits for it, and starts nothing else. Never throws. */
  async end(): Promise<void> {
    this.isEnded = true;
    await this.running;
  }

  /**
   * Deletes events that were received before a time, merges the small files of past days, and forgets what was erased from them. Returns
   * whether all of it was done by the deadline. Events are deleted a day late at most, so that a file is rewritten once a day at most.
   */
  async tidy(deadline: number, now: number, before: number): Promise<boolean> {
    await this.attempt(async () => {
      while (
        this.hasTime(deadline) &&
        this.around.transaction(() => dropExpired(this.around.store(), before)) > 0
      )
        await this.deleteLoose();
      while (this.hasTime(deadline) && (await this.expireNext(before)));
      while (this.hasTime(deadline) && (await this.mergeNext(now)));
      this.around.transaction(() => pruneErasures(this.around.store()));
      await this.deleteLoose();
    });
    return this.hasTime(deadline);
  }

  /** See `CounterApi.forgetMissingFiles`. */
  forgetMissing(after: string): Promise<MissingFiles> {
    const { store, bucket, transaction } = this.around;
    return this.attempt(async () => {
      const keys = listKeys(store(), after, MAX_EXAMINED);
      const missing = await missingAmong(bucket(), keys);
      transaction(() => forgetFiles(store(), missing));
      const through = keys.length < MAX_EXAMINED ? null : (keys.at(-1) ?? null);
      return { forgotten: missing.length, through };
    });
  }

  private hasTime(deadline: number): boolean {
    return !this.isEnded && Date.now() < deadline;
  }

  /** Runs one piece of work at a time, because another would delete objects that are written but not yet listed. */
  private attempt<Result>(work: () => Promise<Result>): Promise<Result> {
    const attempt = this.running.then(async () => {
      try {
        const result = await work();
        this.failures = 0;
        this.error = null;
        return result;
      } catch (error) {
        this.failures++;
        this.error = 'Raw events could not be written to R2 or read from it; the counter will retry.';
        throw error;
      }
    });
    this.running = attempt.catch(() => undefined);
    return attempt;
  }

  private async exportNext(now = Date.now()): Promise<boolean> {
    const { transaction, store, source } = this.around;
    const last = transaction(() => takeRange(store(), this.hotEvents, now));
    if (last === null) return false;
    const arrived = new NewDevices();
    const wanted = Math.min(MAX_EXPORT_BYTES, SMALL_EXPORT_BYTES + BYTES_PER_EVENT * this.hotEvents);
    const range = { last, through: last };
    const { applicationId } = source();
    function* slices() {
      for (const { batch, events } of eventsThrough(store(), applicationId, range.last)) {
        range.through = batch;
        yield events;
      }
    }
    // Events that are counted after a restore were exported before, as parked, and may be the first of their files.
    const revision = Math.floor((progressOf(store()).restoredAt ?? 0) / 1_000);
    const options = { maxFiles: MAX_FILES_PER_EXPORT, revision };
    const entries = await isolateMemory.use(wanted, () =>
      writeFiles(this.notingBucket(), source(), arrived.noteIn(slices()), options),
    );
    await arrived.write(this.around.bucket(), store(), source(), range.through);
    transaction(() => confirmRange(store(), range, entries, Date.now()));
    this.hotEvents = hotEventsIn(store());
    return true;
  }

  private async eraseNext(): Promise<boolean> {
    const { transaction, store } = this.around;
    const next = nextErasure(store());
    if (!next) return false;
    const index = fileIndex(store(), transaction);
    const { entry } = await rewriteWithout(this.notingBucket(), index, next.entry, next.ids, (event) => {
      if (event.type === 'install') transaction(() => this.around.seen().addErased(event.id));
    });
    if (entry) transaction(() => finishErasure(store(), entry.key, next.ids));
    return true;
  }

  private async expireNext(before: number): Promise<boolean> {
    const { transaction, store } = this.around;
    const entry = nextPartlyExpired(store(), before);
    if (!entry) return false;
    await rewriteSince(this.notingBucket(), fileIndex(store(), transaction), entry, before);
    return true;
  }

  private async mergeNext(now: number): Promise<boolean> {
    const { transaction, store } = this.around;
    const entries = nextMerge(store(), now);
    if (entries.length < 2) return false;
    await mergeFiles(this.notingBucket(), fileIndex(store(), transaction), entries);
    return true;
  }

  /** The bucket, but records each object before it is written. Otherwise an object that is never listed would stay forever. */
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
