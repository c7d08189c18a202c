import { DurableObject } from 'cloudflare:workers';
import { migrate } from 'drizzle-orm/durable-sqlite/migrator';
import {
  backoffMs,
  deviceOf,
  formatIn,
  ObjectAlarm,
  type ObjectStore,
  type OutboundConsent,
  openStore,
  tellCounters,
  tellCountersSoon,
  withConsent,
} from '#counting';
import migrations from '#destination-migrations';
import { settingsOf } from '#env';
import { NewerFormatError, newerFormat } from '#lib/encoding/store-formats';
import { logWarning } from '#lib/log';
import { DAY_MS } from '#lib/time';
import type { OutboundEvent } from '#networks/outbound';
import type {
  Attempt,
  Delivered,
  DeliveryFilter,
  DestinationApi,
  DestinationHealth,
  Replay,
  SenderSetup,
  StoredDelivery,
} from './api.ts';
import type { Finished } from './attempt.ts';
import { afterAttempts, NO_FAILURES, readState, reasonForOff, writeState } from './breaker.ts';
import { Loader } from './loader.ts';
import { Names } from './names.ts';
import { Pump } from './pump.ts';
import { review } from './review.ts';
import { loadSetup, type Setup, SetupReader } from './setup.ts';
import { prune, SPACE, type Space } from './space.ts';
import {
  addPart,
  eraseDevice,
  hasWaiting,
  isNotice,
  type Job,
  keepConsent,
  listDeliveries,
  nextDueAt,
  nextPart,
  readPart,
  readWaiting,
  replaySome,
  saveResults,
} from './store.ts';
import { switchOn } from './switch.ts';
import { wantedOf } from './wanted.ts';

/** An alarm may take 15 minutes. What is left is sent by the next one. */
const MAX_ALARM_MS = 60_000;
/** Does not happen: there is an answer for each event. */
const LOST: Delivered = { skipped: 'The sender did not answer' };

