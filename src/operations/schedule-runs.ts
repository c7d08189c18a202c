import { type Database, database, scheduleRuns } from '#db';
import { logError } from '#lib/log';

export type CronSchedule = 'chores' | 'hourly chores' | 'exchange rates' | 'snapshot' | 'months';
export type Schedule = CronSchedule | 'watch stores';
export type ScheduleRun = typeof scheduleRuns.$inferSelect;
/** The last run of each schedule; absent if it has never run. */
export type ScheduleRuns = Partial<Record<Schedule, ScheduleRun>>;

/** The message may name every application. */
const MAX_FAILURE_CHARACTERS = 1_000;

/** Runs the work of a schedule and records the run and its outcome. Throws what the work throws. */
export async function recordRun(
  env: Pick<Env, 'DB'>,
  schedule: Schedule,
  now: number,
  work: () => Promise<void>,
): Promise<void> {
  let failure: string | null = null;
  try {
    await work();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    failure = message.slice(0, MAX_FAILURE_CHARACTERS).toWellFormed();
    throw error;
  } finally {
    await writeRun(database(env.DB), schedule, now, failure).catch((error) =>
      logError('run of a schedule not recorded', error, { chore: schedule }),
    );
  }
}

function writeRun(db: Database, schedule: Schedule, now: number, failure: string | null) {
  const outcome = { ranAt: now, failure, ...(failure === null ? { succeededAt: now } : {}) };
  return db
    .insert(scheduleRuns)
    .values({ schedule, ...outcome })
    .onConflictDoUpdate({ target: scheduleRuns.schedule, set: outcome });
}

export async function readRuns(db: Database): Promise<ScheduleRuns> {
  const runs = await db.select().from(scheduleRuns);
  return Object.fromEntries(runs.map((run) => [run.schedule, run]));
}
