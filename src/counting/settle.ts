import { asc, eq, gt, sql } from 'drizzle-orm';
import { type DeviceEvent, isOfDevice, kindOf, type LoggedEvent, SegmentBook } from '#catalogue';
import { logError } from '#lib/log';
import {
  type DeviceState,
  deviceKey,
  deviceKeyOf,
  type Parked,
  reasonToIgnore,
  scopedKey,
  startTally,
  type Tally,
  toParkedEvent,
} from '#rollup';
import type { Outcome } from './api.ts';
import { type CountedDevice, loadDevices, saveDevices } from './devices.ts';
import { KeyBook, type KeyRange } from './key-book.ts';
import { type SegmentRow, toParts } from './outbox.ts';
import { KEY_DAY, KEY_WORDS } from './pack.ts';
import { log, logOutcomes, outbox, progress, revokedTokens, segments } from './schema.ts';
import { openStore, type Store, toParameters, wordsOf } from './store.ts';
import { addToTotals } from './totals.ts';

/** A run ends with the batch that reaches one of these. */
export type RunLimits = {
  events: number;
  /** Of what is kept in memory, in bytes: devices, which are written when they take too much, and the rows to add. */
  weight: number;
};

export const FULL_RUN: RunLimits = { events: 200_000, weight: 32_000_000 };
/** So many are read of the log to find where a run ends. */
const MAX_BATCHES = 4_000;
/** Of the hashed keys of a run: some 350,000. */
const MAX_KEY_BYTES = 8_400_000;
const DEVICE_WEIGHT = 2_400;
/** The share of the weight that is for the rows to add: what is left takes thousands of devices before they are written. */
const ROWS_SHARE = 0.75;

type Head = { batch: number; eventCount: number; appendedAt: number; keys: Uint32Array };

/**
 * Counts the next batches of the log: device state, keys, what D1 is to add and how far the log is counted are one local
 * transaction, and a run may write the same device several times in it. Synchronous, so nothing comes in between, and repeatable at any point: without the commit nothing happened.
 * Null when nothing waits.
 */
export function settleRun(
  storage: DurableObjectStorage,
  applicationId: string,
  limits: RunLimits,
  now: number,
): { events: number; lastBatch: number } | null {
  const store = openStore(storage);
  const heads = nextHeads(store, limits.events);
  if (heads.length === 0) return null;
  const poison = new Set<string>();
  for (;;) {
    try {
      return storage.transactionSync(() => {
        const run = new Run(store, applicationId, heads, poison);
        const counted = run.count(limits);
        run.save(now);
        return counted;
      });
    } catch (error) {
      if (!(error instanceof PoisonError)) throw error;
      // The state of a run that an event broke is thrown away; its other events are counted without any that break one.
      findPoison(store, applicationId, heads, poison);
      poison.add(error.event.id);
    }
  }
}

/** The batches of the next run, with the hashes of their keys but without their events. */
function nextHeads(store: Store, limit: number): Head[] {
  const rows = store
    .select({
      batch: log.batch,
      eventCount: log.eventCount,
      appendedAt: log.appendedAt,
      keyBytes: sql<number>`length(${log.keys})`,
    })
    .from(log)
    .where(gt(log.batch, sql`(SELECT ${progress.countedBatch} FROM ${progress})`))
    .orderBy(asc(log.batch))
    .limit(MAX_BATCHES)
    .all();
  const chosen: Head[] = [];
  let [events, keyBytes] = [0, 0];
  for (const { keyBytes: own, ...row } of rows) {
    events += row.eventCount;
    keyBytes += own;
    if (chosen.length > 0 && (events > limit || keyBytes > MAX_KEY_BYTES)) break;
    const keys = store.select({ keys: log.keys }).from(log).where(eq(log.batch, row.batch)).get()?.keys;
    chosen.push({ ...row, keys: keys ? wordsOf(keys) : new Uint32Array() });
  }
  return chosen;
}

/** An event whose counting threw. */
class PoisonError extends Error {
  readonly event: LoggedEvent;
  constructor(event: LoggedEvent, cause: unknown) {
    super(`An event can't be counted: ${String(cause)}`, { cause });
    this.event = event;
  }
}

