import { counterName, counterOf, readAllApplied } from '#counting';
import { counterFlushes, database, insertStatements, retryTransient, type TableRows, toStatement } from '#db';
import { ErasedDevice, eraseDevice } from '#devices';
import { AppError } from '#http';
import { type FileLocation, type FileOutline, filePrefix, outlineFile, readPart } from '#lake';
import { listObjects } from '#lib/input/list-objects';
import { type Manifest, readJson } from './layout.ts';
import { blankCounter, lostIn, type RestorePlan, type RestoreStep, stepsOfFiles } from './plan.ts';
import { releaseApplication } from './restore-application.ts';

/** What was done so far. `rows` are those of the snapshot; `files` and `events` are newer than it. */
export type RestoreSummary = { rows: number; files: number; events: number };

/** Takes a step and adds what it did to the summary. Returns the steps that are to follow it. */
export async function takeStep(
  env: Env,
  { manifest, steps }: RestorePlan,
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
    case 'hold':
      await counterOf(env, step.application, step.shard).beginRestore();
      return [];
    case 'told': {
      const counters = step.shards.map((shard) => counterOf(env, step.application, shard));
      for (const counter of counters) await counter.acceptTold();
      for (const counter of counters) await counter.settleTold();
      return [];
    }
    case 'release':
      await releaseApplication(env, step);
      return [];
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
      await startCounters(env, manifest, step.application, lostIn(steps));
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

/**
 * From here on, each counter and the database agree on what was written: see `counter_flushes`. The database of a living deployment has what its `lost`
 * counters had written.
 */
async function startCounters(
  env: Env,
  manifest: Manifest,
  application: string,
  lost: readonly number[],
): Promise<void> {
  const counters = copyOf(manifest, application)?.counters ?? [];
  const names = lost.map((shard) => counterName(application, shard));
  const applied = await readAllApplied(env.DB, names);
  for (const [at, shard] of lost.entries()) {
    const copy = counters[shard] ?? blankCounter(counters.length);
    const sequence = applied.get(names[at] ?? '') ?? 0;
    await counterOf(env, application, shard).finishRestore({ ...copy, sequence });
  }
  for (const [shard, copy] of lost.length > 0 ? [] : counters.entries()) {
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
  { application, shards, only }: Extract<RestoreStep, { do: 'files' }>,
): Promise<RestoreStep[]> {
  const sizes = new Map<string, number>();
  for await (const { key, size } of listObjects(env.RAW_EVENTS, filePrefix(application))) {
    sizes.set(key, size);
  }
  let unlisted = [...sizes.keys()];
  const all = [...unlisted];
  for (let shard = 0; shard < shards; shard++) {
    const counter = counterOf(env, application, shard);
    // A counter that is not restored may list another file at any time.
    const isRestored = only?.includes(shard) ?? true;
    const own = new Set(await (isRestored ? counter.compareFiles(all) : counter.unlistedAmong(all)));
    unlisted = unlisted.filter((key) => own.has(key));
  }
  const found: { file: FileLocation; outline: FileOutline }[] = [];
  for (const key of unlisted) {
    const file = await locate(env, key, sizes.get(key) ?? 0);
    found.push({ file, outline: await outlineFile(env.RAW_EVENTS, file) });
  }
  const wanted = found.filter(({ outline }) => only?.includes(outline.shard) ?? true);
  const byShard = Map.groupBy(wanted, ({ outline }) => outline.shard);
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
