import { eq, lt, sql } from 'drizzle-orm';
import { applications, database, destinations } from '#db';
import { logWarning } from '#lib/log';
import { queryCounters } from '../query-counters.ts';

const APPLICATIONS_AT_ONCE = 20;

/**
 * Has the counters of an application read its destinations again. Call it once these have changed. Throws if a counter does not respond;
 * `tellAllCounters` then tries again.
 */
export async function tellCounters(env: Pick<Env, 'COUNTERS' | 'DB'>, applicationId: string): Promise<void> {
  const db = database(env.DB);
  const [application] = await db
    .select({ shards: applications.shards })
    .from(applications)
    .where(eq(applications.id, applicationId));
  const told = await db
    .select({ id: destinations.id, version: destinations.version })
    .from(destinations)
    .where(eq(destinations.applicationId, applicationId));
  const shards = application?.shards ?? 0;
  await queryCounters(env, { id: applicationId, shards }, (counter) => counter.refreshDestinations());
  const versions = sql`json_each(${JSON.stringify(told.map(({ id, version }) => [id, version]))})`;
  await db.run(sql`UPDATE ${destinations} SET told_version = told.value ->> 1 FROM ${versions} AS told
    WHERE ${destinations.id} = told.value ->> 0 AND ${destinations.toldVersion} < told.value ->> 1`);
}

/** `tellCounters` without an error: a counter that does not respond reads them within a minute, as `tellAllCounters` sees to. */
export const tellCountersSoon = (env: Pick<Env, 'COUNTERS' | 'DB'>, applicationId: string): Promise<void> =>
  tellCounters(env, applicationId).catch((error) =>
    logWarning('counters not told', error, { application_id: applicationId }),
  );

/** Tells the counters that did not respond when a destination changed. A failure does not hold up the others. */
export async function tellAllCounters(env: Pick<Env, 'COUNTERS' | 'DB'>): Promise<void> {
  const untold = await database(env.DB)
    .selectDistinct({ applicationId: destinations.applicationId })
    .from(destinations)
    .where(lt(destinations.toldVersion, destinations.version))
    .limit(APPLICATIONS_AT_ONCE);
  for (const { applicationId } of untold) await tellCountersSoon(env, applicationId);
}
