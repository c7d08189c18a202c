import { sql } from 'drizzle-orm';
import {
  type DeviceEvent,
  deviceIdIn,
  isOfDevice,
  type LoggedEvent,
  type OutboundRule,
  type SegmentBook,
} from '#catalogue';
import { idTime } from '#lib/ids';
import type { Steps } from '#lib/steps';
import {
  type OutboxPart,
  PARK_REASON,
  type Parked,
  reasonToIgnore,
  Tally,
  toParkedEvent,
  toParts,
} from '#rollup';
import { AmountBook } from '../amounts/amount-book.ts';
import type { EventOutcome } from '../api.ts';
import type { CountedDevice } from '../devices/counted-devices.ts';
import { isErased, noteUnknownEvents } from '../devices/unknown-devices.ts';
import { reduceEvents } from '../files/log-reader.ts';
import { KeyBook, type KeyRange } from '../keys/key-book.ts';
import { TransactionBook } from '../keys/transaction-book.ts';
import { type Head, progressOf, readBatch } from '../log.ts';
import { OutboundCollector } from '../outbound/collect.ts';
import { applyDevices, prepareWrite, publishSums, replaceSums } from '../outbox/outbox.ts';
import { KEY_WORDS } from '../pack.ts';
import { logOutcomes, progress, revokedTokens } from '../schema.ts';
import { openSegments, saveSegments } from '../segments.ts';
import { type ObjectStore, openStore, toParameters } from '../store.ts';
import { PoisonError, UnknownDevicesError } from './poison.ts';
import { RunDevices } from './run-devices.ts';

/** A run ends with the batch that reaches one of these limits. */
export type RunLimits = {
  events: number;
  /** The memory limit in bytes, for devices, which are written when they exceed their share, and for the rows to add. */
  weight: number;
};

/** The share of the memory for the rows to add. The rest holds thousands of devices before they have to be written. */
const ROWS_SHARE = 0.75;
/**
 * The share from which the rows are published when devices have to be written. Each commit writes all rows again, so a run whose rows hardly
 * repeat would spend its time on that.
 */
const MIN_PUBLISHED_SHARE = 0.25;

/** The events that are read and counted at once: a few milliseconds. */
const EVENTS_PER_STEP = 500;

/** What a run leaves out: events, and devices with all their events. */
type Poison = { events: ReadonlySet<string>; devices: ReadonlySet<string> };

type Scope = {
  applicationId: string;
  heads: readonly Head[];
  poison: Poison;
  /** The application's destinations. */
  outbound: readonly OutboundRule[];
  /** Only the counter's own state is missing: what the events add to D1 is there. */
  rebuilds: boolean;
};

/** As many events of unknown devices are listed in D1 per counter. All of them are in the raw event files. */
const MAX_LISTED_UNKNOWN = 1_000;

type RunEnding = { events: number; lastBatch: number };

/**
 * A run of a counter over the next batches of its log. It counts them in steps. What it found takes effect when it commits: a transaction makes the
 * writes that were prepared before valid, and advances the position in the log. A run whose devices fill the memory commits several times, as
 * long as it has few rows to add; the sums of all commits are published together by the last one.
 */
export class Run {
  private readonly storage: DurableObjectStorage;
  private readonly store: ObjectStore;
  private readonly applicationId: string;
  private readonly heads: readonly Head[];
  private readonly poison: Poison;
  private readonly book: KeyBook;
  private readonly devices: RunDevices;
  private readonly transactions: TransactionBook;
  private readonly outbound: OutboundCollector;
  private readonly amounts: AmountBook;
  private readonly outcomes = new Map<number, Record<number, EventOutcome>>();
  private readonly parked: Parked[] = [];
  private readonly revoked: ReadonlyMap<string, number>;
  private readonly segments: SegmentBook;
  private readonly rebuilds: boolean;
  /** By batch: the devices of which it has events, but which were erased. */
  private readonly erased = new Map<number, Set<string>>();
  private readonly isErased = new Map<string, boolean>();
  /** Events that were parked because their devices are unknown: since the last commit, and in all. */
  private newUnknown = 0;
  private allUnknown: number;
  private readonly restoredAt: number;
  private storedSegments = 0;
  private readonly tally: Tally;
  private last = 0;
  private events = 0;
  private eventsInStep = 0;

