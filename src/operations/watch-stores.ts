import { sql } from 'drizzle-orm';
import { type Database, database, excluded, scheduleRuns } from '#db';
import { deploymentMemory } from '#env';
import { logError } from '#lib/log';
import { readRuns } from './schedule-runs.ts';
import { type Loss, recordLoss } from './store-losses.ts';

// The database and an object of the deployment both keep the time of the last call of `watchStores`, and the bucket a mark: writing a time to it
// each minute would cost more than everything else that a small org stores. A database that was restored has an earlier time than the object, and
// a bucket that was emptied or replaced has no mark.

/** Earlier releases wrote a time into it, which nothing reads any more. */
const MARK = 'deployment/heartbeat.json';

/** What both keep of the last call: epoch milliseconds, null if a store has none, and whether the bucket has its mark. */
type Kept = { inDatabase: number | null; inObject: number | null; isMarked: boolean };

/**
 * Notices that the database was restored to an earlier time, or the bucket emptied, since the last call, and records it for every application.
 * Works without any traffic. Throws if a store does not respond; the next call then compares the same times.
 */
export async function watchStores(
  env: Pick<Env, 'DB' | 'RAW_EVENTS' | 'CREATIVES'>,
  now: number,
): Promise<void> {
  const db = database(env.DB);
  const object = deploymentMemory(env);
  // The object is read first and written last. So its time is never ahead of the database's, whatever other calls do meanwhile.
  const inObject = await object.readHeartbeat();
  const isMarked = (await env.RAW_EVENTS.head(MARK)) !== null;
  const inDatabase = (await readRuns(db))['watch stores']?.ranAt ?? null;
  const loss = findLoss({ inDatabase, inObject, isMarked });
  if (loss)
    logError('data lost', `the ${loss.store} was restored to an earlier state`, { chore: 'watch stores' });
  await db.batch([recordHeartbeat(db, now), ...(loss ? [recordLoss(db, loss, now)] : [])]);
  if (!isMarked) await env.RAW_EVENTS.put(MARK, JSON.stringify({ at: now }));
  await object.keepHeartbeat(now);
}

function findLoss({ inDatabase, inObject, isMarked }: Kept): Pick<Loss, 'store' | 'lostFrom'> | null {
  if (inObject !== null && (inDatabase ?? 0) < inObject) return { store: 'database', lostFrom: inDatabase };
  return !isMarked && inDatabase !== null ? { store: 'bucket', lostFrom: inDatabase } : null;
}

/** A run that took long may record an earlier time than its successor did. */
const recordHeartbeat = (db: Database, now: number) =>
  db
    .insert(scheduleRuns)
    .values({ schedule: 'watch stores', ranAt: now, succeededAt: now })
    .onConflictDoUpdate({
      target: scheduleRuns.schedule,
      set: { ranAt: sql`max(${scheduleRuns.ranAt}, ${excluded(scheduleRuns.ranAt)})`, succeededAt: now },
    });
