import { migrate } from 'drizzle-orm/durable-sqlite/migrator';
import migrations from '#counter-migrations';
import type { Bucket } from '#lake';
import { NewerFormatError, newerFormat } from '#lib/encoding/store-formats';
import { logWarning } from '#lib/log';
import { earliest } from '#lib/time';
import type {
  CounterApi,
  CounterHealth,
  CreatedDevice,
  DeviceIdentity,
  MissingFiles,
  NewConsent,
  PackedBatch,
  Resumed,
  Settled,
} from './api.ts';
import { createOrFindAll, SeenShards, type WantedInCounter } from './create-devices.ts';
import { openCredit } from './credits/open-credits.ts';
import { findByAlias } from './devices/devices.ts';
import { keepConsent } from './devices/tell-consent.ts';
import { eraseDevice, eraseEvents } from './files/erase.ts';
import { Pruner } from './files/pruner.ts';
import { RawFiles } from './files/raw-files.ts';
import { GROWTH, type GrowthLimits, growByLoad, LoadMeter } from './growth.ts';
import { appendError, countedThrough, RESTORING, readHealth } from './health.ts';
import { erasedNameOf } from './keys/transaction-book.ts';
import { appendFresh, appendSome, lastBatch, progressOf, shardsIn } from './log.ts';
import { ObjectAlarm } from './object-alarm.ts';
import { Outbound, type SendParts } from './outbound/outbound.ts';
import { Flusher } from './outbox/flusher.ts';
import { closeGap } from './outbox/sequence-gap.ts';
import { StatementLimit } from './outbox/statement-limit.ts';
import { RestoredCounter } from './restored-counter.ts';
import { FULL_RUN } from './runs/next-run.ts';
import { FLUSH_TIMEOUT_MS, MAX_ALARM_MS, MAX_REPORT_WAIT_MS, WAIT_MS } from './runs/pace.ts';
import type { RunLimits } from './runs/run.ts';
import { RunScheduler } from './runs/run-scheduler.ts';
import { progress, revokedTokens } from './schema.ts';
import { SeenIds } from './seen-ids.ts';
import { readCounterName } from './shards.ts';
import { formatIn, type ObjectStore, openStore } from './store.ts';

/**
 * Counts the events of one application or of one shard of it: keeps their log, recognizes duplicates, keeps the state of the devices that live
 * here, and adds the counted sums to the rollups in D1. See `CounterApi` for its calls.
 */
