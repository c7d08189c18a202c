import { DurableObject } from 'cloudflare:workers';
import { migrate } from 'drizzle-orm/durable-sqlite/migrator';
import migrations from '#counter-migrations';
import { settingsOf } from '#env';
import type { Bucket, EventFilter } from '#lake';
import { logWarning } from '#lib/log';
import { nextTurn } from '#lib/next-turn';
import { DAY_MS } from '#lib/time';
import { withTimeout } from '#lib/timeout';
import type {
  AppendedStatus,
  CounterApi,
  CounterHealth,
  CreatedDevice,
  DeviceIdentity,
  FilePage,
  LogPage,
  NewDevice,
  PackedBatch,
  Settled,
  StoredDevice,
} from './api.ts';
import { createOrFind, noteShards } from './create-devices.ts';
import { deleteDevice, findByAlias, readDevice } from './devices.ts';
import { erasedAmong, eraseFromFiles, filesToRewrite } from './file-erasures.ts';
import { listFiles } from './file-index.ts';
import { Flusher } from './flusher.ts';
import { countFunnel } from './funnel.ts';
import { readHealth } from './health.ts';
import { appendFresh, appendSome, lastBatch, type Pending, pendingIn, progressOf } from './log.ts';
import { blankEvents, eventStatus, readLog } from './log-reader.ts';
import { closeGap, oldestInOutbox } from './outbox.ts';
import { countOutcomes } from './outcomes.ts';
import {
  countDueAt,
  FLUSH_TIMEOUT_MS,
  MAX_ALARM_MS,
  MAX_REPORT_WAIT_MS,
  QUIET_WAIT_MS,
  REPORT_RUN,
} from './pace.ts';
import { countPurchases } from './purchases.ts';
import { clientTotals, payers } from './queries.ts';
import type {
  ClientTotals,
  Cohort,
  DeviceFilter,
  FunnelAnswer,
  FunnelQuestion,
  OutcomesAnswer,
  OutcomesQuestion,
  Payers,
  PayersQuery,
  PurchasesAnswer,
  PurchasesQuestion,
} from './questions.ts';
import { RawFiles } from './raw-files.ts';
import { progress, revokedTokens } from './schema.ts';
import { SeenIds } from './seen-ids.ts';
import { FULL_RUN, type RunLimits, settleRun } from './settle.ts';
import { readCounterName } from './shards.ts';
import { openStore, type Store } from './store.ts';
import {
  GROWTH,
  type GrowthLimits,
  growWhenLoaded,
  MAX_BACKOFF_MS,
  pruneDueAt,
  pruneRepeats,
  readRedeliveryLimit,
} from './upkeep.ts';

/**
 * Counts the events of one application, or of one shard of it: keeps their log, tells repeats, keeps the state of the devices
 * that live here, and adds what it counted to the rollups in D1. See `CounterApi` for its calls.
 */