  private constructor(
    storage: DurableObjectStorage,
    { applicationId, heads, poison, outbound, rebuilds }: Scope,
    book: KeyBook,
    now: number,
  ) {
    const store = openStore(storage);
    this.storage = storage;
    this.store = store;
    this.applicationId = applicationId;
    this.heads = heads;
    this.poison = poison;
    this.rebuilds = rebuilds;
    const { unknownEvents, restoredAt } = progressOf(store);
    this.allUnknown = unknownEvents;
    this.restoredAt = restoredAt ?? 0;
    this.book = book;
    this.devices = new RunDevices(store, applicationId);
    this.transactions = new TransactionBook(store, now);
    this.outbound = new OutboundCollector(store, outbound);
    this.amounts = new AmountBook(store);
    const revoked = store.select().from(revokedTokens).all();
    this.revoked = new Map(revoked.map(({ tokenId, revokedAt }) => [tokenId, revokedAt]));
    this.segments = openSegments(store);
    this.tally = new Tally({
      deviceNamed: ({ device_id, acquired_day }) =>
        poison.devices.has(device_id) ? undefined : this.devices.named(device_id, acquired_day),
      isFirst(session) {
        if (book.hasSession(session)) return false;
        book.takeSession(session);
        return true;
      },
      segments: this.segments,
      transactions: this.transactions,
    });
  }

  /** Counts the batches of `scope.heads` until a limit is reached. Nothing may be prepared when it starts: see `finishInterrupted`. */
  static *count(
    storage: DurableObjectStorage,
    scope: Scope,
    limits: RunLimits,
    now: number,
  ): Steps<RunEnding> {
    const keys = scope.heads.map(({ keys }) => keys);
    const run = new Run(storage, scope, yield* KeyBook.open(openStore(storage), keys), now);
    return yield* run.countAll(limits, now);
  }

  private *countAll(limits: RunLimits, now: number): Steps<RunEnding> {
    for (const [index, head] of this.heads.entries()) {
      const isFull = this.weightOfRows() + this.devices.weight + this.transactions.weight >= limits.weight;
      if (index > 0 && (isFull || !this.devices.hasLoaded(head.batch))) {
        if (this.weightOfRows() >= limits.weight * MIN_PUBLISHED_SHARE) break;
        yield* this.commit(now, 'continues');
      }
      if (!this.devices.hasLoaded(head.batch))
        yield* this.devices.load(this.heads.slice(index), limits.weight - this.weightOfRows());
      yield* this.countBatch(head);
      this.last = head.batch;
      this.events += head.eventCount;
      if (this.weightOfRows() >= limits.weight * ROWS_SHARE) break;
    }
    yield* this.commit(now, 'ends');
    return { events: this.events, lastBatch: this.last };
  }

  private weightOfRows(): number {
    const { daily, hours, ads, items, custom, activity, revenue, values } = this.tally.counted;
    return [daily, hours, ads, items, custom, activity, revenue, values].reduce(
      (sum, { weight }) => sum + weight,
      0,
    );
  }

  private *countBatch(head: Head): Steps {
    const events = readBatch(this.store, this.applicationId, head.batch);
    this.transactions.load(events);
    const words = head.keys;
    let next = 0;
    for (let first = 0; first < events.length; first += EVENTS_PER_STEP) {
      const step = events.slice(first, first + EVENTS_PER_STEP);
      const devices = this.devices.ofAll(head.batch, first, step);
      for (const [place, event] of step.entries()) {
        const index = first + place;
        const from = next;
        while (words[next] === index) next += KEY_WORDS;
        const keys = { words, from, to: next };
        const outcome = event ? this.countEvent(head.batch, event, devices[place], keys) : undefined;
        if (outcome) this.noteOutcome(head.batch, index, outcome);
      }
      this.eventsInStep += step.length;
      if (this.eventsInStep < EVENTS_PER_STEP) continue;
      this.eventsInStep = 0;
      yield;
    }
  }

  private noteOutcome(batch: number, index: number, outcome: EventOutcome): void {
    const known = this.outcomes.get(batch);
    if (known) known[index] = outcome;
    else this.outcomes.set(batch, { [index]: outcome });
  }

  /** The outcome of an event whose device is not known, or not as acquired on that day. */
  private leaveOut(batch: number, event: DeviceEvent): EventOutcome {
    const { device_id: id } = event;
    const erased = this.isErased.get(id) ?? isErased(this.store, id);
    this.isErased.set(id, erased);
    if (erased) {
      this.erased.set(batch, (this.erased.get(batch) ?? new Set()).add(id));
      return 'ignored';
    }
    if (event.test) return 'ignored';
    if (idTime(id) < this.restoredAt) throw new UnknownDevicesError();
    return this.parkUnknown(event);
  }

