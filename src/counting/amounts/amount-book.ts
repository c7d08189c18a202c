import { desc, sql } from 'drizzle-orm';
import { type JudgedAmount, kindOf, type LoggedEvent } from '#catalogue';
import { DAY_MS } from '#lib/time';
import type { ImplausibleAmount } from '../api.ts';
import { amountDays } from '../schema.ts';
import type { ObjectStore } from '../store.ts';
import { bucketOf, findCut, maxImpression } from './judge.ts';

// A counter keeps how large the amounts were that it counted, on the last days that had any, and the largest of them with their events. From that
// it answers which are implausible, such as millionths that were sent as units. Amounts are counted as sent in any case.

/** Days with amounts that are kept, so that an application is compared with its last amounts however long ago it had them. */
const KEPT_DAYS = 7;
/** Further kinds and currencies of a day are not kept, so that no row grows with what clients send. */
const MAX_SERIES = 32;
/** How many of the largest amounts are kept with their events. */
const MAX_LARGEST = 10;

type Largest = { nanos: number; event_id: string; received_at: number };

/** The amounts of one kind in one currency: `counts` by bucket, and how many exceed `maxImpression`, which are in no bucket. */
type AmountSeries = {
  of: JudgedAmount['of'];
  currency: string;
  counts: [bucket: number, count: number][];
  over: number;
  largest: Largest[];
};

type RunningSeries = Omit<AmountSeries, 'counts'> & { counts: Map<number, number> };
type SeriesByName = Map<string, RunningSeries>;

const nameOf = ({ of, currency }: Pick<AmountSeries, 'of' | 'currency'>) => `${of} ${currency}`;

/** Null for an event that counts no money. */
function judgedAmount(event: LoggedEvent): JudgedAmount | null {
  const amount = kindOf(event).amountOf?.(event) ?? null;
  return amount !== null && amount.nanos > 0 && amount.currency !== '' ? amount : null;
}

const isOver = ({ of, currency, nanos }: JudgedAmount): boolean =>
  of === 'impression' && nanos > maxImpression(currency);

function seriesOf(all: SeriesByName, { of, currency }: Pick<AmountSeries, 'of' | 'currency'>) {
  const name = nameOf({ of, currency });
  const known = all.get(name);
  if (known) return known;
  const added: RunningSeries = { of, currency, counts: new Map(), over: 0, largest: [] };
  all.set(name, added);
  return added;
}

function addLargest(largest: Largest[], added: Largest): void {
  const last = largest.at(-1);
  if (largest.length >= MAX_LARGEST && last && last.nanos >= added.nanos) return;
  largest.push(added);
  largest.sort((left, right) => right.nanos - left.nanos || left.received_at - right.received_at);
  largest.length = Math.min(largest.length, MAX_LARGEST);
}

function addSeries(all: SeriesByName, added: AmountSeries | RunningSeries): void {
  if (all.size >= MAX_SERIES && !all.has(nameOf(added))) return;
  const into = seriesOf(all, added);
  for (const [bucket, count] of added.counts) into.counts.set(bucket, (into.counts.get(bucket) ?? 0) + count);
  into.over += added.over;
  for (const one of added.largest) addLargest(into.largest, one);
}

function readDays(store: ObjectStore): SeriesByName {
  const rows = store.select().from(amountDays).orderBy(desc(amountDays.day)).limit(KEPT_DAYS).all();
  const all: SeriesByName = new Map();
  for (const { amounts } of rows) {
    for (const series of JSON.parse(amounts) as AmountSeries[]) addSeries(all, series);
  }
  return all;
}

/** The amounts that a run counts, until it commits. */
export class AmountBook {
  private readonly store: ObjectStore;
  private readonly added: SeriesByName = new Map();

  constructor(store: ObjectStore) {
    this.store = store;
  }

  /** Notes what a counted event counts. */
  note(event: LoggedEvent): void {
    const amount = judgedAmount(event);
    if (amount === null) return;
    const series = seriesOf(this.added, amount);
    const { nanos } = amount;
    if (isOver(amount)) series.over++;
    else {
      const bucket = bucketOf(nanos);
      series.counts.set(bucket, (series.counts.get(bucket) ?? 0) + 1);
    }
    addLargest(series.largest, { nanos, event_id: event.id, received_at: event.received_at });
  }

  /** Adds what was noted to the day. Call it in a transaction. */
  save(now: number): void {
    if (this.added.size === 0) return;
    const day = Math.floor(now / DAY_MS);
    const { store } = this;
    const [stored] = store
      .select({ amounts: amountDays.amounts })
      .from(amountDays)
      .where(sql`${amountDays.day} = ${day}`)
      .all();
    const all: SeriesByName = new Map();
    for (const series of JSON.parse(stored?.amounts ?? '[]') as AmountSeries[]) addSeries(all, series);
    for (const series of this.added.values()) addSeries(all, series);
    this.added.clear();
    const amounts = JSON.stringify(
      Array.from(all.values(), ({ counts, ...series }): AmountSeries => ({ ...series, counts: [...counts] })),
    );
    store
      .insert(amountDays)
      .values({ day, amounts })
      .onConflictDoUpdate({ target: amountDays.day, set: { amounts } })
      .run();
    if (stored) return;
    const kept = store
      .select({ day: amountDays.day })
      .from(amountDays)
      .orderBy(desc(amountDays.day))
      .limit(KEPT_DAYS);
    store.delete(amountDays).where(sql`${amountDays.day} NOT IN ${kept}`).run();
  }
}

/** The implausible amounts of the last days, by kind and currency. */
export function listImplausible(store: ObjectStore): ImplausibleAmount[] {
  return Array.from(readDays(store).values(), ({ of, currency, counts, over, largest }) => {
    const cut = findCut(of, counts);
    const beyond = [...counts].filter(([bucket]) => cut !== null && bucket >= cut.fromBucket);
    const count = beyond.reduce((sum, [, own]) => sum + own, over);
    const [first] = largest;
    if (count === 0 || first === undefined) return [];
    const { nanos, event_id: eventId, received_at: receivedAt } = first;
    return { of, currency, count, usualNanos: cut?.usualNanos ?? null, nanos, eventId, receivedAt };
  }).flat();
}

/** Whether what an event counts is implausible beside the amounts of the last days. */
export function countsImplausibly(store: ObjectStore, event: LoggedEvent): boolean {
  const amount = judgedAmount(event);
  if (amount === null) return false;
  if (isOver(amount)) return true;
  const series = readDays(store).get(nameOf(amount));
  const cut = series && findCut(amount.of, series.counts);
  return cut != null && bucketOf(amount.nanos) >= cut.fromBucket;
}