/** Fixed texts are parked; what was thrown stands in the log alone, beside the event's id. */
function logPoison(event: LoggedEvent, error: unknown): void {
  logError('event parked', error, { event_id: event.id, application_id: event.application_id });
}

/** Counts each event alone, to find all that can't be counted at once. */
function findPoison(store: Store, applicationId: string, heads: readonly Head[], poison: Set<string>): void {
  for (const head of heads) {
    const events = readBatch(store, applicationId, head.batch).flatMap((event) => event ?? []);
    const known = knownDevices(loadDevices(store, applicationId, deviceIds(events)));
    for (const event of events) {
      try {
        const deviceOf = (own: DeviceEvent) => known.get(deviceKeyOf(own));
        const segments = new SegmentBook();
        startTally({ deviceOf, keys: new Map(), revokedTokens: new Map(), segments }).count(event);
      } catch (error) {
        logPoison(event, error);
        poison.add(event.id);
      }
    }
  }
}

/** The events of a batch with what stands beside them put back in; null for an erased device's. */
export function unpackEvents(applicationId: string, events: string): (LoggedEvent | null)[] {
  const unpacked: (LoggedEvent | null)[] = JSON.parse(events);
  for (const event of unpacked) if (event) event.application_id = applicationId;
  return unpacked;
}

function readBatch(store: Store, applicationId: string, batch: number) {
  const row = store.select({ events: log.events }).from(log).where(eq(log.batch, batch)).get();
  return unpackEvents(applicationId, row?.events ?? '[]');
}

const deviceIds = (events: readonly LoggedEvent[]) =>
  new Set(events.filter(isOfDevice).map((event) => event.device_id));

const knownDevices = (found: readonly CountedDevice[]): Map<string, DeviceState> =>
  new Map(found.map(({ state }) => [deviceKey(state), state]));

/** One run: fed batch by batch, then written. */
class Run {
  private readonly store: Store;
  private readonly applicationId: string;
  private readonly heads: readonly Head[];
  private readonly poison: ReadonlySet<string>;
  private readonly book: KeyBook;
  private readonly devices = new Map<string, CountedDevice>();
  private readonly missing = new Set<string>();
  private readonly outcomes = new Map<number, Record<number, Outcome>>();
  private readonly parked: Parked[] = [];
  private readonly revoked = new Map<string, number>();
  private readonly segments: SegmentBook;
  private readonly tally: Tally;
  private last = 0;
  private events = 0;

  constructor(store: Store, applicationId: string, heads: readonly Head[], poison: ReadonlySet<string>) {
    this.store = store;
    this.applicationId = applicationId;
    this.heads = heads;
    this.poison = poison;
    for (const { tokenId, revokedAt } of store.select().from(revokedTokens).all()) {
      this.revoked.set(tokenId, revokedAt);
    }
    this.book = new KeyBook(
      store,
      heads.map(({ keys }) => keys),
    );
    this.segments = new SegmentBook(
      store
        .select()
        .from(segments)
        .all()
        .map(({ segmentId }) => segmentId),
    );
    this.tally = startTally({
      deviceOf: (event) => this.stateOf(event),
      // An event's own keys are looked up here: it is given to the tally without them, which then asks for sessions only.
      keys: { get: (name) => (this.book.hasSession(this.sessionOf(name)) ? 'seen' : undefined) },
      revokedTokens: this.revoked,
      segments: this.segments,
    });
  }

  count(limits: RunLimits): { events: number; lastBatch: number } {
    for (const head of this.heads) {
      this.countBatch(head);
      this.last = head.batch;
      this.events += head.eventCount;
      const rows = this.weightOfRows();
      if (rows >= limits.weight * ROWS_SHARE) break;
      if (rows + this.devices.size * DEVICE_WEIGHT >= limits.weight) this.writeDevices();
    }
    return { events: this.events, lastBatch: this.last };
  }

  private weightOfRows(): number {
    const { daily, hours, ads, items, custom, activity, revenue } = this.tally.counted;
    return [daily, hours, ads, items, custom, activity, revenue].reduce((sum, { weight }) => sum + weight, 0);
  }

  /** Undefined for a device that was erased. Events of it that were sent with another acquisition day are not its own. */
  private stateOf(event: DeviceEvent): DeviceState | undefined {
    const state = this.devices.get(event.device_id)?.state;
    return state?.acquiredDay === event.acquired_day ? state : undefined;
  }

