import { and, eq, isNull, lt } from 'drizzle-orm';
import { getTableConfig } from 'drizzle-orm/sqlite-core';
import { batchOfNewDevices, newDevicesPrefix } from '#counting';
import { database, hashKeys, restores, teams, users } from '#db';
import { ERASED } from '#devices';
import { AppError } from '#http';
import { sha256Hex } from '#lib/crypto';
import { NewerFormatError } from '#lib/encoding/store-formats';
import { listObjects } from '#lib/input/list-objects';
import {
  doneKey,
  type Manifest,
  missingSecrets,
  NEW_DEVICES,
  readJson,
  readManifest,
  snapshotDays,
  writeJson,
} from './layout.ts';
import { type DevicesSince, planApplication, planRestore, type RestorePlan, rowsIn } from './plan.ts';
import { emptyManifest, erasuresSince, findLost, type Restore } from './restore-application.ts';
import { type RestoreSummary, takeStep } from './restore-steps.ts';

/** Where the plan of the restore in progress is. */
const planKey = ({ applicationId }: Restore) =>
  applicationId === null ? 'restore.json' : 'restore-application.json';
/** How long one request works. */
const WORK_MS = 5_000;
/** After a request was killed, another may continue after this time. */
const BUSY_MS = 120_000;

export type RestoreProgress = {
  /** The day of the snapshot, and how many rows it has. */
  snapshot: string;
  rows_in_snapshot: number;
  /** Applications that the snapshot has only settings of. */
  missing: string[];
  steps: number;
  done: number;
  restored: RestoreSummary;
  finished: boolean;
};

/** Finds the restore that a secret continues. Throws `unauthenticated` for any other text. */
export async function findRestore(env: Env, secret: string): Promise<Restore> {
  const hash = await sha256Hex(secret);
  const [found] = await database(env.DB).select().from(restores).where(eq(restores.hash, hash));
  if (!found) throw new AppError('unauthenticated', 'Invalid or missing restore token');
  return found;
}

/**
 * Continues a restore for some seconds. Begins it with the newest snapshot in the bucket. Every step takes effect once, however often this is
 * repeated or interrupted. Throws `conflict` if the deployment is not empty, if its secrets are not those of the snapshot unless
 * `otherSecrets` allows it, or if another request is at work, and `not_found` if there is no snapshot.
 */
export async function continueRestore(
  env: Env,
  found: Restore,
  otherSecrets: boolean,
): Promise<RestoreProgress> {
  const now = Date.now();
  const mine = and(eq(restores.id, found.id), isNull(restores.finishedAt), lt(restores.busyUntil, now));
  const db = database(env.DB);
  const [claimed] = await db
    .update(restores)
    .set({ busyUntil: now + BUSY_MS })
    .where(mine)
    .returning();
  if (!claimed && found.finishedAt === null) throw new AppError('conflict', 'Another request is restoring');
  const restore = claimed ?? found;
  try {
    const plan =
      (await storedPlan(env, restore)) ??
      (restore.applicationId === null
        ? await planAll(env, restore, otherSecrets)
        : await planOne(env, restore, restore.applicationId));
    const summary: RestoreSummary = { rows: 0, files: 0, events: 0, ...JSON.parse(restore.summary) };
    let { done } = restore;
    while (done < plan.steps.length && Date.now() < now + WORK_MS) {
      const step = plan.steps[done];
      if (!step) break;
      const further = await takeStep(env, plan, step, summary);
      // They are there already if an earlier request stopped right after it planned them.
      if (further.length > 0 && plan.steps[done + 1]?.do !== 'events') {
        plan.steps.splice(done + 1, 0, ...further);
        await writeJson(env.RAW_EVENTS, planKey(restore), plan);
      }
      done++;
      await db
        .update(restores)
        .set({ done, summary: JSON.stringify(summary) })
        .where(eq(restores.id, restore.id));
    }
    const finished = done === plan.steps.length;
    if (finished) {
      await db
        .update(restores)
        .set({ finishedAt: restore.finishedAt ?? Date.now() })
        .where(eq(restores.id, restore.id));
    }
    return {
      snapshot: plan.day,
      rows_in_snapshot: rowsIn(plan.manifest),
      missing: plan.manifest.missing.map(({ id }) => id),
      ...{ steps: plan.steps.length, done, restored: summary, finished },
    };
  } finally {
    await db.update(restores).set({ busyUntil: 0 }).where(eq(restores.id, restore.id));
  }
}