  /** Whether an event names a device that is neither known nor erased, as what stores tell may. */
  private isOfUnknown(event: LoggedEvent): boolean {
    const id = deviceIdIn(event);
    if (id === '' || !('acquired_day' in event) || event.acquired_day === undefined) return false;
    if (idTime(id) < this.restoredAt || this.devices.named(id, event.acquired_day)) return false;
    return !isErased(this.store, id);
  }

  private parkUnknown(event: LoggedEvent): EventOutcome {
    this.newUnknown++;
    this.allUnknown++;
    if (this.allUnknown <= MAX_LISTED_UNKNOWN)
      this.parked.push(toParkedEvent(event, PARK_REASON.unknownDevice));
    return 'parked';
  }

  /** Returns undefined for an event that was counted. */
  private countEvent(
    batch: number,
    event: LoggedEvent,
    device: CountedDevice | undefined,
    keys: KeyRange,
  ): EventOutcome | undefined {
    const { events, devices } = this.poison;
    const own = isOfDevice(event) ? event : null;
    if (
      (events.size > 0 && events.has(event.id)) ||
      (own && devices.size > 0 && devices.has(own.device_id))
    ) {
      this.parked.push(toParkedEvent(event));
      return 'parked';
    }
    if (!own && this.isOfUnknown(event)) return this.parkUnknown(event);
    if (own) {
      if (!device) return this.leaveOut(batch, own);
      if (reasonToIgnore(own, device, this.revoked.get(own.token_id ?? ''))) return 'ignored';
    }
    if (!this.book.take(keys, event.id)) return 'duplicate';
    // Destinations are not told of them.
    if ('keys' in event) event.keys = [];
    try {
      this.tally.count(event, device);
      if (own) device?.addToTotals(own);
      this.amounts.note(event);
      const news = this.tally.news();
      if (news) this.outbound.add(news, device, () => this.nextCommit);
    } catch (error) {
      throw new PoisonError(event, error);
    }
    return undefined;
  }

  /** The number of the next commit. */
  private get nextCommit(): number {
    return progressOf(this.store).run + 1;
  }

  private *commit(now: number, then: 'continues' | 'ends'): Steps {
    const { storage, store } = this;
    const run = this.nextCommit;
    const oldestAt = this.heads[0]?.appendedAt ?? now;
    yield* this.devices.eachChange((payload) =>
      prepareWrite(store, { run, kind: 'devices', payload, oldestAt }),
    );
    for (const part of this.rebuilds ? [] : this.sums()) {
      prepareWrite(store, { run, kind: 'sums', payload: JSON.stringify(part), oldestAt });
      yield;
    }
    this.outbound.writeAll(run);
    storage.transactionSync(() => {
      this.book.save(run, now);
      this.transactions.save();
      this.amounts.save(now);
      this.saveOutcomes();
      this.reduceErased();
      noteUnknownEvents(store, this.newUnknown, now);
      this.saveSegments();
      replaceSums(store, run);
      store.update(progress).set({ countedBatch: this.last, countedAt: now, run }).run();
      if (then === 'ends') publishSums(store);
    });
    this.outcomes.clear();
    this.erased.clear();
    this.newUnknown = 0;
    this.devices.unload();
    yield;
    yield* applyDevices(storage, store);
    yield* this.book.compact((work) => storage.transactionSync(work));
  }

  /** Everything that the run adds to D1, as parts of the outbox. */
  private sums(): Iterable<OutboxPart> {
    const { daily, hours, ads, items, custom, activity, revenue } = this.tally.counted;
    const segmentOf = (id: number) => this.segments.segmentOf(id);
    return toParts([daily, hours, ads, items, custom, activity, revenue], segmentOf, this.parked);
  }

  private saveOutcomes(): void {
    const rows = [...this.outcomes].map(([batch, own]) => [batch, JSON.stringify(own)]);
    for (const parameter of toParameters(rows)) {
      this.store.run(
        sql`INSERT INTO ${logOutcomes} SELECT value ->> 0, value ->> 1 FROM json_each(${parameter})`,
      );
    }
  }

  /** Reduces what was sent by devices after their erasure to what recognises it. */
  private reduceErased(): void {
    for (const [batch, ids] of this.erased) reduceEvents(this.store, batch, ids);
  }

  private saveSegments(): void {
    const { added } = this.segments;
    saveSegments(this.store, added.slice(this.storedSegments));
    this.storedSegments = added.length;
  }
}
