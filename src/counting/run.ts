import { sql } from 'drizzle-orm';
import { isOfDevice, type LoggedEvent, SegmentBook } from '#catalogue';
import { type Parked, reasonToIgnore, scopedKey, startTally, type Tally, toParkedEvent } from '#rollup';
import type { Outcome } from './api.ts';
import { KeyBook, type KeyRange } from './key-book.ts';
import { type Head, readBatch } from './log-heads.ts';
import { type SegmentRow, toParts } from './outbox.ts';
import { KEY_DAY, KEY_WORDS } from './pack.ts';
import { PoisonError } from './poison.ts';
import { RunDevices } from './run-devices.ts';
import { logOutcomes, outbox, progress, revokedTokens, segments } from './schema.ts';
import { type Store, toParameters } from './store.ts';

/** A run ends with the batch that reaches one of these limits. */
export type RunLimits = {
  events: number;
  /** The memory limit in bytes, for devices, which are written when they exceed their share, and for the rows to add. */
  weight: number;
};

/** The share of the memory for the rows to add. The rest holds thousands of devices before they have to be written. */
const ROWS_SHARE = 0.75;

/** What a run leaves out: events, and devices with all their events. */
type Poison = { events: ReadonlySet<string>; devices: ReadonlySet<string> };

/** A run, which receives batches one by one and is then written. */
export class Run {
  private readonly store: Store;
  private readonly applicationId: string;
  private readonly heads: readonly Head[];
  private readonly poison: Poison;
  private readonly book: KeyBook;
  private readonly devices: RunDevices;
  private readonly outcomes = new Map<number, Record<number, Outcome>>();
  private readonly parked: Parked[] = [];
  private readonly revoked: ReadonlyMap<string, number>;
  private readonly segments: SegmentBook;
  private readonly tally: Tally;
  private last = 0;
  private events = 0;

  constructor(store: Store, applicationId: string, heads: readonly Head[], poison: Poison) {
    this.store = store;
    this.applicationId = applicationId;
    this.heads = heads;
    this.poison = poison;
    this.devices = new RunDevices(store, applicationId);
    const revoked = store.select().from(revokedTokens).all();
    this.revoked = new Map(revoked.map(({ tokenId, revokedAt }) => [tokenId, revokedAt]));
    this.book = new KeyBook(
      store,
      heads.map(({ keys }) => keys),
    );
    const known = store.select().from(segments).all();
    this.segments = new SegmentBook(known.map(({ segmentId }) => segmentId));
    this.tally = startTally({
      deviceOf: (event) => this.devices.of(event),
      // An event's own keys are looked up here. The tally receives it without them, and then asks only for sessions.
      keys: {
        eventOf: (name) => (this.book.hasSession(this.sessionOf(name)) ? 'seen' : undefined),
        take: ({ key }) => this.book.takeSession(key),
      },
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
      if (rows + this.devices.weight >= limits.weight) this.devices.write();
    }
    return { events: this.events, lastBatch: this.last };
  }

  private weightOfRows(): number {
    const { daily, hours, ads, items, custom, activity, revenue, values } = this.tally.counted;
    return [daily, hours, ads, items, custom, activity, revenue, values].reduce(
      (sum, { weight }) => sum + weight,
      0,
    );
  }

  private sessionOf(name: string): string {
    return name.slice(scopedKey(this.applicationId, KEY_DAY.any, '').length);
  }

  private countBatch(head: Head): void {
    const events = readBatch(this.store, this.applicationId, head.batch);
    this.devices.load(events);
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

  /** Returns undefined for an event that was counted. */
  private countEvent(event: LoggedEvent, keys: KeyRange): Outcome | undefined {
    if (this.isPoison(event)) {
      this.parked.push(toParkedEvent(event));
      return 'parked';
    }
    if (isOfDevice(event)) {
      const device = this.devices.of(event);
      if (!device || reasonToIgnore(event, device, this.revoked.get(event.token_id ?? ''))) return 'ignored';
      if (!this.book.take(keys, event.id)) return 'duplicate';
      event.keys = [];
    }
    try {
      this.tally.count(event);
      if (isOfDevice(event)) this.devices.of(event)?.addToTotals(event);
    } catch (error) {
      throw new PoisonError(event, error);
    }
    return undefined;
  }

  private isPoison(event: LoggedEvent): boolean {
    const { events, devices } = this.poison;
    return events.has(event.id) || (isOfDevice(event) && devices.has(event.device_id));
  }

  save(now: number): void {
    const { store } = this;
    const { counted } = this.tally;
    const state = store.select().from(progress).get();
    if (!state) throw new Error('The counter has no progress row');
    const run = state.run + 1;
    this.devices.write();
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
    const tables = [daily, hours, ads, items, custom, activity, revenue];
    for (const payload of toParts(tables, added, this.parked)) {
      store.insert(outbox).values({ sequence: ++sequence, payload, oldestAt }).run();
    }
    store.update(progress).set({ countedBatch: this.last, countedAt: now, sequence, run }).run();
  }
}
