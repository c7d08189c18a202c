import { inArray, lt, sql } from 'drizzle-orm';
import { erasedDevices, progress } from '../schema.ts';
import { type ObjectStore, perStore, toParameters } from '../store.ts';

// A device without a row was erased, which leaves a tombstone, or this counter has lost what it stored. Events of the latter are parked and stay in the
// raw event files, from which a restore of the application counts them.

const isErasedOf = perStore((store) =>
  store
    .select({ id: erasedDevices.id })
    .from(erasedDevices)
    .where(sql`${erasedDevices.id} = ${sql.placeholder('id')}`)
    .prepare(),
);

export const isErased = (store: ObjectStore, id: string): boolean =>
  isErasedOf(store).get({ id }) !== undefined;

/** Which of these devices were erased. */
export function findErased(store: ObjectStore, ids: Iterable<string>): Set<string> {
  const found = new Set<string>();
  for (const parameter of toParameters(ids)) {
    const wanted = inArray(erasedDevices.id, sql`(SELECT value FROM json_each(${parameter}))`);
    const rows = store.select({ id: erasedDevices.id }).from(erasedDevices).where(wanted).all();
    for (const { id } of rows) found.add(id);
  }
  return found;
}

/** Records that devices were erased. Ids of anything else are ignored. Call it in a transaction. */
export function noteErased(store: ObjectStore, ids: Iterable<string>, now: number): void {
  for (const parameter of toParameters(ids)) {
    store.run(sql`INSERT INTO ${erasedDevices} SELECT value, ${now} FROM json_each(${parameter})
      WHERE value GLOB 'dev_*' ON CONFLICT DO NOTHING`);
  }
}

/** Forgets devices that were erased so long ago that no event of them can come. */
export function pruneErased(store: ObjectStore, before: number): void {
  store.delete(erasedDevices).where(lt(erasedDevices.erasedAt, before)).run();
}

/** Records that what this counter stored is lost, unless that is known. */
export function noteLost(store: ObjectStore, now: number): void {
  store
    .update(progress)
    .set({ lostAt: sql`coalesce(${progress.lostAt}, ${now})` })
    .run();
}

/** Records that events of unknown devices were parked. Call it in the transaction that counts the others. */
export function noteUnknownEvents(store: ObjectStore, events: number, now: number): void {
  if (events === 0) return;
  store
    .update(progress)
    .set({ unknownEvents: sql`${progress.unknownEvents} + ${events}` })
    .run();
  noteLost(store, now);
}
