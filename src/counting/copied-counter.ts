import { Buffer } from 'node:buffer';
import { lte } from 'drizzle-orm';
import { columnNames, pagesOf, type TableRows } from '#db';
import {
  type Bucket,
  describeFile,
  type FileLocation,
  readBetween,
  type WrittenParts,
  writeParts,
} from '#lake';
import { chunksOf } from '#lib/collections/chunks';
import { idAfter } from '#lib/ids';
import { HOUR_MS } from '#lib/time';
import { AnsweringCounter } from './answering-counter.ts';
import type { CounterCopy } from './api.ts';
import { postpone } from './credits/open-credits.ts';
import { insertAliasesOf } from './devices/devices.ts';
import { noteErased } from './devices/unknown-devices.ts';
import { dropBetween } from './files/export.ts';
import { addErasures } from './files/file-erasures.ts';
import { addFiles, forgetFiles, listedKeys } from './files/file-index.ts';
import type { RawFiles } from './files/raw-files.ts';
import { createMissing, eraseAgain, parkedAsUnknown, uncountedOf } from './files/restored-events.ts';
import { appendEvents, lastBatch, progressOf } from './log.ts';
import type { Flusher } from './outbox/flusher.ts';
import * as schema from './schema.ts';
import { readCounterName } from './shards.ts';

/** A value may have 2 MB. */
const FORGOTTEN_AT_ONCE = 5_000;

/**
 * The tables that a copy has. It has no log: what is counted is in the raw event files, and the rest will be. `progress` is in `CounterCopy`.
 * Parts that were sent are of no use to another database.
 */
const COPIED = {
  // Before the devices: a credit that is settled in between is settled again, by the device's own row.
  open_credits: schema.openCredits,
  held_events: schema.heldEvents,
  aliases: schema.aliases,
  amount_days: schema.amountDays,
  devices: schema.devices,
  erased_devices: schema.erasedDevices,
  device_days: schema.deviceDays,
  device_pages: schema.devicePages,
  erasures: schema.erasures,
  file_erasures: schema.fileErasures,
  files: schema.files,
  key_blocks: schema.keyBlocks,
  key_generations: schema.keyGenerations,
  purchase_keys: schema.purchaseKeys,
  recent_keys: schema.recentKeys,
  revoked_tokens: schema.revokedTokens,
  seen_ids: schema.seenIds,
  segments: schema.segments,
  transactions: schema.transactions,
  untold_transactions: schema.untoldTransactions,
} as const;

/** How long restored credits stay open: longer than the rest of a restore takes, which may have their installs in a file. */
const RESTORE_MS = 6 * HOUR_MS;

/** The calls with which a counter is copied to R2 and restored from there. */
export abstract class CopiedCounter extends AnsweringCounter {
  abstract bucket: Bucket;
  /** Whether a restore of its application writes this counter, which then accepts nothing else. */
  protected isRestoring = false;
  protected abstract readonly flusher: Flusher;
  protected abstract get files(): RawFiles;
  /** Loads the state kept in memory from the store. */
  protected abstract begin(): void;
  protected abstract write<Result>(work: () => Result): Result;
  protected abstract arm(now: number): Promise<void>;

  async whileStill(work: () => Promise<void>): Promise<void> {
    await this.scheduler.whileStill(lastBatch(this.store), () =>
      this.flusher.whileStill(async () => {
        await this.files.exportAll();
        await work();
      }),
    );
    await this.arm(Date.now());
  }

  async copyTables(prefix: string): Promise<CounterCopy> {
    const { countedBatch, sequence, run, shards, raisedBytes, lostAt } = progressOf(this.store);
    // A copy of what is left would replace those from which it can be restored.
    if (lostAt !== null) throw new Error(`the counter ${this.name} has lost what it stored: restore it`);
    // Compacted parts may be waiting to be sent.
    const unsent = this.store.select({ sequence: schema.outbox.sequence }).from(schema.outbox).all().length;
    const tables: Record<string, WrittenParts> = {};
    for (const [name, table] of Object.entries(COPIED)) {
      // What was appended after the last counted batch is counted again from the raw event files.
      const which = table === schema.seenIds ? lte(schema.seenIds.batch, countedBatch) : undefined;
      const rows = pagesOf(table, which, (query) => this.store.values(query));
      tables[name] = await writeParts(this.bucket, prefix, name, { columns: columnNames(table), rows });
    }
    return { countedBatch, sequence: sequence - unsent, run, shards, raisedBytes, tables };
  }