/** The plan of a restore that has begun. */
const storedPlan = async (env: Env, restore: Restore): Promise<RestorePlan | null> =>
  restore.done > 0 ? ((await readJson(env.RAW_EVENTS, planKey(restore))) as RestorePlan | null) : null;

async function planAll(env: Env, restore: Restore, otherSecrets: boolean): Promise<RestorePlan> {
  const db = database(env.DB);
  const [people, groups] = await Promise.all([db.$count(users), db.$count(teams)]);
  if (people + groups > 0) throw new AppError('conflict', 'This deployment is not empty');
  const newest = await findNewest(env);
  if (!newest) throw new AppError('not_found', 'The bucket has no complete snapshot');
  const others = await missingSecrets(env, newest.manifest.secrets);
  if (others.length > 0 && !otherSecrets) {
    throw new AppError(
      'conflict',
      `The snapshot was made with another ${others.join(', ')}. Set the former secrets, or accept what their rotation entails`,
    );
  }
  const manifest = others.includes('KEY_ENCRYPTION_SECRET')
    ? withoutHashKey(newest.manifest)
    : newest.manifest;
  const plan = planRestore(newest.day, manifest, await listNewer(env, manifest));
  await writeJson(env.RAW_EVENTS, planKey(restore), plan);
  return plan;
}

/** Without the secret that encrypted it, the key is lost, and identifiers are hashed with another one from now on. */
function withoutHashKey({ settings, ...rest }: Manifest): Manifest {
  const { [getTableConfig(hashKeys).name]: _, ...kept } = settings;
  return { ...rest, settings: kept };
}

/** What was written to the bucket after a snapshot, besides raw events. */
async function listNewer(env: Env, { takenAt }: Manifest) {
  const keys: string[] = [];
  for await (const { key } of listObjects(env.RAW_EVENTS, NEW_DEVICES)) keys.push(key);
  const erasures: string[] = [];
  for await (const { key, uploaded } of listObjects(env.RAW_EVENTS, ERASED)) {
    if (uploaded.getTime() >= takenAt) erasures.push(key);
  }
  const newDevices: DevicesSince = (application, shard, countedBatch) =>
    keys.filter(
      (key) => key.startsWith(newDevicesPrefix(application, shard)) && batchOfNewDevices(key) > countedBatch,
    );
  return { newDevices, erasures };
}

async function findNewest(
  env: Env,
  isWanted: (manifest: Manifest) => boolean = () => true,
): Promise<{ day: string; manifest: Manifest } | null> {
  for (const day of await snapshotDays(env.RAW_EVENTS)) {
    const read = await readManifest(env.RAW_EVENTS, day).catch((error) => {
      // For good: an older snapshot would not be what the bucket has.
      throw error instanceof NewerFormatError ? new AppError('conflict', error.message) : error;
    });
    if (!read) continue;
    const manifest = await withoutDeleted(env, day, read);
    if (isWanted(manifest)) return { day, manifest };
  }
  return null;
}

async function planOne(env: Env, restore: Restore, id: string): Promise<RestorePlan> {
  const application = await findLost(env, id);
  const ofOne = ({ applications }: Manifest) => applications.filter((copy) => copy.id === id);
  const newest = await findNewest(env, (manifest) => ofOne(manifest).length > 0);
  const { day, manifest } = newest ?? { day: '', manifest: await emptyManifest(env) };
  const { newDevices } = await listNewer(env, manifest);
  const plan = planApplication(
    day,
    { ...manifest, settings: {}, missing: [], applications: ofOne(manifest) },
    application,
    {
      ...{ lost: application.lost, newDevices },
      erasures: await erasuresSince(env, id, ofOne(manifest)[0]?.takenAt ?? 0),
    },
  );
  await writeJson(env.RAW_EVENTS, planKey(restore), plan);
  return plan;
}

/** The manifest without applications that were deleted after it: their data is no longer in the bucket. */
async function withoutDeleted(env: Env, day: string, manifest: Manifest): Promise<Manifest> {
  const kept = [];
  for (const copy of manifest.applications) {
    if (await env.RAW_EVENTS.head(doneKey(day, copy.id))) kept.push(copy);
  }
  return { ...manifest, applications: kept };
}
