import { and, asc, eq, gte, lt, or, sql } from 'drizzle-orm';
import { inflateText } from '#lib/encoding/deflate';
import { type DayRange, dayNumber } from '#lib/time';
import type { DeviceHistory } from '#rollup';
import { hashOfDevice } from '../pack.ts';
import { deviceDays, devicePages } from '../schema.ts';
import { type ObjectStore, perStore } from '../store.ts';
import { type DeviceFactsRow, type HistoryRow, historyOf, readHistories, readRows } from './device-row.ts';

// The counted state of devices, many of them packed per row. A row is then written once per run however many of its devices changed, and what
// devices have in common is stored once. Devices acquired on the same day share pages, because they tend to be active at the same time, and
// because most questions are about the devices of some days.

/** The devices of a page. Both lists are in the same order. */
export type PageRows = { facts: DeviceFactsRow[]; histories: HistoryRow[] };

/** How the devices of a day are divided: pages are added as their size grows. `day` is a day number. */
export type DeviceDay = typeof deviceDays.$inferSelect;

/** The ids of a day's pages follow each other. Far more pages than an object has room for. */
const PAGES_PER_DAY = 2 ** 24;

export const pageId = (day: number, page: number): number => day * PAGES_PER_DAY + page;

/**
 * The page of a hash among a number of pages. Adding a page moves some devices of one other page to it, and no others (linear hashing). The
 * page that a page's devices come from is therefore its own number among fewer pages.
 */
export function pageOf(hash: number, pages: number): number {
  const size = pages <= 1 ? 1 : 2 ** (32 - Math.clz32(pages - 1));
  const page = hash % size;
  return page < pages ? page : page - size / 2;
}

const ANONYMOUS = 'erased_';

/** A random id for an erased device that belongs on the same page, so that it moves like any other when pages are added. */
export function anonymousId(page: number, pages: number): string {
  for (;;) {
    const id = `${ANONYMOUS}${crypto.randomUUID()}`;
    if (pageOf(hashOfDevice(id)[0], pages) === page) return id;
  }
}

export const isAnonymous = (id: string): boolean => id.startsWith(ANONYMOUS);

const { placeholder } = sql;
const statementsOf = perStore((store) => {
  // While a run's changes are applied, devices may already be on pages that their day does not count yet.
  const ids = and(gte(devicePages.id, placeholder('first')), lt(devicePages.id, placeholder('end')));
  const wanted = or(
    eq(devicePages.id, placeholder('own')),
    and(ids, gte(devicePages.id, placeholder('added'))),
  );
  return {
    day: store
      .select()
      .from(deviceDays)
      .where(eq(deviceDays.day, placeholder('day')))
      .prepare(),
    facts: store
      .select({ id: devicePages.id, facts: devicePages.facts })
      .from(devicePages)
      .where(wanted)
      .orderBy(asc(devicePages.id))
      .prepare(),
    both: store.select().from(devicePages).where(wanted).orderBy(asc(devicePages.id)).prepare(),
    bytes: store
      .select({
        bytes: sql<number>`coalesce(sum(length(${devicePages.facts}) + length(${devicePages.histories})), 0)`,
      })
      .from(devicePages)
      .where(ids)
      .prepare(),
  };
});

/** How a day is divided; null as long as no device of it was counted. */
export const deviceDay = (store: ObjectStore, day: number): DeviceDay | null =>
  statementsOf(store).day.get({ day }) ?? null;

/** The size of a day's pages in bytes. */
export const bytesOfDay = (store: ObjectStore, day: number): number =>
  statementsOf(store).bytes.get({ first: pageId(day, 0), end: pageId(day + 1, 0) })?.bytes ?? 0;

function parametersOf({ day, pages }: DeviceDay, page: number) {
  return {
    own: pageId(day, page),
    first: pageId(day, 0),
    added: pageId(day, pages),
    end: pageId(day + 1, 0),
  };
}

const isOfPage = (id: number, { day, pages }: DeviceDay, page: number) =>
  pageOf(id - pageId(day, 0), pages) === page;

/** The facts of a page's devices. Throws if they cannot be read. */
export function readFacts(store: ObjectStore, day: DeviceDay, page: number): DeviceFactsRow[] {
  const rows = statementsOf(store).facts.all(parametersOf(day, page));
  return rows.flatMap(({ id, facts }) => (isOfPage(id, day, page) ? readRows(inflateText(facts)) : []));
}

/** A page's devices. Throws if they cannot be read. */
export function readPage(store: ObjectStore, day: DeviceDay, page: number): PageRows {
  const rows = statementsOf(store)
    .both.all(parametersOf(day, page))
    .filter(({ id }) => isOfPage(id, day, page));
  return {
    facts: rows.flatMap(({ facts }) => readRows(inflateText(facts))),
    histories: rows.flatMap(({ histories }) => readHistories(inflateText(histories))),
  };
}

/** A device for which something was counted. */
export type CountedState = { facts: DeviceFactsRow; history: DeviceHistory };

/** The counted ones among devices (id → acquisition day), and the ids of those whose page cannot be read. Reads each page once. */
export function findCounted(
  store: ObjectStore,
  wanted: ReadonlyMap<string, string>,
): { found: Map<string, CountedState>; unreadable: Set<string> } {
  const found = new Map<string, CountedState>();
  const unreadable = new Set<string>();
  const byDay = Map.groupBy(wanted.keys(), (id) => dayNumber(wanted.get(id) ?? ''));
  for (const [number, ofDay] of byDay) {
    const day = deviceDay(store, number);
    if (!day) continue;
    for (const [page, ids] of Map.groupBy(ofDay, (id) => pageOf(hashOfDevice(id)[0], day.pages))) {
      try {
        const own = new Set(ids);
        const { facts, histories } = readPage(store, day, page);
        for (const [index, row] of facts.entries()) {
          if (own.has(row[0])) found.set(row[0], { facts: row, history: historyOf(histories[index]) });
        }
      } catch {
        for (const id of ids) unreadable.add(id);
      }
    }
  }
  return { found, unreadable };
}

/** The days of a range, both ends included, that have counted devices. */
export const deviceDaysOf = (store: ObjectStore, { from, to }: DayRange): DeviceDay[] =>
  store
    .select()
    .from(deviceDays)
    .where(and(gte(deviceDays.day, dayNumber(from)), lt(deviceDays.day, dayNumber(to) + 1)))
    .orderBy(asc(deviceDays.day))
    .all();
