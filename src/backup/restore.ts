import { and, eq, isNull, lt } from 'drizzle-orm';
import { getTableConfig } from 'drizzle-orm/sqlite-core';
import { batchOfNewDevices, counterName, counterOf, newDevicesPrefix } from '#counting';
import {
  counterFlushes,
  database,
  hashKeys,
  insertStatements,
  restores,
  retryTransient,
  type TableRows,
  teams,
  toStatement,
  users,
} from '#db';
import { ERASED, ErasedDevice, eraseDevice } from '#devices';
import { AppError } from '#http';
import { type FileLocation, type FileOutline, filePrefix, outlineFile, readPart } from '#lake';
import { sha256Hex } from '#lib/crypto';
import { listObjects } from '#lib/input/list-objects';
import {
  doneKey,
  Manifest,
  manifestKey,
  missingSecrets,
  NEW_DEVICES,
  readJson,
  snapshotDays,
  writeJson,
} from './layout.ts';
import {
  type DevicesSince,
  planRestore,
  type RestorePlan,
  type RestoreStep,
  rowsIn,
  stepsOfFiles,
} from './plan.ts';

/** Where the plan of the restore in progress is. */
const PLAN = 'restore.json';
/** How long one request works. */
const WORK_MS = 5_000;
/** After a request was killed, another may continue after this time. */
const BUSY_MS = 120_000;

/** What was done so far. `rows` are those of the snapshot; `files` and `events` are newer than it. */
type RestoreSummary = { rows: number; files: number; events: number };

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