/** Sends counted events of an application to one receiver. See `DestinationApi` for its calls. */
export class DestinationObject extends DurableObject<Env> implements DestinationApi {
  /** The database. A field of its own, so that a test can substitute a failing one. */
  db: D1Database = this.env.DB;
  /** Prepares and sends events, also substitutable in tests. */
  deliver: (events: readonly OutboundEvent[], setup: SenderSetup) => Promise<Delivered[]> = async (
    events,
    setup,
  ) => [...(await this.ctx.exports.OutboundSender.deliver(events, setup))];
  /** Makes the event of a test, likewise. */
  makeTest: (setup: Setup, now: number) => Promise<OutboundEvent> = async (setup, now) =>
    await this.ctx.exports.OutboundSender.makeTest(setup, now);
  /** A test may set less. */
  space: Space = SPACE;
  private storage: DurableObjectStorage = this.ctx.storage;
  private opened: ObjectStore = openStore(this.storage);
  private loader = new Loader(this.opened);
  /** Why the store is not used; null for one in a format that this release knows. */
  private readonly newerFormat: string | null;
  /** Everything was deleted, and no call has used the store since. */
  private isDeleted = false;
  private readonly ownAlarm = new ObjectAlarm(this.ctx.storage);
  private readonly names = new Names(() => this.db);
  private readonly setup = new SetupReader((now) => loadSetup(this.env, this.db, this.name, now));
  private pump: Pump | null = null;
  private working: Promise<void> | null = null;
  /** Devices that were erased while events may be on their way. */
  private readonly erased = new Set<string>();
  /** What devices told of the person's choices meanwhile. */
  private readonly told = new Map<string, OutboundConsent>();
  /** Times in a row that nothing could be sent because of our own stores. */
  private failures = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.newerFormat = newerFormat('destination', formatIn(ctx.storage, 'state'));
    if (this.newerFormat !== null) return;
    void ctx.blockConcurrencyWhile(async () => {
      await migrate(this.opened, migrations);
      this.keepName();
    });
  }

  /** Creates the tables again after `deleteAll` when a call needs them. */
  private get store(): ObjectStore {
    if (this.newerFormat !== null) throw new NewerFormatError(this.newerFormat);
    if (this.isDeleted) {
      this.isDeleted = false;
      // Its promise is fulfilled when it returns: an object's SQLite is synchronous.
      void migrate(this.opened, migrations);
      this.keepName();
    }
    return this.opened;
  }

  /** An alarm does not receive its object's name, but a call does. */
  private keepName(): void {
    const { name } = this.ctx.id;
    if (name && readState(this.opened).name === '') writeState(this.opened, { name });
  }

  /** Starts the object on this storage, as a restart does. A test may pass one that fails. */
  use(storage: DurableObjectStorage): void {
    this.storage = storage;
    this.opened = openStore(storage);
    this.loader = new Loader(this.opened);
  }

  async accept(parts: { id: string; payload: string }[]): Promise<void> {
    const now = Date.now();
    // What does not fit is confirmed all the same, or it would fill the counters. The next alarm switches the destination off.
    const { isFull } = this;
    if (isFull) logWarning('events not accepted', 'The destination is full', { destination_id: this.name });
    this.storage.transactionSync(() => {
      for (const part of parts) {
        if (isNotice(part.payload)) this.heed(part.payload);
        else if (!isFull) addPart(this.store, part, now);
      }
    });
    this.pump?.wake();
    await this.arm(now);
  }

  async changed(): Promise<void> {
    this.setup.forget();
    this.failures = 0;
    // The next alarm goes on with what was changed, or not at all.
    this.pump?.stop();
    await this.arm(Date.now());
  }

  async sendTest(): Promise<Attempt | { skipped: string }> {
    this.setup.forget();
    const now = Date.now();
    const setup = await this.setup.read(now);
    if (!setup) throw new Error(`There is no destination ${this.name}`);
    const event = await this.makeTest(setup, now);
    const [tried] = await this.deliver([event], this.senderSetup(setup, true));
    if (!tried) throw new Error('The test event was not sent');
    if ('skipped' in tried) return tried;
    if (tried.outcome.isDelivered) await this.resume(now);
    return tried.attempt;
  }

  async deliveries(filter: DeliveryFilter, before: string, limit: number): Promise<StoredDelivery[]> {
    return listDeliveries(this.store, filter, before, limit);
  }

  async replay(what: Replay): Promise<number> {
    const now = Date.now();
    let replayed = 0;
    for (let after: string | null = ''; after !== null; ) {
      const from: string = after;
      const some = this.storage.transactionSync(() => replaySome(this.store, what, from, now));
      replayed += some.replayed;
      after = some.through;
    }
    this.pump?.wake();
    await this.arm(now);
    return replayed;
  }

  async health(): Promise<DestinationHealth> {
    const { failuresInRow, failingSince, lastSuccessAt, ...counts } = afterAttempts(
      readState(this.store),
      [],
      Date.now(),
    );
    return {
      ...readWaiting(this.store),
      ...{ failuresInRow, failingSince, lastSuccessAt },
      attempts: counts.attempts + counts.attemptsBefore,
      failed: counts.failed + counts.failedBefore,
    };
  }

  async deleteAll(): Promise<void> {
    this.pump?.stop();
    this.pump = null;
    this.setup.forget();
    await this.ctx.storage.deleteAll();
    this.ownAlarm.forget();
    this.isDeleted = true;
  }

  override async alarm(): Promise<void> {
    this.ownAlarm.rang();
    // A test may call it while the platform does.
    this.working ??= this.work().finally(() => {
      this.working = null;
    });
    await this.working;
  }

  private async work(): Promise<void> {
    const now = Date.now();
    let isMoreToForget = false;
    try {
      const setup = await this.setup.read(now);
      // It was deleted while events were on their way.
      if (!setup) return await this.end();
      const isOn = setup.offReason === null;
      try {
        if (isOn) await this.pumpUntil(now + MAX_ALARM_MS);
      } finally {
        isMoreToForget = await this.prune();
      }
      if (isOn && !this.isDeleted) await this.review(setup);
      this.failures = 0;
    } catch (error) {
      // Nothing is lost: what was not sent, or not stored as sent, waits for the next alarm.
      logWarning('deliveries put off', error, { destination_id: this.name });
      this.failures++;
    }
    if (!this.isDeleted) await this.arm(Date.now(), isMoreToForget);
  }

  private get name(): string {
    return this.ctx.id.name ?? readState(this.store).name;
  }

  private senderSetup({ kind, given }: Setup, isTest: boolean): SenderSetup {
    return { kind, given: { ...given, isTest }, allowsLocal: settingsOf(this.env).OUTBOUND_LOCAL };
  }

  private async pumpUntil(deadline: number): Promise<void> {
    this.loader = new Loader(this.store);
    const pump = new Pump(
      {
        load: (limit, isBusy) => this.loader.load(limit, isBusy, Date.now()),
        deliver: async (jobs, soon) => {
          const now = Date.now();
          const setup = await this.setup.read(now);
          if (setup?.offReason !== null) return null;
          const wanted = await wantedOf({ jobs, soon }, setup, this.names, now);
          const events = wanted.filter((event) => event !== null);
          const delivered =
            events.length === 0 ? [] : await this.deliver(events, this.senderSetup(setup, false));
          return wanted.map((event) => (event === null ? null : (delivered[events.indexOf(event)] ?? LOST)));
        },
        save: (results, dropped) => this.save(results, dropped),
      },
      deadline,
    );
    this.pump = pump;
    try {
      await pump.run();
    } finally {
      this.pump = null;
      this.erased.clear();
      this.told.clear();
    }
  }

  private save(results: readonly Finished[], dropped: Parameters<Loader['finish']>[0]): void {
    if (this.isDeleted) return;
    const now = Date.now();
    const endings = results.flatMap(({ ending }) => ending ?? []);
    const kept = results
      .filter(({ job }) => !this.erased.has(deviceOf(job.item)))
      .map((result) => ({ ...result, job: this.heeding(result.job) }));
    this.storage.transactionSync(() => {
      saveResults(this.store, kept, this.bytes >= this.space.terse);
      this.loader.finish([...results.map(({ job }) => job), ...dropped]);
      if (endings.length > 0) writeState(this.store, afterAttempts(readState(this.store), endings, now));
    });
    const wantsNothing = results.find(({ isOff }) => isOff);
    if (wantsNothing) this.offReason = wantsNothing.reason ?? 'The receiver wants nothing more';
    if (this.offReason ?? reasonForOff(readState(this.store), now)) this.pump?.stop();
  }

  /** Why the receiver wants nothing more; null if it has not said so. */
  private offReason: string | null = null;

  /** Deletes what is left of a destination that was deleted, and has a counter know that did not hear of it. */
  private async end(): Promise<void> {
    const applicationId = nextPart(this.store, 0)?.items[0]?.event.application_id;
    await this.deleteAll();
    if (applicationId !== undefined) await tellCounters(this.env, applicationId);
  }

  /** Tells people of failures, and switches off what fails for too long. */
  private async review(setup: Setup): Promise<void> {
    const now = Date.now();
    const { db, store, name: id, offReason, isFull } = this;
    const isQuiet = this.nextAt(now) === null;
    if (!(await review({ d1: db, store, id, setup, now }, { offReason, isFull, isQuiet }))) return;
    this.offReason = null;
    this.setup.forget();
    await tellCountersSoon(this.env, setup.application.id);
  }

  /** After a test that succeeded. */
  private async resume(now: number): Promise<void> {
    writeState(this.store, { ...NO_FAILURES, lastSuccessAt: now });
    if (!(await switchOn(this.db, this.name))) return;
    this.setup.forget();
    const setup = await this.setup.read(now);
    if (setup) await tellCountersSoon(this.env, setup.application.id);
    await this.arm(now);
  }

  private heeding(job: Job): Job {
    const told = this.told.get(deviceOf(job.item));
    return told ? { ...job, item: withConsent(job.item, told) } : job;
  }

  /** Heeds what a part says about a device. */
  private heed(payload: string): void {
    const part = readPart(payload);
    if ('consent' in part) {
      keepConsent(this.store, part.consent);
      this.told.set(part.consent.deviceId, part.consent);
      this.pump?.change((job) => this.heeding(job));
    }
    if (!('erased' in part)) return;
    eraseDevice(this.store, part.erased);
    this.erased.add(part.erased);
    this.pump?.drop(({ item }) => deviceOf(item) === part.erased);
  }

  private get bytes(): number {
    return this.storage.sql.databaseSize;
  }

  /** Whether nothing more is accepted. */
  private get isFull(): boolean {
    return this.bytes >= this.space.full;
  }

  /** Returns whether the next alarm has to continue. */
  private prune(): Promise<boolean> {
    return prune({
      ...{ store: () => this.store, bytes: () => this.bytes, space: this.space },
      transaction: (work) => this.storage.transactionSync(work),
      isEnded: () => this.isDeleted,
    });
  }

  /** When something is to be sent; null if nothing waits. */
  private nextAt(now: number): number | null {
    return hasWaiting(this.store) ? now : nextDueAt(this.store);
  }

  /** Sets the alarm for the next work. */
  private async arm(now: number, isMoreToForget = false): Promise<void> {
    const waitMs = this.failures === 0 ? 0 : backoffMs(this.failures);
    const waiting = isMoreToForget ? now : this.setup.isOff ? null : this.nextAt(now);
    const at = Math.max(waiting ?? now + DAY_MS, now + waitMs);
    await this.ownAlarm.setFor(at);
  }
}