  async restoreRows({ table, columns, rows }: TableRows): Promise<void> {
    const known = COPIED[table as keyof typeof COPIED];
    const unknown = known ? columns.filter((name) => !columnNames(known).includes(name)) : [table];
    if (unknown.length > 0) throw new Error(`A counter has no ${unknown.join(', ')}`);
    if (!this.isBlank()) throw new Error(`The counter ${this.name} is not empty`);
    const places = columns.map(() => '?').join(', ');
    const statement = `INSERT INTO "${table}" (${columns.map((name) => `"${name}"`).join(', ')}) VALUES (${places}) ON CONFLICT DO NOTHING`;
    this.write(() => {
      for (const row of rows) {
        const values = row.map((cell) =>
          typeof cell === 'object' && cell !== null ? Buffer.from(cell.base64, 'base64') : cell,
        );
        this.ctx.storage.sql.exec(statement, ...values);
      }
      const at = columns.indexOf('id');
      if (table === 'devices')
        insertAliasesOf(
          this.store,
          rows.map((row) => String(row[at])),
        );
      // Copies of earlier releases have no other record of them.
      if (table === 'erasures')
        noteErased(
          this.store,
          rows.map((row) => String(row[at])),
          Date.now(),
        );
      postpone(this.store, Date.now() + RESTORE_MS);
    });
  }

  async finishRestore({ tables: _, ...copy }: CounterCopy): Promise<void> {
    if (progressOf(this.store).restoredAt !== null) return;
    if (!this.isBlank()) throw new Error(`The counter ${this.name} is not empty`);
    const now = Date.now();
    // Pruning waits for a day, because the copy's ids are needed to restore files, however old they are.
    const row = { ...copy, countedAt: now, prunedAt: now, restoredAt: now };
    this.write(() => this.store.update(schema.progress).set(row).run());
    this.begin();
  }

  async unlistedAmong(keys: string[]): Promise<string[]> {
    const listed = listedKeys(this.store);
    return keys.filter((key) => !listed.has(key));
  }

  async compareFiles(keys: string[]): Promise<string[]> {
    return this.write(() => {
      const listed = listedKeys(this.store);
      const unlisted = keys.filter((key) => !listed.delete(key));
      for (const gone of chunksOf(listed, FORGOTTEN_AT_ONCE)) forgetFiles(this.store, gone);
      return unlisted;
    });
  }

  async restoreEvents(
    locations: FileLocation[],
    range: { from: string; to: string },
    since: number,
  ): Promise<number> {
    const events = await readBetween(this.bucket, readCounterName(this.name), locations, range);
    const now = Date.now();
    const before = lastBatch(this.store);
    const counted = this.write(() => {
      if (progressOf(this.store).restoredAt === null)
        this.store.update(schema.progress).set({ restoredAt: now }).run();
      createMissing(this.store, events);
      return appendEvents(this.log, uncountedOf(this.store, events, since), now);
    });
    this.scheduler.refresh(this.store);
    const through = lastBatch(this.store);
    if (this.isRestoring) await this.scheduler.rebuild(through);
    else await this.countThrough(through);
    // They are in the files. What was parked is not there as it is counted now, and stays for the next export.
    const parked = this.write(() => {
      dropBetween(this.store, before, through);
      return appendEvents(this.log, parkedAsUnknown(this.store, events), now);
    });
    this.scheduler.refresh(this.store);
    await this.countThrough(lastBatch(this.store));
    this.files.refresh();
    await this.flusher.flush();
    await this.arm(now);
    return counted + parked;
  }

  protected async countThrough(batch: number): Promise<void> {
    while (!this.scheduler.isCounted(batch)) await this.scheduler.countNext();
  }

  async listFile(location: FileLocation): Promise<void> {
    const source = readCounterName(this.name);
    const entry = await describeFile(this.bucket, source, location);
    const { firstEventId: from, lastEventId } = entry;
    const events = await readBetween(this.bucket, source, [location], { from, to: idAfter(lastEventId) });
    const now = Date.now();
    this.write(() => {
      addFiles(this.store, [entry], { exportedAt: now, throughBatch: lastBatch(this.store) });
      eraseAgain(this.store, entry);
      // They are counted, and exported anew as such.
      addErasures(
        this.store,
        entry.key,
        parkedAsUnknown(this.store, events).map(({ id }) => id),
      );
    });
    await this.arm(now);
  }

  private isBlank(): boolean {
    const { countedBatch, sequence } = progressOf(this.store);
    return countedBatch === 0 && sequence === 0 && lastBatch(this.store) === 0;
  }
}
