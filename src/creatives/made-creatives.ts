import { creatives, type Database, isAmong } from '#db';
import { DAY_MS } from '#lib/time';
import type { WantedCreative } from './get-or-create.ts';

// What a registry has created is kept for as long as D1 can be restored to an earlier time, to be created once more with the same ids.

/** Source: https://developers.cloudflare.com/d1/reference/time-travel/ */
const KEPT_MS = 30 * DAY_MS;
const PREFIX = 'made:';
const PRUNED_AT_ONCE = 100;
const READ_AT_ONCE = 500;

/** Keys sort by time. */
const timeKey = (at: number) => `${PREFIX}${at.toString().padStart(15, '0')}`;

/** Keeps a created creative, and forgets old ones. `now` is the time of creation, in the order of which they are created again. */
export async function keepMade(
  storage: DurableObjectStorage,
  wanted: WantedCreative,
  now: number,
): Promise<void> {
  await storage.put(`${timeKey(now)}:${wanted.minted.creativeId}`, wanted);
  const old = await storage.list({ prefix: PREFIX, end: timeKey(now - KEPT_MS), limit: PRUNED_AT_ONCE });
  if (old.size > 0) await storage.delete([...old.keys()]);
}

/** The kept creatives that the database does not have, in the order of their creation. */
export async function* missingCreatives(
  storage: DurableObjectStorage,
  db: Database,
): AsyncGenerator<WantedCreative> {
  for (let startAfter = PREFIX; ; ) {
    const kept = await storage.list<WantedCreative>({ prefix: PREFIX, startAfter, limit: READ_AT_ONCE });
    const last = [...kept.keys()].at(-1);
    if (last === undefined) return;
    startAfter = last;
    const wanted = [...kept.values()];
    const ids = wanted.map(({ minted }) => minted.creativeId);
    const known = await db.select({ id: creatives.id }).from(creatives).where(isAmong(creatives.id, ids));
    const found = new Set(known.map(({ id }) => id));
    yield* wanted.filter(({ minted }) => !found.has(minted.creativeId));
  }
}
