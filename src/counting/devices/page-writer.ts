import { Buffer } from 'node:buffer';
import { sql } from 'drizzle-orm';
import { deflateText } from '#lib/encoding/deflate';
import type { Steps } from '#lib/steps';
import { dayNumber } from '#lib/time';
import { hashOfDevice } from '../pack.ts';
import { deviceDays, devicePages } from '../schema.ts';
import { type ObjectStore, perStore } from '../store.ts';
import type { CountedDevice } from './counted-devices.ts';
import {
  anonymousId,
  bytesOfDay,
  type DeviceDay,
  deviceDay,
  type PageRows,
  pageId,
  pageOf,
  readPage,
} from './device-pages.ts';
import { anonymousRow, historyOf, writeHistories, writeRows } from './device-row.ts';

/**
 * The size that pages have on average: about 130 devices at first, 30 with long histories. Larger pages take fewer written rows and less space, and
 * more time if few of their devices changed.
 */
const PAGE_BYTES = 12_000;
/** What a new device is taken to need, before it is packed. */
const NEW_DEVICE_BYTES = 90;
/** Well below the 2 MB that a value may have. Pages that exchange devices are never separated. */
const MAX_PAYLOAD_CHARACTERS = 200_000;
/** The number of devices that are packed at once: a few milliseconds. */
const DEVICES_PER_STEP = 400;

/** The packed columns are in base64. */
type PreparedPage = { id: number; facts: string; histories: string };
/** What a run writes to pages: absolute values. */
export type PreparedPages = { pages: PreparedPage[]; days: DeviceDay[] };

type Packed = { facts: Buffer; histories: Buffer };

const packPage = ({ facts, histories }: PageRows): Packed => ({
  facts: deflateText(writeRows(facts)),
  histories: deflateText(writeHistories(histories)),
});

/** Packs changed devices into pages, and passes them on in parts. Adds pages to a day as its devices become more or larger. */
export class PageWriter {
  /** The devices whose stored state cannot be parsed, and one of the errors. */
  readonly broken: string[] = [];
  cause: unknown;
  private readonly store: ObjectStore;
  private readonly write: (payload: string) => void;
  private prepared: PreparedPages = { pages: [], days: [] };
  private characters = 0;
  private devicesInStep = 0;

  constructor(store: ObjectStore, write: (payload: string) => void) {
    this.store = store;
    this.write = write;
  }

  /** Writes changed devices, all acquired on one day. */
  *addDay(day: number, devices: readonly CountedDevice[]): Steps {
    const stored = deviceDay(this.store, day);
    const before = stored ?? { day, pages: 1 };
    const added = devices.filter(({ isNew }) => isNew).length;
    const needed = Math.ceil((bytesOfDay(this.store, day) + added * NEW_DEVICE_BYTES) / PAGE_BYTES);
    const after = { day, pages: Math.max(before.pages, needed) };
    const changed = Map.groupBy(devices, ({ id }) => pageOf(hashOfDevice(id)[0], before.pages));
    for (let page = before.pages; page < after.pages; page++) {
      const source = pageOf(page, before.pages);
      if (!changed.has(source)) changed.set(source, []);
    }
    for (const [page, own] of [...changed].sort(([left], [right]) => left - right)) {
      yield* this.rewrite(before, page, own, after.pages);
    }
    if (after.pages !== stored?.pages) this.prepared.days.push(after);
  }

  /** Passes on the last part. It counts the pages that were added, so it must be applied after all others. */
  end(): void {
    const { pages, days } = this.prepared;
    if (pages.length > 0 || days.length > 0) this.flush();
  }

  /** Writes a page and those that its devices move to. */
  private *rewrite(before: DeviceDay, page: number, devices: readonly CountedDevice[], pages: number): Steps {
    const stored = this.read(before, page, devices);
    if (!stored) return;
    const targetOf = (id: string) => (pages === before.pages ? page : pageOf(hashOfDevice(id)[0], pages));
    const kept = Map.groupBy(stored.facts.keys(), (index) => targetOf(stored.facts[index]?.[0] ?? ''));
    const changed = Map.groupBy(devices, ({ id }) => targetOf(id));
    const together: PreparedPage[] = [];
    for (const target of new Set([page, ...kept.keys(), ...changed.keys()])) {
      const rows = this.merge(stored, kept.get(target) ?? [], changed.get(target) ?? []);
      // An empty page needs no row, but one that has lost all its devices has one.
      if (rows.facts.length === 0 && (target !== page || stored.facts.length === 0)) continue;
      const { facts, histories } = packPage(rows);
      const prepared: PreparedPage = {
        id: pageId(before.day, target),
        facts: facts.toString('base64'),
        histories: histories.toString('base64'),
      };
      if (target === page || kept.has(target)) together.push(prepared);
      else this.add([prepared]);
      this.devicesInStep += rows.facts.length;
      if (this.devicesInStep < DEVICES_PER_STEP) continue;
      this.devicesInStep = 0;
      yield;
    }
    this.add(together);
  }

