import { logWarning } from '#lib/log';
import { withTimeout } from '#lib/timeout';
import type { SharedTransaction } from './api.ts';
import type { SeenShards } from './create-devices.ts';
import { CreditingCounter } from './crediting-counter.ts';
import {
  describeTransactions,
  forgetUntold,
  hasUntold,
  readUntold,
  takeOver,
} from './keys/shared-transactions.ts';
import { knownShards, lastBatch } from './log.ts';
import { backoffMs, retryCall } from './retry.ts';
import { counterOf, shardNumbers } from './shards.ts';

const TRANSACTIONS_AT_ONCE = 500;
/** Between two times at which the others are told. */
const TELL_EVERY_MS = 10_000;
const TELL_TIMEOUT_MS = 5_000;

/** What other counters told, by their shards. */
export type Told = readonly (readonly [from: number, SharedTransaction[]])[];

/** The calls between the counters of an application about transactions: see `shared-transactions.ts`. */
export abstract class SharingCounter extends CreditingCounter {
  protected abstract readonly seenShards: SeenShards;
  private tellAt = 0;
  private failures = 0;
  /** Why the last attempt to tell the others failed; null if it did not. */
  protected tellError: unknown = null;
  private telling: Promise<void> | null = null;

  async shareTransactions(
    from: number,
    shards: number,
    told: SharedTransaction[],
  ): Promise<SharedTransaction[]> {
    this.requireAcceptsTold();
    const own = await this.takeAll([[from, told]], () => {
      this.seenShards.note(shards);
      return describeTransactions(
        this.store,
        told.map(({ id }) => id),
      );
    });
    await this.arm(Date.now());
    return own;
  }

  /** When `tellOthers` is due, in epoch milliseconds; null if there is nothing to tell. */
  protected tellDueAt(now: number): number | null {
    return hasUntold(this.store) ? Math.max(now, this.tellAt) : null;
  }

  /** Tells the other counters of transactions, if it is due. Never throws: what a counter did not accept is told again. */
  protected tellOthers(now: number): Promise<void> {
    if (this.telling === null && (this.tellDueAt(now) ?? Number.POSITIVE_INFINITY) <= now) {
      this.telling = this.tell().finally(() => {
        this.telling = null;
      });
    }
    return this.toldOthers();
  }

  /** Waits until what is being told was accepted, or not. */
  protected async toldOthers(): Promise<void> {
    await this.telling;
  }

  protected requireAcceptsTold(): void {
    this.requireWritable();
  }

  protected async tell(): Promise<void> {
    const { ids, lastPart } = readUntold(this.store, TRANSACTIONS_AT_ONCE);
    const own = describeTransactions(this.store, ids);
    const shards = knownShards(this.store);
    const others = shardNumbers(shards).filter((shard) => shard !== this.shard);
    try {
      const answers = await Promise.all(
        others.map(async (shard): Promise<[number, SharedTransaction[]]> => {
          const told = retryCall(() =>
            counterOf(this.env, this.applicationId, shard).shareTransactions(this.shard, shards, own),
          );
          return [shard, await withTimeout(told, TELL_TIMEOUT_MS)];
        }),
      );
      await this.takeAll(answers, () => forgetUntold(this.store, lastPart));
      this.tellError = null;
      this.failures = 0;
      this.tellAt = Date.now() + TELL_EVERY_MS;
    } catch (error) {
      this.tellError = error;
      this.tellAt = Date.now() + backoffMs(this.failures++);
      logWarning('other counters not told of transactions', error, { counter: this.name });
    }
  }

  /** Takes over what others told, with other work in the same transaction. It is counted at once, because the figures lack it. */
  protected async takeAll<Result>(told: Told, work: () => Result): Promise<Result> {
    const now = Date.now();
    const { store, log, shard } = this;
    const { appended, result } = this.write(() => ({
      result: work(),
      appended: told.reduce((sum, [from, own]) => sum + takeOver(log, { shard, from }, own, now), 0),
    }));
    this.noteAppended(appended, now);
    if (appended > 0) this.scheduler.want(lastBatch(store));
    return result;
  }
}