export class Counter extends RestoredCounter implements CounterApi {
  /** The database. A field of its own, so that a test can substitute a failing one. */
  db: D1Database = this.env.DB;
  /** The bucket for raw events, also substitutable in tests. */
  bucket: Bucket = this.env.RAW_EVENTS;
  growth: GrowthLimits = GROWTH;
  fullRun: RunLimits = FULL_RUN;
  waitMs = WAIT_MS;
  flushTimeoutMs = FLUSH_TIMEOUT_MS;
  /** Hands events to a destination, also substitutable in tests. */
  sendParts: SendParts = async (id, parts) => await this.env.DESTINATIONS.getByName(id).accept(parts);
  private storage: DurableObjectStorage = this.ctx.storage;
  /** Why the store is not used; null for one in a format that this release knows. */
  private readonly newerFormat: string | null;
  /** Everything was deleted, and no call has used the store since. */
  private isDeleted = false;
  /** What its parts share. Functions, because another store may be opened, and tests substitute what fails. */
  private readonly around = {
    store: () => this.store,
    storage: () => this.storage,
    db: () => this.db,
    bucket: () => this.bucket,
    name: () => this.name,
    applicationId: () => this.applicationId,
    transaction: <Result>(work: () => Result) => this.write(work),
  };
  protected readonly outbound = new Outbound({ ...this.around, send: () => this.sendParts });
  protected readonly scheduler = new RunScheduler({
    ...this.around,
    fullRun: () => this.fullRun,
    waitMs: () => this.outbound.waitMs(this.waitMs),
    outbound: () => this.outbound.rules.get(),
  });
  private ownFiles: RawFiles | null = null;
  protected readonly flusher = new Flusher({ ...this.around, timeoutMs: () => this.flushTimeoutMs });
  private readonly pruner = new Pruner({
    ...this.around,
    env: this.env,
    seen: () => this.seen,
    files: () => this.files,
  });
  private readonly ownAlarm = new ObjectAlarm(this.ctx.storage);
  protected readonly seenShards = new SeenShards(() => this.store);
  readonly load = new LoadMeter(Date.now());

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.newerFormat = newerFormat('counter', formatIn(ctx.storage, 'progress'));
    if (this.newerFormat !== null) return;
    void ctx.blockConcurrencyWhile(async () => {
      await migrate(this.opened, migrations);
      this.begin();
      await this.arm(Date.now());
    });
  }

  protected get files(): RawFiles {
    if (this.ownFiles === null) throw new NewerFormatError(this.newerFormat ?? '');
    return this.ownFiles;
  }

  /** Creates the tables again after `deleteAll` when a call needs them, because late events may still arrive. */
  protected override get store(): ObjectStore {
    if (this.newerFormat !== null) throw new NewerFormatError(this.newerFormat);
    if (this.isDeleted) {
      this.isDeleted = false;
      // Its promise is fulfilled when it returns: an object's SQLite is synchronous.
      void migrate(this.opened, migrations);
      this.begin();
    }
    return this.opened;
  }

  /** Loads the state kept in memory from the store. */
  protected begin(): void {
    const { id } = this.ctx;
    const { name, isRestoring } = progressOf(this.opened);
    // An alarm does not receive its object's name, but a call does.
    if (name === '' && id.name)
      this.opened.update(progress).set({ name: id.name, openedAt: Date.now() }).run();
    this.isRestoring = isRestoring;
    this.seen.forget();
    this.seenShards.forget();
    this.outbound.rules.forget();
    this.scheduler.begin(this.ctx.storage, this.opened);
    this.ownFiles = new RawFiles({
      ...this.around,
      source: () => readCounterName(this.name),
      seen: () => this.seen,
    });
    this.ownAlarm.forget();
  }

  /** Starts the object on this storage, as a restart does. A test may pass one that fails. */
  use(storage: DurableObjectStorage): void {
    this.storage = storage;
    this.opened = openStore(storage);
    this.seen = new SeenIds(this.opened);
    this.seenShards.forget();
    this.scheduler.begin(this.ctx.storage, openStore(this.ctx.storage));
  }

  protected requireWritable(): void {
    if (this.isRestoring) throw new Error(`The counter ${this.name} is being restored`);
  }

  async append(batch: PackedBatch): Promise<{ appended: number; pending: number }> {
    this.requireWritable();
    const now = Date.now();
    const appended = this.write(() => appendFresh(this.store, this.seen, batch, now));
    this.load.add(appended);
    this.noteAppended(appended, now);
    await this.armForPending(now);
    return { appended, pending: this.scheduler.pending.events };
  }

  async settle(waitMs = MAX_REPORT_WAIT_MS): Promise<Settled> {
    if (this.isRestoring) return { settled: false, countedThrough: 0, uncounted: null };
    const deadline = Date.now() + Math.min(waitMs, MAX_REPORT_WAIT_MS);
    const target = lastBatch(this.store);
    await this.scheduler.countBy(target, deadline);
    const isWritten = await this.flusher.flushBy(deadline);
    await this.arm(Date.now());
    return {
      settled: isWritten && this.scheduler.isCounted(target),
      countedThrough: countedThrough(this.store, this.scheduler.pending, Date.now()),
      uncounted: this.scheduler.uncounted,
    };
  }

  async createOrFindDevices(
    shards: number,
    wanted: WantedInCounter[],
    installs: PackedBatch,
  ): Promise<CreatedDevice[]> {
    this.requireWritable();
    const now = Date.now();
    const isOpen = (index: number) => wanted[index]?.credit !== undefined;
    const made = this.write(() => {
      const seen = this.seenShards.note(shards);
      const outcomes = createOrFindAll(this.store, wanted, { shards, seen, shard: this.shard });
      const created = outcomes.flatMap(({ outcome }, index) => (outcome === 'created' ? [index] : []));
      // A repeated call finds the devices, so the ids of their installs need not be remembered.
      const [open, settled] = [created.filter(isOpen), created.filter((index) => !isOpen(index))];
      appendSome(this.store, installs, settled, now);
      for (const index of open) {
        const { device, credit } = wanted[index] ?? {};
        if (device && credit) openCredit(this.store, device.id, credit, now);
      }
      return { outcomes, appended: settled.length, opened: open.length };
    });
    this.noteAppended(made.appended, now);
    await (made.opened > 0 ? this.arm(now) : this.armForPending(now));
    return made.outcomes;
  }

  async findDevices(aliases: string[], shards: number): Promise<(DeviceIdentity | null)[]> {
    this.requireWritable();
    return this.write(() => {
      this.seenShards.note(shards);
      return aliases.map((alias) => findByAlias(this.store, alias)?.device ?? null);
    });
  }

  async eraseDevice(
    id: string,
    clickEventId: string | null = null,
  ): Promise<{ found: boolean; events: number; told: string[] }> {
    const erasedName = await erasedNameOf(id);
    await this.resolveCredit(id);
    // What arrived before is counted first, so that totals are complete.
    return this.eraseBetweenRuns(() => {
      this.outbound.erase(id);
      return eraseDevice(this.log, { id, erasedName }, clickEventId, Date.now());
    });
  }

  async tellConsent(told: NewConsent[]): Promise<void> {
    this.write(() => {
      for (const one of told) {
        const kept = keepConsent(this.store, one);
        if (kept) this.outbound.tellConsent(kept);
      }
    });
    await this.arm(Date.now());
  }

  async revokeToken(tokenId: string, at: number): Promise<void> {
    this.store.insert(revokedTokens).values({ tokenId, revokedAt: at }).onConflictDoNothing().run();
  }

  async eraseEvents(ids: string[]): Promise<number> {
    return this.eraseBetweenRuns(() => eraseEvents(this.store, ids));
  }

  private async eraseBetweenRuns<Erased>(work: () => Erased): Promise<Erased> {
    this.requireWritable();
    const erased = await this.scheduler.betweenRuns(() => this.write(work));
    await this.arm(Date.now());
    return erased;
  }

  async refreshDestinations(): Promise<void> {
    await this.outbound.rules.refresh();
    await this.arm(Date.now());
  }

  /** Waits until what is being handed to destinations was handed over, or refused. */
  fed(): Promise<void> {
    return this.outbound.ended();
  }

  async resumeFlush(): Promise<Resumed> {
    // Wait for the current flush, whether it succeeds or not.
    await this.flusher.flush().catch(() => undefined);
    const gap = await closeGap(this.store, this.db, this.name);
    if (gap.hadGap) {
      this.scheduler.noteRequeued();
      await this.flusher.flushBy(Date.now() + MAX_REPORT_WAIT_MS);
    }
    await this.arm(Date.now());
    return { ...gap, shards: shardsIn(this.store) };
  }

  async forgetMissingFiles(after: string): Promise<MissingFiles> {
    return this.files.forgetMissing(after);
  }

  async health(): Promise<CounterHealth> {
    return {
      ...readHealth(this.store, this.scheduler.pending, Date.now()),
      flushError: this.flusher.error,
      appendError: this.isRestoring ? RESTORING : appendError(this.storage, this.store),
      hasGap: this.flusher.hasGap,
      exportError: this.files.error,
      bytes: this.storage.sql.databaseSize,
    };
  }

  async deleteAll(): Promise<void> {
    // A run, and parts on their way to D1 or R2, must have ended, or failed, before the storage is deleted.
    await this.scheduler.ended();
    await this.flusher.ended();
    await this.outbound.ended();
    await this.toldOthers();
    await this.files.end();
    // Deletes the alarm too. Source: https://developers.cloudflare.com/changelog/2026-02-24-deleteall-deletes-alarms
    await this.ctx.storage.deleteAll();
    this.isDeleted = true;
    this.scheduler.forget();
  }

  override async alarm(): Promise<void> {
    this.ownAlarm.rang();
    if (this.isRestoring || this.newerFormat !== null) return;
    const deadline = Date.now() + MAX_ALARM_MS;
    const limit = new StatementLimit();
    const isDue = () => limit.hasRoom && Date.now() < deadline && this.scheduler.isDue(Date.now());
    this.resolveOverdue(Date.now());
    try {
      await this.flusher.flush(limit);
      while (isDue() && (await this.scheduler.countNext())) await this.flusher.flush(limit);
      await this.flusher.compact(limit);
      await this.grow(Date.now());
    } catch (error) {
      // Nothing is lost: whatever was not counted, or not accepted by D1, waits for the next alarm.
      logWarning('counting put off', error, { counter: this.name });
    }
    if (this.isDeleted) return;
    // Not awaited: a destination that does not respond must not delay what follows, nor the next run.
    void this.outbound.feed(Date.now(), async () => {
      if (!this.isDeleted) await this.arm(Date.now());
    });
    await this.tellOthers(Date.now());
    if (this.isDeleted) return;
    try {
      await this.files.work(deadline);
    } catch (error) {
      // Nothing is lost: whatever R2 did not accept stays in the log.
      logWarning('raw event files put off', error, { counter: this.name });
    }
    if (this.isDeleted) return;
    await this.pruner.work(Date.now(), deadline);
    await this.arm(Date.now());
  }

  /** Runs one transaction. If it fails, the caches of its data are cleared. */
  protected write<Result>(work: () => Result): Result {
    try {
      return this.storage.transactionSync(work);
    } catch (error) {
      this.seen.forget();
      this.seenShards.forget();
      this.scheduler.refresh(openStore(this.ctx.storage));
      throw error;
    }
  }

  protected noteAppended(events: number, now: number): void {
    this.files.hotEvents += events;
    this.scheduler.noteAppended(events, now);
  }

  /** Sets the alarm for the next work, unless it is set for an earlier time. */
  protected async arm(now: number): Promise<void> {
    if (this.isRestoring) return;
    const dueAt = earliest(
      this.scheduler.dueAt(now),
      this.flusher.dueAt(now),
      this.files.dueAt(now),
      this.pruner.dueAt(),
      this.outbound.dueAt(now),
      this.overdueAt(),
      this.tellDueAt(now),
    );
    if (dueAt !== null) await this.ownAlarm.setFor(Math.max(now, dueAt));
  }

  /** As `arm`, after events were appended and nothing else changed. Appending makes no work due earlier except counting. */
  private async armForPending(now: number): Promise<void> {
    if (!this.ownAlarm.isKnown) return this.arm(now);
    const dueAt = this.scheduler.dueAt(now);
    if (dueAt !== null) await this.ownAlarm.setFor(Math.max(now, dueAt));
  }

  private async grow(now: number): Promise<void> {
    const { store, db, applicationId, shard, growth } = this;
    const bytes = this.storage.sql.databaseSize;
    await growByLoad({ store, db, applicationId, shard, bytes, limits: growth }, this.load, now);
  }
}
