import { eq } from 'drizzle-orm';
import { counterName, countersOf, readAllApplied } from '#counting';
import { applications, database, type restores } from '#db';
import { ERASED } from '#devices';
import { AppError } from '#http';
import { STORE_FORMATS } from '#lib/encoding/store-formats';
import { listObjects } from '#lib/input/list-objects';
import { deleteParkedOfUnknown } from '#rollup';
import { type Manifest, secretMarks } from './layout.ts';
import type { RestoreStep } from './plan.ts';

// One application of a deployment that goes on, after some of its counters have lost what they stored.

/** The shards of the counters of an application that have lost what they stored. Throws `not_found` for an unknown application, and `conflict` if none has. */
export async function findLost(
  env: Env,
  id: string,
): Promise<{ id: string; shards: number; lost: number[] }> {
  const [application] = await database(env.DB)
    .select({ id: applications.id, shards: applications.shards })
    .from(applications)
    .where(eq(applications.id, id));
  if (!application) throw new AppError('not_found', 'Application not found');
  const { shards } = application;
  const counters = countersOf(env, id, shards);
  const applied = await readAllApplied(
    env.DB,
    counters.map((_, shard) => counterName(id, shard)),
  );
  const healths = await Promise.all(counters.map((counter) => counter.health()));
  const lost = healths.flatMap(({ isLost, sequence }, shard) =>
    isLost || (applied.get(counterName(id, shard)) ?? 0) > sequence ? [shard] : [],
  );
  if (lost.length === 0) throw new AppError('conflict', 'No counter of this application has lost anything');
  return { ...application, lost };
}

/** The manifest of an application that no snapshot has: all is counted from raw events. */
export const emptyManifest = async (env: Env): Promise<Manifest> => ({
  ...{ version: STORE_FORMATS.snapshot.number, takenAt: 0, settings: {}, applications: [], missing: [] },
  secrets: await secretMarks(env),
});

/** Records of the devices of an application that were erased since a time (epoch milliseconds). */
export async function erasuresSince(env: Env, id: string, since: number): Promise<string[]> {
  const erasures: string[] = [];
  for await (const { key, uploaded } of listObjects(env.RAW_EVENTS, `${ERASED}${id}/`)) {
    if (uploaded.getTime() >= since) erasures.push(key);
  }
  return erasures;
}

/** Lets the counters accept events again, and forgets what was listed as parked: it is counted. */
export async function releaseApplication(
  env: Env,
  { application, shards }: Extract<RestoreStep, { do: 'told' | 'release' }>,
): Promise<void> {
  const counters = countersOf(env, application, Math.max(...shards) + 1);
  for (const shard of shards) await counters[shard]?.endRestore();
  const db = database(env.DB);
  await db.batch([...deleteParkedOfUnknown(db, application)]);
}

export type Restore = typeof restores.$inferSelect;
