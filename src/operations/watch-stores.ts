import { sql } from 'drizzle-orm';
import * as z from 'zod';
import { type Database, database, excluded, scheduleRuns } from '#db';
import { logError } from '#lib/log';
import { readRuns } from './schedule-runs.ts';
import { type Loss, recordLoss } from './store-losses.ts';

// The database and the bucket both keep the time of the last call of `watchStores`. A database that was restored has an earlier one than the
// bucket, and a bucket that was emptied or replaced has none.

const KEY = 'deployment/heartbeat.json';
const Heartbeat = z.lazy(() => z.object({ at: z.int() }));

type HeartbeatBucket = Pick<R2Bucket, 'get' | 'put'>;

/**
 * Notices that the database was restored to an earlier time, or the bucket emptied, since the last call, and records it for every application.
 * Works without any traffic. Throws if either store does not respond; the next call then compares the same times.
 */
export async function watchStores(env: Pick<Env, 'DB' | 'RAW_EVENTS'>, now: number): Promise<void> {
  const db = database(env.DB);
  // The bucket is read first and written last. So its time is never ahead of the database's, whatever other calls do meanwhile.
  const inBucket = await readHeartbeat(env.RAW_EVENTS);
  const inDatabase = (await readRuns(db))['watch stores']?.ranAt ?? null;
  const loss = findLoss(inDatabase, inBucket);
  if (loss)
    logError('data lost', `the ${loss.store} was restored to an earlier state`, { chore: 'watch stores' });
  await db.batch([recordHeartbeat(db, now), ...(loss ? [recordLoss(db, loss, now)] : [])]);
  await writeHeartbeat(env.RAW_EVENTS, now);
}

/** Compares the times of the last call that both stores have; null if a store has none. */
function findLoss(
  inDatabase: number | null,
  inBucket: number | null,
): Pick<Loss, 'store' | 'lostFrom'> | null {
  if (inBucket !== null && (inDatabase ?? 0) < inBucket) return { store: 'database', lostFrom: inDatabase };
  return inBucket === null && inDatabase !== null ? { store: 'bucket', lostFrom: inDatabase } : null;
}

async function readHeartbeat(bucket: HeartbeatBucket): Promise<number | null> {
  const object = await bucket.get(KEY);
  return object ? Heartbeat.parse(await object.json()).at : null;
}

const writeHeartbeat = (bucket: HeartbeatBucket, at: number) => bucket.put(KEY, JSON.stringify({ at }));

/** A run that took long may record an earlier time than its successor did. */
const recordHeartbeat = (db: Database, now: number) =>
  db
    .insert(scheduleRuns)
    .values({ schedule: 'watch stores', ranAt: now, succeededAt: now })
    .onConflictDoUpdate({
      target: scheduleRuns.schedule,
      set: { ranAt: sql`max(${scheduleRuns.ranAt}, ${excluded(scheduleRuns.ranAt)})`, succeededAt: now },
    });
