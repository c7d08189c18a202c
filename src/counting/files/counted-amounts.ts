import { asc, lte } from 'drizzle-orm';
import type { LoggedEvent } from '#catalogue';
import { idToBytes } from '#lib/ids';
import type { CountedAmount } from '../api.ts';
import type { SeenIds } from '../keys/seen-ids.ts';
import { readBatch } from '../log.ts';
import { KEY_WORDS, keyWordsOf } from '../pack.ts';
import { log } from '../schema.ts';
import type { Store } from '../store.ts';
import { outcomesOf } from './log-reader.ts';

type Place = { batch: number; index: number };

/** See `CounterApi.countedAmounts`. Reads the keys of the hot log, and the events that have one of those. */
export function countedAmounts(
  store: Store,
  applicationId: string,
  seen: SeenIds,
  ids: readonly string[],
): (CountedAmount | null)[] {
  const read = batchReader(store, applicationId);
  const places = ids.map((id): Place | null => {
    const batch = seen.batchOf(idToBytes(id));
    const index = batch === null ? -1 : read(batch).findIndex((event) => event?.id === id);
    return batch === null || index < 0 ? null : { batch, index };
  });
  const last = Math.max(0, ...places.map((place) => place?.batch ?? 0));
  const rows = store
    .select({ batch: log.batch, keys: log.keys, events: log.events })
    .from(log)
    .where(lte(log.batch, last))
    .orderBy(asc(log.batch));
  // By key: what has it, in order of arrival.
  const byKey = new Map<string, Place[]>();
  const keysAt = new Map<string, string[]>();
  for (const { batch, ...row } of rows.all()) {
    const words = keyWordsOf(row, () => row.events);
    for (let at = 0; at < words.length; at += KEY_WORDS) {
      const [index = 0, ...hash] = words.subarray(at, at + KEY_WORDS);
      const key = hash.join();
      byKey.set(key, [...(byKey.get(key) ?? []), { batch, index }]);
      keysAt.set(`${batch}:${index}`, [...(keysAt.get(`${batch}:${index}`) ?? []), key]);
    }
  }
  const isCounted = ({ batch, index }: Place) => outcomesOf(store, [batch]).get(batch)?.[index] === undefined;
  return places.map((place) => {
    if (!place) return null;
    const keys = keysAt.get(`${place.batch}:${place.index}`) ?? [];
    const others = keys.flatMap((key) => byKey.get(key) ?? []);
    const first = others.find((other) => isBefore(other, place) && isCounted(other));
    return first ? amountOf(read(first.batch)[first.index] ?? null) : null;
  });
}

const isBefore = (left: Place, right: Place) =>
  left.batch < right.batch || (left.batch === right.batch && left.index < right.index);

const amountOf = (event: LoggedEvent | null): CountedAmount | null =>
  event && 'value_nanos' in event ? { nanos: event.value_nanos, currency: event.currency } : null;

function batchReader(store: Store, applicationId: string) {
  const known = new Map<number, (LoggedEvent | null)[]>();
  return (batch: number) => {
    const events = known.get(batch) ?? readBatch(store, applicationId, batch);
    known.set(batch, events);
    return events;
  };
}
