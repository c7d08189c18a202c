import { sql } from 'drizzle-orm';
import { countUndelivered } from '#counting';
import { database, toStatement } from '#db';
import { logWarning } from '#lib/log';
import { readRun, type ScheduleRun } from './schedule-runs.ts';

/** What concerns all teams of a deployment. */
export type Deployment = {
  /** The last run of the minutely schedule, of the one that fetches exchange rates and of the nightly snapshot; null if it has never run. */
  chores: ScheduleRun | null;
  rates: ScheduleRun | null;
  snapshot: ScheduleRun | null;
  databaseBytes: number;
  /** Messages that were filed in R2, by application; null if R2 does not respond. */
  filed: Map<string, number> | null;
};

/** Throws if the database does not respond. */
export async function readDeployment(env: Pick<Env, 'DB' | 'RAW_EVENTS'>): Promise<Deployment> {
  const db = database(env.DB);
  const [chores, rates, snapshot, { meta }, filed] = await Promise.all([
    readRun(db, 'chores'),
    readRun(db, 'exchange rates'),
    readRun(db, 'snapshot'),
    toStatement(env.DB, sql`SELECT 1`).run(),
    countUndelivered(env.RAW_EVENTS).catch((error) => {
      logWarning('no count of filed messages', error);
      return null;
    }),
  ]);
  return { chores, rates, snapshot, databaseBytes: meta.size_after, filed };
}
