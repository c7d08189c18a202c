import { sql } from 'drizzle-orm';
import { countUndelivered, type QueueProgress } from '#counting';
import { database, toStatement } from '#db';
import { invalidSettings, missingQueues } from '#env';
import { logWarning } from '#lib/log';
import { readRuns, type ScheduleRuns } from './schedule-runs.ts';

/** What concerns all teams of a deployment. */
export type Deployment = {
  runs: ScheduleRuns;
  databaseBytes: number;
  /** Messages that were filed in R2, by application; null if R2 does not respond. */
  filed: Map<string, number> | null;
  queues: readonly QueueProgress[];
  /** The bindings of event queues that the deployment should have and lacks. */
  missingQueues: readonly string[];
  /** See `invalidSettings`. */
  invalidSettings: readonly string[];
};

/** `reading`: the progress of the queues. Throws if the database does not respond. */
export async function readDeployment(env: Env, reading: Promise<QueueProgress[]>): Promise<Deployment> {
  const [runs, { meta }, filed, queues] = await Promise.all([
    readRuns(database(env.DB)),
    toStatement(env.DB, sql`SELECT 1`).run(),
    countUndelivered(env.RAW_EVENTS).catch((error) => {
      logWarning('no count of filed messages', error);
      return null;
    }),
    reading,
  ]);
  return {
    ...{ runs, filed, queues },
    databaseBytes: meta.size_after,
    missingQueues: missingQueues(env),
    invalidSettings: invalidSettings(env),
  };
}

/** How many messages the event queues hold; null if one of them does not answer. */
export const messagesIn = (queues: readonly QueueProgress[]): number | null =>
  queues.reduce<number | null>(
    (sum, { messages }) => (sum === null || messages === null ? null : sum + messages),
    0,
  );
