import { asc, eq, getTableColumns, type SQL } from 'drizzle-orm';
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core';
import {
  counterName,
  countersOf,
  readAllApplied,
  readRedeliveryLimit,
  type ShardedApplication,
} from '#counting';
import {
  applications,
  columnNames,
  database,
  pagesOf,
  ROLLED_UP,
  retryTransient,
  SETTINGS,
  toStatement,
} from '#db';
import { ERASED } from '#devices';
import { deletePrefix, type WrittenParts, writeParts } from '#lake';
import { chunksOf } from '#lib/collections/chunks';
import { STORE_FORMATS } from '#lib/encoding/store-formats';
import { listObjects } from '#lib/input/list-objects';
import { logError } from '#lib/log';
import { dayIn } from '#lib/time';
import { monthVersions } from '#rollup/months';
import {
  ApplicationCopy,
  applicationFolder,
  counterFolder,
  doneKey,
  folderOf,
  type Manifest,
  manifestKey,
  NEW_DEVICES,
  readJson,
  readManifest,
  secretMarks,
  settingsFolder,
  snapshotDays,
  writeJson,
} from './layout.ts';

/** Complete snapshots that are kept. */
const KEPT = 3;
/** An invocation has 1,000 statements and 15 minutes. No application is begun beyond these; the next run continues. */
const MAX_STATEMENTS = 700;
const MAX_BEGIN_MS = 600_000;
const PRUNE_MS = 60_000;
/** Counters may share the memory of an isolate, and each holds a few megabytes of its rows. */
const COPIED_AT_ONCE = 4;
/** The largest number of objects that R2 deletes at once. */
const MAX_DELETED = 1_000;
/** Shards may be added, and months be merged, while an application is copied. */
const ATTEMPTS = 3;

/**
 * Writes the day's snapshot (UTC) to R2, unless it is complete already, and deletes old ones. See `layout.ts` for what is where. A run continues
 * where an earlier one of the same day stopped. An application that cannot be copied holds up no other. Throws an error that names those
 * that are missing at the end.
 */
export async function writeSnapshot(env: Env, now: number, maxStatements = MAX_STATEMENTS): Promise<void> {
  const day = dayIn('UTC', now);
  const before = await readManifest(env.RAW_EVENTS, day);
  if (before?.missing.length === 0) return;
  const snapshot = new Snapshot(env, day, now, maxStatements);
  const missing = await snapshot.write();
  await pruneSnapshots(env);
  if (missing.length === 0) return;
  throw new Error(`Not in the snapshot of ${day}: ${missing.map(({ id }) => id).join(', ')}`);
}

class Snapshot {
  private readonly env: Env;
  private readonly day: string;
  private readonly now: number;
  private readonly startedAt = Date.now();
  private readonly maxStatements: number;
  private statements = 0;

  constructor(env: Env, day: string, now: number, maxStatements: number) {
    this.env = env;
    this.day = day;
    this.now = now;
    this.maxStatements = maxStatements;
  }

  /** Returns the applications that are missing. */
  async write(): Promise<ShardedApplication[]> {
    const all = await database(this.env.DB)
      .select({ id: applications.id, shards: applications.shards })
      .from(applications)
      .orderBy(asc(applications.id));
    const copies: ApplicationCopy[] = [];
    const missing: ShardedApplication[] = [];
    for (const application of all) {
      const copy = await this.copyOnce(application.id).catch((error) => {
        logError('application not copied', error, { application_id: application.id });
        return null;
      });
      if (copy) copies.push(copy);
      else missing.push(application);
    }
    const manifest: Manifest = {
      version: STORE_FORMATS.snapshot.number,
      takenAt: this.now,
      secrets: await secretMarks(this.env),
      settings: await this.writeTables(settingsFolder(this.day), SETTINGS),
      applications: copies,
      missing,
    };
    await writeJson(this.env.RAW_EVENTS, manifestKey(this.day), manifest);
    return missing;
  }

  /** The copy of an application, unless an earlier run has made it. Null if this run has no time left for it. */
  private async copyOnce(id: string): Promise<ApplicationCopy | null> {
    const key = doneKey(this.day, id);
    const done = ApplicationCopy.safeParse(await readJson(this.env.RAW_EVENTS, key));
    if (done.success) return done.data;
    if (this.statements >= this.maxStatements || Date.now() - this.startedAt > MAX_BEGIN_MS) return null;
    for (let attempt = 1; ; attempt++) {
      const [shards, months] = [await this.shardsOf(id), await monthVersions(this.env.DB, id)];
      const copy = await this.copy({ id, shards });
      // A month that was merged meanwhile may be in the copy twice, or not at all.
      const isStill =
        (await this.shardsOf(id)) === shards && (await monthVersions(this.env.DB, id)) === months;
      if (isStill) {
        await writeJson(this.env.RAW_EVENTS, key, copy);
        return copy;
      }
      if (attempt === ATTEMPTS) throw new Error('the application keeps changing');
    }
  }