type Restore = typeof restores.$inferSelect;

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
    const plan = await planOf(env, restore, otherSecrets);
    const summary: RestoreSummary = { rows: 0, files: 0, events: 0, ...JSON.parse(restore.summary) };
    let { done } = restore;
    while (done < plan.steps.length && Date.now() < now + WORK_MS) {
      const step = plan.steps[done];
      if (!step) break;
      const further = await takeStep(env, plan, step, summary);
      // They are there already if an earlier request stopped right after it planned them.
      if (further.length > 0 && plan.steps[done + 1]?.do !== 'events') {
        plan.steps.splice(done + 1, 0, ...further);
        await writeJson(env.RAW_EVENTS, PLAN, plan);
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

/** The plan of a restore, which its first request makes. */
async function planOf(env: Env, restore: Restore, otherSecrets: boolean): Promise<RestorePlan> {
  const stored = restore.done > 0 ? await readJson(env.RAW_EVENTS, PLAN) : null;
  if (stored) return stored as RestorePlan;
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
  await writeJson(env.RAW_EVENTS, PLAN, plan);
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

async function findNewest(env: Env): Promise<{ day: string; manifest: Manifest } | null> {
  for (const day of await snapshotDays(env.RAW_EVENTS)) {
    const manifest = Manifest.safeParse(await readJson(env.RAW_EVENTS, manifestKey(day)));
    if (manifest.success) return { day, manifest: await withoutDeleted(env, day, manifest.data) };
  }
  return null;
}

/** The manifest without applications that were deleted after it: their data is no longer in the bucket. */
async function withoutDeleted(env: Env, day: string, manifest: Manifest): Promise<Manifest> {
  const kept = [];
  for (const copy of manifest.applications) {
    if (await env.RAW_EVENTS.head(doneKey(day, copy.id))) kept.push(copy);
  }
  return { ...manifest, applications: kept };
}

/** Takes a step and adds what it did to the summary. Returns the steps that are to follow it. */
async function takeStep(
  env: Env,
  { manifest }: RestorePlan,
  step: RestoreStep,
  summary: RestoreSummary,
): Promise<RestoreStep[]> {
  switch (step.do) {
    case 'rows': {
      const rows = await readRows(env, step);
      for (const statement of insertStatements(rows)) {
        await retryTransient(() => toStatement(env.DB, statement).run());
      }
      summary.rows += rows.rows.length;
      return [];
    }
    case 'counter rows': {
      const rows = await readRows(env, step);
      await counterOf(env, step.application, step.shard).restoreRows(rows);
      summary.rows += rows.rows.length;
      return [];
    }
    case 'new devices': {
      const rows = await readRows(env, { table: 'devices', key: step.key });
      await counterOf(env, step.application, step.shard).restoreRows(rows);
      return [];
    }
    case 'erasure':
      await repeatErasure(env, step.key);
      return [];
    case 'counters':
      await startCounters(env, manifest, step.application);
      return [];
    case 'files':
      return planFiles(env, step);
    case 'events':
      summary.events += await restoreEvents(env, manifest, step);
      return [];
    case 'file':
      await counterOf(env, step.application, step.shard).listFile(step.file);
      summary.files++;
      return [];
  }
}

async function readRows(env: Env, { table, key }: { table: string; key: string }): Promise<TableRows> {
  const object = await env.RAW_EVENTS.get(key);
  if (!object) throw new AppError('not_found', `The bucket lacks ${key}`);
  return { table, ...readPart<TableRows['rows'][number][number]>(await object.text()) };
}

const copyOf = ({ applications }: Manifest, id: string) => applications.find((copy) => copy.id === id);

/** From here on, each counter and the database agree on what was written: see `counter_flushes`. */
async function startCounters(env: Env, manifest: Manifest, application: string): Promise<void> {
  const counters = copyOf(manifest, application)?.counters ?? [];
  for (const [shard, copy] of counters.entries()) {
    await counterOf(env, application, shard).finishRestore(copy);
    if (copy.sequence === 0) continue;
    await retryTransient(() =>
      database(env.DB)
        .insert(counterFlushes)
        .values({ counter: counterName(application, shard), sequence: copy.sequence })
        .onConflictDoNothing(),
    );
  }
}

async function planFiles(
  env: Env,
  { application, shards }: Extract<RestoreStep, { do: 'files' }>,
): Promise<RestoreStep[]> {
  const sizes = new Map<string, number>();
  for await (const { key, size } of listObjects(env.RAW_EVENTS, filePrefix(application))) {
    sizes.set(key, size);
  }
  let unlisted = [...sizes.keys()];
  const all = [...unlisted];
  for (let shard = 0; shard < shards; shard++) {
    const own = new Set(await counterOf(env, application, shard).compareFiles(all));
    unlisted = unlisted.filter((key) => own.has(key));
  }
  const found: { file: FileLocation; outline: FileOutline }[] = [];
  for (const key of unlisted) {
    const file = await locate(env, key, sizes.get(key) ?? 0);
    found.push({ file, outline: await outlineFile(env.RAW_EVENTS, file) });
  }
  const byShard = Map.groupBy(found, ({ outline }) => outline.shard);
  return [...byShard].flatMap(([shard, own]) => stepsOfFiles(application, shard, own));
}

/** A Parquet file ends with the length of its footer and four bytes of signature. */
async function locate(env: Env, key: string, bytes: number): Promise<FileLocation> {
  const object = await env.RAW_EVENTS.get(key, { range: { offset: bytes - 8, length: 8 } });
  if (!object) throw new AppError('not_found', `The bucket lacks ${key}`);
  return { key, bytes, footerBytes: new DataView(await object.arrayBuffer()).getUint32(0, true) + 8 };
}

async function restoreEvents(
  env: Env,
  manifest: Manifest,
  { application, shard, files, from, to }: Extract<RestoreStep, { do: 'events' }>,
): Promise<number> {
  const copy = copyOf(manifest, application);
  // A counter that is newer than the snapshot lacks everything.
  const since = copy && shard < copy.counters.length ? copy.since : 0;
  return counterOf(env, application, shard).restoreEvents(files, { from, to }, since);
}

async function repeatErasure(env: Env, key: string): Promise<void> {
  const { team_id: id, ...erased } = ErasedDevice.parse(await readJson(env.RAW_EVENTS, key));
  const caller = { db: database(env.DB), team: { id }, actor: 'restore', now: Date.now() };
  await eraseDevice(env, caller, {
    applicationId: erased.application_id,
    deviceId: erased.device_id,
    shard: erased.shard,
  });
}