export class Counter extends DurableObject<Env> implements CounterApi {
  /** The database; an own field so that a test may put a failing one in its place. */
  db: D1Database = this.env.DB;
  /** Where raw events go; an own field for the same reason. */
  bucket: Bucket = this.env.RAW_EVENTS;
  growth: GrowthLimits = GROWTH;
  fullRun: RunLimits = FULL_RUN;
  quietWaitMs = QUIET_WAIT_MS;
  flushTimeoutMs = FLUSH_TIMEOUT_MS;
  private storage: DurableObjectStorage = this.ctx.storage;
  private store: Store = openStore(this.ctx.storage);
  private seen = new SeenIds(this.store);
  private pending: Pending = { events: 0, oldestAt: null };
  private files!: RawFiles;
  private readonly flusher = new Flusher({
    store: () => this.store,
    db: () => this.db,
    name: () => this.name,
    timeoutMs: () => this.flushTimeoutMs,
  });
  private pruneAgainAt = 0;
  /** When the alarm is set for; undefined where it is not known. */
  private alarmAt: number | null | undefined;
  private load = { since: Date.now(), events: 0 };

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    void ctx.blockConcurrencyWhile(async () => {
      await migrate(this.store, migrations);
      const { name } = progressOf(this.store);
      // An alarm is not told the name of its object, a call is.
      if (name === '' && ctx.id.name) this.store.update(progress).set({ name: ctx.id.name }).run();
      this.pending = pendingIn(this.store);
      this.files = new RawFiles({
        store: () => this.store,
        bucket: () => this.bucket,
        source: () => readCounterName(this.name),
        transaction: (work) => this.write(work),
      });
      await this.arm(Date.now());
    });
  }

  /** Puts the object on this storage, as a restart does; a test may give one that fails. */
  use(storage: DurableObjectStorage): void {
    this.storage = storage;
    this.store = openStore(storage);
    this.seen = new SeenIds(this.store);
    this.pending = pendingIn(openStore(this.ctx.storage));
  }

  /** Starts measuring the rate of events anew. */
  measureLoadFrom(since: number): void {
    this.load = { since, events: 0 };
  }

  async append(batch: PackedBatch): Promise<{ appended: number; pending: number }> {
    const now = Date.now();
    const appended = this.write(() => appendFresh(this.store, this.seen, batch, now));
    this.load.events += appended;
    this.notePending(appended, now);
    await this.arm(now);
    return { appended, pending: this.pending.events };
  }

  async settle(waitMs = MAX_REPORT_WAIT_MS): Promise<Settled> {
    const deadline = Date.now() + Math.min(waitMs, MAX_REPORT_WAIT_MS);
    const target = lastBatch(this.store);
    const isCounted = () => progressOf(this.store).countedBatch >= target;
    let settled = false;
    while (!isCounted() && Date.now() < deadline) {
      this.countNext(REPORT_RUN);
      await nextTurn();
    }
    if (isCounted()) settled = await finishesBy(this.flusher.flush(), deadline);
    await this.arm(Date.now());
    return { settled, countedThrough: this.countedThrough(Date.now()) };
  }

  async createOrFindDevices(
    shards: number,
    wanted: { alias: string | null; device: NewDevice }[],
    installs: PackedBatch,
  ): Promise<CreatedDevice[]> {
    const now = Date.now();
    const made = this.write(() => {
      const known = noteShards(this.store, shards);
      const place = { shard: this.shard, shards, known };
      const outcomes = wanted.map((one) => createOrFind(this.store, one, place));
      const created = outcomes.flatMap(({ outcome }, index) => (outcome === 'created' ? [index] : []));
      // A repeated call finds the devices, so their installs need no place among the ids.
      appendSome(this.store, installs, created, now);
      return { outcomes, created: created.length };
    });
    this.notePending(made.created, now);
    await this.arm(now);
    return made.outcomes;
  }

  async findDevices(aliases: string[], shards: number): Promise<(DeviceIdentity | null)[]> {
    return this.write(() => {
      noteShards(this.store, shards);
      return aliases.map((alias) => findByAlias(this.store, alias));
    });
  }

  async readDevice(id: string): Promise<StoredDevice | null> {
    return readDevice(this.store, id);
  }

  async eraseDevice(id: string): Promise<{ found: boolean; events: number }> {
    // What arrived before is counted first: totals stay.
    while (this.countNext(this.fullRun)) await nextTurn();
    const erased = this.write(() => ({
      found: deleteDevice(this.store, id),
      events: blankEvents(this.store, id),
      files: eraseFromFiles(this.store, id, Date.now()),
    }));
    await this.arm(Date.now());
    return { found: erased.found, events: erased.events };
  }

  async revokeToken(tokenId: string, at: number): Promise<void> {
    this.store.insert(revokedTokens).values({ tokenId, revokedAt: at }).onConflictDoNothing().run();
  }

  async eraseEvents(ids: string[]): Promise<number> {
    while (this.countNext(this.fullRun)) await nextTurn();
    const now = Date.now();
    const erased = this.write(() => {
      for (const id of ids) eraseFromFiles(this.store, id, now);
      return ids.reduce((sum, id) => sum + blankEvents(this.store, id), 0);
    });
    await this.arm(now);
    return erased;
  }

  async filesToRewrite(ids: string[]): Promise<number> {
    return filesToRewrite(this.store, ids);
  }

  async readLog(filter: EventFilter, before: string | null, limit: number): Promise<LogPage> {
    return readLog(this.store, this.applicationId, filter, before, limit);
  }

  async listFiles(
    filter: EventFilter,
    range: { before: string | null; after: string | null },
  ): Promise<FilePage> {
    return listFiles(this.store, filter, range);
  }

  async erasedAmong(ids: string[]): Promise<string[]> {
    return erasedAmong(this.store, ids);
  }

  async eventStatus(eventId: string): Promise<AppendedStatus | null> {
    return eventStatus(this.store, this.applicationId, this.seen, eventId);
  }

  async eventStatuses(eventIds: string[]): Promise<(AppendedStatus['status'] | null)[]> {
    return eventIds.map((id) => eventStatus(this.store, this.applicationId, this.seen, id)?.status ?? null);
  }

  async clientTotals(cohort: Cohort, filter: DeviceFilter = {}): Promise<ClientTotals> {
    return clientTotals(this.store, cohort, filter);
  }

  async funnel(question: FunnelQuestion): Promise<FunnelAnswer> {
    return await countFunnel(this.store, question);
  }

  async outcomes(question: OutcomesQuestion): Promise<OutcomesAnswer> {
    return await countOutcomes(this.store, question);
  }

  async purchases(question: PurchasesQuestion): Promise<PurchasesAnswer> {
    return await countPurchases(this.store, question);
  }

  async payers(query: PayersQuery): Promise<Payers> {
    return payers(this.store, query);
  }

  async resumeFlush(): Promise<boolean> {
    // What is being sent ends first, whether it succeeds or not.
    await this.flusher.flush().catch(() => undefined);
    const resumed = this.flusher.hasGap && (await closeGap(this.store, this.db, this.name));
    if (resumed) await this.flusher.flush();
    await this.arm(Date.now());
    return resumed;
  }

  async health(): Promise<CounterHealth> {
    return {
      ...readHealth(this.store),
      countedThrough: this.countedThrough(Date.now()),
      flushError: this.flusher.error,
      hasGap: this.flusher.hasGap,
      exportError: this.files.error,
      bytes: this.storage.sql.databaseSize,
    };
  }

  async deleteAll(): Promise<void> {
    // What is on its way to D1 arrives first, or not at all.
    await this.flusher.ended();
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }

  async restart(): Promise<void> {
    this.ctx.abort('The storage of this counter was deleted');
  }

  override async alarm(): Promise<void> {
    this.alarmAt = null;
    const deadline = Date.now() + MAX_ALARM_MS;
    try {
      await this.flusher.flush();
      while (Date.now() < deadline && this.isDue(Date.now()) && this.countNext(this.fullRun))
        await this.flusher.flush();
      await this.flusher.mergeBlocks();
      await this.grow(Date.now());
    } catch (error) {
      // Nothing is lost: what was not counted or not taken by D1 waits for the next alarm.
      logWarning('counting put off', error, { counter: this.name });
    }
    try {
      await this.files.work(deadline);
    } catch (error) {
      // Nothing is lost: what R2 did not take stays in the log.
      logWarning('raw event files put off', error, { counter: this.name });
    }
    try {
      await this.pruneDaily(Date.now(), deadline);
    } catch (error) {
      this.pruneAgainAt = Date.now() + MAX_BACKOFF_MS;
      logWarning('pruning put off', error, { counter: this.name });
    }
    await this.arm(Date.now());
  }

  private get name(): string {
    return progressOf(this.store).name;
  }

  private get applicationId(): string {
    return readCounterName(this.name).applicationId;
  }

  private get shard(): number {
    return readCounterName(this.name).shard;
  }

  /** One transaction. Where it fails, what is remembered of it in memory is forgotten. */
  private write<Result>(work: () => Result): Result {
    try {
      return this.storage.transactionSync(work);
    } catch (error) {
      this.seen.forget();
      this.pending = pendingIn(openStore(this.ctx.storage));
      throw error;
    }
  }

  /** Counts one run; false when nothing waits. */
  private countNext(limits: RunLimits): boolean {
    const run = settleRun(this.storage, this.applicationId, limits, Date.now());
    this.pending = pendingIn(this.store);
    return run !== null;
  }

  private notePending(events: number, now: number): void {
    if (events === 0) return;
    this.files.hotEvents += events;
    this.pending = { events: this.pending.events + events, oldestAt: this.pending.oldestAt ?? now };
  }

  private countDueAt(now: number): number | null {
    return countDueAt(this.pending, this.fullRun, this.quietWaitMs, now);
  }

  private isDue(now: number): boolean {
    return (this.countDueAt(now) ?? Number.POSITIVE_INFINITY) <= now;
  }

  /** Sets the alarm for the next thing to do, unless it is set for an earlier time. */
  private async arm(now: number): Promise<void> {
    const times = [
      this.countDueAt(now) ?? [],
      this.flusher.dueAt(now) ?? [],
      this.files.dueAt(now) ?? [],
      this.pruneDueAt() ?? [],
    ].flat();
    if (times.length === 0) return;
    const at = Math.max(now, Math.min(...times));
    if (this.alarmAt === undefined) this.alarmAt = await this.ctx.storage.getAlarm();
    if (this.alarmAt !== null && this.alarmAt <= at) return;
    // Where this fails, the next call looks whether there is an alarm.
    this.alarmAt = undefined;
    await this.ctx.storage.setAlarm(at);
    this.alarmAt = at;
  }

  private pruneDueAt(): number | null {
    const dueAt = pruneDueAt(this.store);
    return dueAt === null ? null : Math.max(dueAt, this.pruneAgainAt);
  }

  private countedThrough(now: number): number {
    const oldest = [this.pending.oldestAt ?? [], oldestInOutbox(this.store) ?? []].flat();
    return oldest.length === 0 ? now : Math.min(...oldest) - 1;
  }

  private async pruneDaily(now: number, deadline: number): Promise<void> {
    if (now < (this.pruneDueAt() ?? Number.POSITIVE_INFINITY)) return;
    const limit = await readRedeliveryLimit(this.db, this.applicationId, now);
    await this.files.tidy(deadline, now, now - settingsOf(this.env).RAW_RETENTION_DAYS * DAY_MS);
    this.write(() => pruneRepeats(this.store, this.seen, this.env, limit, now));
  }

  private async grow(now: number): Promise<void> {
    const { since, events } = this.load;
    const seconds = (now - since) / 1_000;
    const bytes = this.storage.sql.databaseSize;
    const { raisedBytes } = progressOf(this.store);
    const eventsPerSecond = seconds >= 1 ? events / seconds : 0;
    const load = { shard: this.shard, bytes, eventsPerSecond, raisedBytes };
    const reason = await growWhenLoaded(this.db, this.applicationId, load, this.growth);
    if (reason || seconds >= 60) this.measureLoadFrom(now);
    if (reason === 'size') this.store.update(progress).set({ raisedBytes: bytes }).run();
  }
}

/** Whether work ends well until a time. It goes on after it. */
async function finishesBy(work: Promise<void>, deadline: number): Promise<boolean> {
  try {
    await withTimeout(work, Math.max(0, deadline - Date.now()));
    return true;
  } catch (error) {
    logWarning('flush put off', error);
    return false;
  }
}