  private sessionOf(name: string): string {
    return name.slice(scopedKey(this.applicationId, KEY_DAY.any, '').length);
  }

  private countBatch(head: Head): void {
    const events = readBatch(this.store, this.applicationId, head.batch);
    this.load(events.flatMap((event) => event ?? []));
    const words = head.keys;
    let next = 0;
    for (const [index, event] of events.entries()) {
      const from = next;
      while (words[next] === index) next += KEY_WORDS;
      if (!event) continue;
      const outcome = this.countEvent(event, { words, from, to: next });
      if (!outcome) continue;
      const known = this.outcomes.get(head.batch);
      if (known) known[index] = outcome;
      else this.outcomes.set(head.batch, { [index]: outcome });
    }
  }

  private load(events: readonly LoggedEvent[]): void {
    const ids = [...deviceIds(events)].filter((id) => !this.devices.has(id) && !this.missing.has(id));
    for (const device of loadDevices(this.store, this.applicationId, ids)) {
      this.devices.set(device.state.id, device);
    }
    for (const id of ids) if (!this.devices.has(id)) this.missing.add(id);
  }

  /** Undefined for an event that counted. */
  private countEvent(event: LoggedEvent, keys: KeyRange): Outcome | undefined {
    if (this.poison.has(event.id)) {
      this.parked.push(toParkedEvent(event));
      return 'parked';
    }
    if (isOfDevice(event)) {
      const stored = this.stateOf(event);
      if (!stored || reasonToIgnore(event, stored, this.revoked.get(event.token_id ?? ''))) return 'ignored';
      if (!this.book.take(keys, event.id)) return 'duplicate';
      event.keys = [];
    }
    try {
      this.tally.count(event);
    } catch (error) {
      throw new PoisonError(event, error);
    }
    if (isOfDevice(event)) this.addToTotals(event);
    return undefined;
  }

  private addToTotals(event: DeviceEvent): void {
    const { clientTotal } = kindOf(event);
    const device = clientTotal && this.devices.get(event.device_id);
    if (!device) return;
    device[clientTotal.of] = addToTotals(device[clientTotal.of], event, clientTotal);
    device.totalsChanged = true;
  }

  save(now: number): void {
    const { store } = this;
    const { counted } = this.tally;
    const state = store.select().from(progress).get();
    if (!state) throw new Error('The counter has no progress row');
    const run = state.run + 1;
    for (const { key } of counted.keys) this.book.takeSession(key);
    this.writeDevices();
    this.book.save(run, now);
    for (const parameter of toParameters(
      [...this.outcomes].map(([batch, own]) => [batch, JSON.stringify(own)]),
    )) {
      store.run(sql`INSERT INTO ${logOutcomes} SELECT value ->> 0, value ->> 1 FROM json_each(${parameter})`);
    }
    const added = this.segments.added.map(({ id, country, os, appVersion }): SegmentRow => {
      return [this.applicationId, id, country, os, appVersion];
    });
    for (const parameter of toParameters(this.segments.added.map(({ id }) => id))) {
      store.run(sql`INSERT INTO ${segments} SELECT value FROM json_each(${parameter})`);
    }
    let { sequence } = state;
    const oldestAt = this.heads[0]?.appendedAt ?? now;
    const { daily, hours, ads, items, custom, activity, revenue } = counted;
    for (const payload of toParts(
      [daily, hours, ads, items, custom, activity, revenue],
      added,
      this.parked,
    )) {
      store.insert(outbox).values({ sequence: ++sequence, payload, oldestAt }).run();
    }
    store.update(progress).set({ countedBatch: this.last, countedAt: now, sequence, run }).run();
  }

  /** Writes the devices that changed. Those that further events are of are read again. */
  private writeDevices(): void {
    saveDevices(this.store, this.changedDevices());
    this.devices.clear();
    this.missing.clear();
  }

  private *changedDevices(): Generator<CountedDevice> {
    const changed = new Set<string>();
    for (const state of this.tally.takeDevices()) {
      const device = this.devices.get(state.id);
      if (!device) continue;
      changed.add(state.id);
      yield { ...device, state, paidChanged: state.paidDays !== device.state.paidDays };
    }
    for (const [id, device] of this.devices) if (device.totalsChanged && !changed.has(id)) yield device;
  }
}
