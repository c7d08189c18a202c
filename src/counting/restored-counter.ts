import { is } from 'drizzle-orm';
import { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { idTime } from '#lib/ids';
import type { SharedTransaction } from './api.ts';
import { insertAllAliases } from './devices/devices.ts';
import { noteLost } from './devices/unknown-devices.ts';
import { hasUntold, takeOver } from './keys/shared-transactions.ts';
import { readSteps } from './keys/transaction-book.ts';
import { lastBatch, progressOf } from './log.ts';
import type { Outbound } from './outbound/outbound.ts';
import { closeGap } from './outbox/sequence-gap.ts';
import * as schema from './schema.ts';
import { SharingCounter, type Told } from './sharing-counter.ts';

// A counter that has lost what it stored, restored into a living deployment. D1 has what was counted before, so only the state of the counter is
// built again, from the last snapshot and the raw event files after it. Events that were parked meanwhile are counted as usual.

/** What is not in the snapshot or the files: what came since the loss and is to stay. */
const KEPT = new Set<unknown>([
  schema.devices,
  schema.openCredits,
  schema.heldEvents,
  schema.revokedTokens,
  schema.erasures,
  schema.erasedDevices,
  schema.outboundParts,
  schema.outboundRules,
  schema.sentParts,
  schema.progress,
]);

const CLEARED = Object.values(schema).filter((table) => is(table, SQLiteTable) && !KEPT.has(table));

/** The calls with which a lost counter is restored: see `CounterApi.beginRestore`. */
export abstract class RestoredCounter extends SharingCounter {
  abstract db: D1Database;
  protected abstract readonly outbound: Outbound;
  private acceptsTold = false;
  private taking: Promise<unknown> = Promise.resolve();

  async beginRestore(): Promise<void> {
    const now = Date.now();
    this.write(() => {
      noteLost(this.store, now);
      this.store.update(schema.progress).set({ isRestoring: true }).run();
    });
    this.isRestoring = true;
    await this.flusher.ended();
    await closeGap(this.store, this.db, this.name);
    await this.whileStill(async () => undefined);
    await this.scheduler.ended();
    await this.flusher.ended();
    await this.outbound.ended();
    await this.toldOthers();
    // Objects that were replaced look like files that nobody lists.
    await this.files.work(0);
    await this.files.end();
    this.write(() => this.clear());
    this.scheduler.forget();
    this.begin();
  }

  async acceptTold(): Promise<void> {
    this.acceptsTold = this.isRestoring;
  }

  async settleTold(): Promise<void> {
    while (hasUntold(this.store)) {
      await this.tell();
      if (this.tellError) throw this.tellError;
    }
  }

  async endRestore(): Promise<void> {
    this.write(() => {
      // Of a name that came again since, the earlier device has it.
      insertAllAliases(this.store);
      const ended = { isRestoring: false, lostAt: null, unknownEvents: 0, openedAt: 0 };
      this.store.update(schema.progress).set(ended).run();
    });
    this.acceptsTold = false;
    this.begin();
    await this.arm(Date.now());
  }

  protected override requireAcceptsTold(): void {
    if (!this.acceptsTold) super.requireAcceptsTold();
  }

  protected override async takeAll<Result>(told: Told, work: () => Result): Promise<Result> {
    if (!this.isRestoring) return super.takeAll(told, work);
    // One after the other, because what is added to D1 depends on the mode in which it is counted.
    const taken = this.taking.then(() => this.takeAgain(told, work));
    this.taking = taken.catch(() => undefined);
    return taken;
  }

  /** What was taken over before the loss is in D1. */
  private async takeAgain<Result>(told: Told, work: () => Result): Promise<Result> {
    await this.take(told.map(([from, own]) => [from, this.takenBefore(own)]));
    await this.scheduler.rebuild(lastBatch(this.store));
    await this.take(told);
    await this.countThrough(lastBatch(this.store));
    return this.write(work);
  }

  private async take(told: Told): Promise<void> {
    const { log, shard } = this;
    const now = Date.now();
    this.write(() => {
      for (const [from, own] of told) takeOver(log, { shard, from }, own, now);
    });
    this.scheduler.refresh(this.store);
  }

  /** The steps that came before the loss, of purchases that came before it. */
  private takenBefore(told: readonly SharedTransaction[]): SharedTransaction[] {
    const { openedAt, lostAt } = progressOf(this.store);
    const before = openedAt || (lostAt ?? 0);
    const known = readSteps(
      this.store,
      told.map(({ id }) => id),
    );
    return told.map(({ id, steps }) => {
      const purchase = known.get(id)?.find(({ is }) => is === 'purchase');
      const isBefore = purchase !== undefined && idTime(purchase.eventId) < before;
      return { id, steps: isBefore ? steps.filter(({ eventId }) => idTime(eventId) < before) : [] };
    });
  }

  /** Empties the tables that are restored. Call it in a transaction. */
  private clear(): void {
    const { store } = this;
    for (const table of CLEARED) store.delete(table).run();
    store.update(schema.outboundParts).set({ run: 0 }).run();
    store
      .update(schema.progress)
      .set({ countedBatch: 0, countedAt: 0, sequence: 0, run: 0, exportBatch: 0, restoredAt: null })
      .run();
  }
}