  private read(day: DeviceDay, page: number, devices: readonly CountedDevice[]) {
    try {
      return readPage(this.store, day, page);
    } catch (error) {
      this.broken.push(...devices.map(({ id }) => id));
      this.cause = error;
      return null;
    }
  }

  private merge(stored: PageRows, kept: readonly number[], changed: readonly CountedDevice[]): PageRows {
    const isKept = new Set(kept);
    const facts = stored.facts.filter((_, index) => isKept.has(index));
    const histories = stored.histories.filter((_, index) => isKept.has(index));
    const places = new Map(facts.map(([id], place) => [id, place]));
    for (const device of changed) {
      const place = places.get(device.id) ?? facts.length;
      try {
        const rows = device.toRows(historyOf(histories[place]));
        if (!rows) continue;
        facts[place] = rows.facts;
        histories[place] = rows.history;
      } catch (error) {
        this.broken.push(device.id);
        this.cause = error;
      }
    }
    return { facts, histories };
  }

  private add(pages: readonly PreparedPage[]): void {
    this.prepared.pages.push(...pages);
    this.characters += pages.reduce((sum, { facts, histories }) => sum + facts.length + histories.length, 0);
    if (this.characters < MAX_PAYLOAD_CHARACTERS) return;
    const { days } = this.prepared;
    this.prepared.days = [];
    this.flush();
    this.prepared.days = days;
  }

  private flush(): void {
    this.write(JSON.stringify(this.prepared));
    this.prepared = { pages: [], days: [] };
    this.characters = 0;
  }
}

const { placeholder } = sql;
const statementsOf = perStore((store) => ({
  savePage: store
    .insert(devicePages)
    .values({ id: placeholder('id'), facts: placeholder('facts'), histories: placeholder('histories') })
    .onConflictDoUpdate({
      target: devicePages.id,
      set: { facts: sql`excluded.facts`, histories: sql`excluded.histories` },
    })
    .prepare(),
  saveDay: store
    .insert(deviceDays)
    .values({ day: placeholder('day'), pages: placeholder('pages') })
    .onConflictDoUpdate({ target: deviceDays.day, set: { pages: sql`excluded.pages` } })
    .prepare(),
}));

/** Writes a part that a `PageWriter` passed on. Call it in a transaction. Idempotent. */
export function applyPages(store: ObjectStore, payload: string): void {
  const { pages, days }: PreparedPages = JSON.parse(payload);
  const { savePage, saveDay } = statementsOf(store);
  for (const { id, facts, histories } of pages) {
    savePage.run({
      id,
      facts: Buffer.from(facts, 'base64'),
      histories: Buffer.from(histories, 'base64'),
    });
  }
  for (const day of days) saveDay.run(day);
}

/**
 * Takes the identity of a device off its page: what was counted of it stays in every figure, under an id that nothing refers to. Nothing may be
 * prepared for it: see `RunScheduler.betweenRuns`. Call it in a transaction. Idempotent.
 */
export function anonymiseCounted(store: ObjectStore, id: string, acquiredDay: string): void {
  const day = deviceDay(store, dayNumber(acquiredDay));
  if (!day) return;
  const page = pageOf(hashOfDevice(id)[0], day.pages);
  const { facts, histories } = readPage(store, day, page);
  const index = facts.findIndex(([own]) => own === id);
  const found = facts[index];
  if (!found) return;
  // Nothing is counted for it any more, so what only further events need goes too.
  const row = anonymousRow(found, anonymousId(page, day.pages));
  const packed = packPage({ facts: facts.with(index, row), histories });
  statementsOf(store).savePage.run({ id: pageId(day.day, page), ...packed });
}
