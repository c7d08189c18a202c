import { min, sql } from 'drizzle-orm';
import { countUndelivered, type QueueProgress } from '#counting';
import { applications, database, newerFormats, toStatement } from '#db';
import { invalidSettings, missingQueues, settingsOf } from '#env';
import { SNAPSHOTS } from '#lake';
import { logWarning } from '#lib/log';
import { dayIn } from '#lib/time';
import { readRuns, type ScheduleRuns } from './schedule-runs.ts';

/** What concerns all teams of a deployment. */
export type Deployment = {
  runs: ScheduleRuns;
  /** When its first application was created; null if it has none. */
  since: number | null;
  /** When the last complete snapshot was written; null if there is none, or the bucket has lost it; undefined if R2 does not respond. */
  snapshotAt: number | null | undefined;
  /** Whether it fetches no exchange rates. */
  ratesOff: boolean;
  databaseBytes: number;
  /** Messages that were filed in R2, by application; null if R2 does not respond. */
  filed: Map<string, number> | null;
  queues: readonly QueueProgress[];
  /** The bindings of event queues that the deployment should have and lacks. */
  missingQueues: readonly string[];
  /** The stores that a newer release has raised the format of, in sentences without their full stops. */
  newerFormats?: readonly string[];
  /** See `invalidSettings`. */
  invalidSettings: readonly string[];
};

/** `reading`: the progress of the queues. Throws if the database does not respond. */
export async function readDeployment(env: Env, reading: Promise<QueueProgress[]>): Promise<Deployment> {
  const { EXCHANGE_RATES_URL, FURTHER_RATES_URL } = settingsOf(env);
  const db = database(env.DB);
  const [runs, [first], { meta }, filed, queues, newer] = await Promise.all([
    readRuns(db),
    db.select({ at: min(applications.createdAt) }).from(applications),
    toStatement(env.DB, sql`SELECT 1`).run(),
    countUndelivered(env.RAW_EVENTS).catch((error) => {
      logWarning('no count of filed messages', error);
      return null;
    }),
    reading,
    newerFormats(env.DB),
  ]);
  const snapshotAt = await findSnapshot(env.RAW_EVENTS, runs.snapshot?.succeededAt ?? null);
  return {
    ...{ runs, filed, queues, snapshotAt, since: first?.at ?? null },
    ratesOff: EXCHANGE_RATES_URL === '' && FURTHER_RATES_URL === '',
    databaseBytes: meta.size_after,
    missingQueues: missingQueues(env),
    newerFormats: newer.map(({ fault }) => fault),
    invalidSettings: invalidSettings(env),
  };
}

/** When the last snapshot was written, if the bucket still has it; undefined if R2 does not respond. */
async function findSnapshot(
  bucket: R2Bucket,
  succeededAt: number | null,
): Promise<number | null | undefined> {
  if (succeededAt === null) return null;
  try {
    const found = await bucket.head(`${SNAPSHOTS}${dayIn('UTC', succeededAt)}/manifest.json`);
    return found ? succeededAt : null;
  } catch (error) {
    logWarning('no snapshot read', error);
    return undefined;
  }
}

/** How many messages the event queues hold; null if one of them does not answer. */
export const messagesIn = (queues: readonly QueueProgress[]): number | null =>
  queues.reduce<number | null>(
    (sum, { messages }) => (sum === null || messages === null ? null : sum + messages),
    0,
  );
