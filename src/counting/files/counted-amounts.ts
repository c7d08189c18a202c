import { asc, lte } from 'drizzle-orm';
import type { LoggedEvent } from '#catalogue';
import { memoize } from '#lib/collections/memoize';
import { idToBytes } from '#lib/ids';
import type { CountedAmount } from '../api.ts';
import { type CounterLog, readBatch, readKeyWords } from '../log.ts';
import { KEY_WORDS } from '../pack.ts';
import { log } from '../schema.ts';
import type { ObjectStore } from '../store.ts';
import { outcomesOf } from './log-reader.ts';

type PlaceInBatch = { batch: number; index: number };

/** See `CounterApi.countedAmounts`. Reads the keys of the hot log, and the events that have one of those. */
export function countedAmounts(
  { store, applicationId, seen }: CounterLog,
  ids: readonly string[],
): (CountedAmount | null)[] {
  const read = memoize(Number.POSITIVE_INFINITY, (batch: number) => readBatch(store, applicationId, batch));
  const places = ids.map((id): PlaceInBatch | null => {
    const batch = seen.batchOf(idToBytes(id));
    const index = batch === null ? -1 : read(batch).findIndex((event) => event?.id === id);
    return batch === null || index < 0 ? null : { batch, index };
  });
  const wanted = new Set(places.flatMap((place) => (place ? [nameOf(place)] : [])));
  const keysAt = new Map<string, string[]>();
  for (const batch of new Set(places.flatMap((place) => place?.batch ?? []))) {
    for (const [index, key] of keysOf(store, batch)) {
      const name = nameOf({ batch, index });
      if (wanted.has(name)) keysAt.set(name, [...(keysAt.get(name) ?? []), key]);
    }
  }
  // By key of these events: what has it, in order of arrival. Batch by batch, because the log may have more keys than memory has room for.
  const byKey = new Map([...keysAt.values()].flat().map((key): [string, PlaceInBatch[]] => [key, []]));
  const last = Math.max(0, ...places.map((place) => place?.batch ?? 0));
  const batches = byKey.size === 0 ? [] : batchesThrough(store, last);
  for (const batch of batches) {
    for (const [index, key] of keysOf(store, batch)) byKey.get(key)?.push({ batch, index });
  }
  const isCounted = ({ batch, index }: PlaceInBatch) =>
    outcomesOf(store, [batch]).get(batch)?.[index] === undefined;
  return places.map((place) => {
    if (!place) return null;
    const keys = keysAt.get(nameOf(place)) ?? [];
    const others = keys.flatMap((key) => byKey.get(key) ?? []);
    const first = others.find((other) => isBefore(other, place) && isCounted(other));
    return first ? amountOf(read(first.batch)[first.index] ?? null) : null;
  });
}

const nameOf = ({ batch, index }: PlaceInBatch) => `${batch}:${index}`;

const batchesThrough = (store: ObjectStore, last: number): number[] =>
  store
    .select({ batch: log.batch })
    .from(log)
    .where(lte(log.batch, last))
    .orderBy(asc(log.batch))
    .all()
    .map(({ batch }) => batch);

/** The keys of a batch's events, as texts of their hashes, each with the event's index. */
function* keysOf(store: ObjectStore, batch: number): Generator<[index: number, key: string]> {
  const words = readKeyWords(store, batch);
  for (let at = 0; at < words.length; at += KEY_WORDS) {
    const [index = 0, ...hash] = words.subarray(at, at + KEY_WORDS);
    yield [index, hash.join()];
  }
}

const isBefore = (left: PlaceInBatch, right: PlaceInBatch) =>
  left.batch < right.batch || (left.batch === right.batch && left.index < right.index);

const amountOf = (event: LoggedEvent | null): CountedAmount | null =>
  event && 'value_nanos' in event ? { nanos: event.value_nanos, currency: event.currency } : null;