  private async shardsOf(id: string): Promise<number> {
    const [row] = await database(this.env.DB)
      .select({ shards: applications.shards })
      .from(applications)
      .where(eq(applications.id, id));
    return row?.shards ?? 0;
  }

  /** Copies an application's rollups and its counters at one point in time: while none of its counters changes either. */
  private async copy({ id, shards }: ShardedApplication): Promise<ApplicationCopy> {
    const counters = countersOf(this.env, id, shards);
    const copy: ApplicationCopy = { id, takenAt: 0, since: 0, tables: {}, counters: [] };
    const copyAll = async () => {
      copy.takenAt = Date.now();
      copy.since = await readRedeliveryLimit(this.env.DB, id, copy.takenAt);
      for (const group of chunksOf(counters.entries(), COPIED_AT_ONCE)) {
        const copies = group.map(([shard, counter]) =>
          counter.copyTables(counterFolder(this.day, id, shard)),
        );
        copy.counters.push(...(await Promise.all(copies)));
      }
      await this.requireAgreement(copy);
      copy.tables = await this.writeTables(applicationFolder(this.day, id), ROLLED_UP, id);
    };
    let failure: { error: unknown } | null = null;
    const whileStill = async (shard: number): Promise<void> => {
      const counter = counters[shard];
      if (counter) await counter.whileStill(() => whileStill(shard + 1));
      // Kept here, because an error that passes through the counters would be logged by each as its own.
      else
        await copyAll().catch((error) => {
          failure = { error };
        });
    };
    await whileStill(0);
    if (failure) throw (failure as { error: unknown }).error;
    return copy;
  }

  /** A database that was restored lacks what its counters have written since. A copy of both would hide that for ever. */
  private async requireAgreement({ id, counters }: ApplicationCopy): Promise<void> {
    const names = counters.map((_, shard) => counterName(id, shard));
    const applied = await readAllApplied(this.env.DB, names);
    const agree = counters.every(
      ({ sequence }, shard) => (applied.get(counterName(id, shard)) ?? 0) === sequence,
    );
    if (!agree) throw new Error('the database lacks what a counter has written: resume counting');
  }

  private async writeTables(
    folder: string,
    tables: readonly SQLiteTable[],
    applicationId?: string,
  ): Promise<Record<string, WrittenParts>> {
    const written: Record<string, WrittenParts> = {};
    for (const table of tables) {
      const { name } = getTableConfig(table);
      const column: SQLiteColumn | undefined = (getTableColumns(table) as Record<string, SQLiteColumn>)
        .applicationId;
      const which = applicationId && column ? eq(column, applicationId) : undefined;
      written[name] = await writeParts(this.env.RAW_EVENTS, folder, name, {
        columns: columnNames(table),
        rows: pagesOf(table, which, (query) => this.run(query)),
      });
    }
    return written;
  }

  private run(query: SQL): Promise<unknown[][]> {
    this.statements++;
    return retryTransient(() => toStatement(this.env.DB, query).raw());
  }
}

/** Deletes the snapshots before the newest complete ones, and what was recorded before the oldest of those. */
async function pruneSnapshots({ RAW_EVENTS: bucket }: Env): Promise<void> {
  const deadline = Date.now() + PRUNE_MS;
  let complete = 0;
  let oldest = 0;
  for (const day of await snapshotDays(bucket)) {
    if (complete === KEPT) {
      await deletePrefix(bucket, `${folderOf(day)}/`, deadline);
      continue;
    }
    const manifest = await readManifest(bucket, day);
    if (!manifest) continue;
    // Of an application that is missing, an earlier one is the last.
    if (manifest.missing.length === 0) complete++;
    oldest = manifest.takenAt;
  }
  for (const prefix of [NEW_DEVICES, ERASED]) {
    const old: string[] = [];
    for await (const { key, uploaded } of listObjects(bucket, prefix)) {
      if (uploaded.getTime() < oldest) old.push(key);
    }
    for (const keys of chunksOf(old, MAX_DELETED)) await bucket.delete(keys);
  }
}
