import { settingsOf } from '#env';
import { logWarning } from '#lib/log';
import { DAY_MS } from '#lib/time';
import { progressOf } from '../log.ts';
import { MAX_BACKOFF_MS } from '../retry.ts';
import type { SeenIds } from '../seen-ids.ts';
import { readCounterName } from '../shards.ts';
import type { ObjectStore } from '../store.ts';
import { pruneRepeats, readRedeliveryLimit } from '../upkeep.ts';
import type { RawFiles } from './raw-files.ts';

type PrunerDependencies = {
  env: Env;
  store: () => ObjectStore;
  seen: () => SeenIds;
  db: () => D1Database;
  files: () => RawFiles;
  name: () => string;
  transaction: (work: () => void) => void;
};

/** Deletes once a day what a counter no longer needs. */
export class Pruner {
  private readonly around: PrunerDependencies;
  /** After a failure, when to try again. */
  private againAt = 0;
  /** Whether raw event files were left over at the last deadline. */
  private hasMoreFiles = false;

  constructor(around: PrunerDependencies) {
    this.around = around;
  }

  /** When the next pruning is due, in epoch milliseconds; null for a counter that has counted nothing. */
  dueAt(): number | null {
    if (this.hasMoreFiles) return this.againAt;
    const { prunedAt, countedBatch } = progressOf(this.around.store());
    return countedBatch === 0 ? null : Math.max(prunedAt + DAY_MS, this.againAt);
  }

  /** Prunes if it is due. A failure is logged, and repeated later. Old files are deleted until `deadline` (epoch milliseconds). */
  async work(now: number, deadline: number): Promise<void> {
    try {
      await this.prune(now, deadline);
    } catch (error) {
      this.againAt = Date.now() + MAX_BACKOFF_MS;
      logWarning('pruning put off', error, { counter: this.around.name() });
    }
  }

  private async prune(now: number, deadline: number): Promise<void> {
    if (now < (this.dueAt() ?? Number.POSITIVE_INFINITY)) return;
    const { env, store, seen, db, files, name, transaction } = this.around;
    const limit = await readRedeliveryLimit(db(), readCounterName(name()).applicationId, now);
    const expiredBefore = now - settingsOf(env).RAW_RETENTION_DAYS * DAY_MS;
    this.hasMoreFiles = !(await files().tidy(deadline, now, expiredBefore));
    transaction(() => pruneRepeats(store(), seen(), env, limit, now));
  }
}
