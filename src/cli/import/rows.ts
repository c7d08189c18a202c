import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { exists } from '../local-state.ts';
import { type ImportedRow, prepareRows } from './devices.ts';
import {
  hashFile,
  type ImportItem,
  type ImportProgress,
  importFile,
  rejectedFileOf,
  type Target,
} from './file.ts';
import { Scratch } from './scratch.ts';
import { addReasons, addTo, type ImportResult, totalOf } from './summary.ts';

/** What an import keeps until it is complete, so that it can be continued. */
const workFolderOf = (file: string) => `${file}.import`;

type PreparedImport = ImportResult & { fingerprint: string };

/**
 * Imports a file of rows: fetches the tokens of its devices, then sends its events. An interrupted import continues if the file, the settings
 * and the target are the same; otherwise it starts over. Rejected rows go to `<file>.rejected.ndjson` with their lines and reasons. Nothing
 * else is left behind. `onProgress` gets the size of what is sent, in bytes. Returns the outcomes by kind of row, the reasons why
 * rows were not taken, and what was dropped of others.
 */
export async function importRows(
  { file, settings = {} }: { file: string; settings?: Record<string, unknown> },
  read: (scratch: Scratch) => AsyncIterable<ImportedRow>,
  target: Target,
  onProgress: (progress: ImportProgress, size: number) => void,
): Promise<ImportResult> {
  const folder = workFolderOf(file);
  const events = path.join(folder, 'events.ndjson');
  const rejected = path.join(folder, 'rows.rejected.ndjson');
  const prepared = await prepare(file, settings, read, target, { events, rejected });
  const { size } = await stat(events);
  const { kinds, ...sent } = await importFile(
    events,
    target,
    (progress) => onProgress(progress, size),
    readItem,
  );
  // A release without reasons may have begun the import.
  const { summary, reasons = {}, dropped = {} } = prepared;
  addReasons(reasons, sent.reasons);
  addReasons(dropped, sent.dropped);
  for (const [kind, counts] of Object.entries(kinds)) addTo(summary, kind, counts);
  await rm(rejectedFileOf(file), { force: true });
  if (totalOf(summary).rejected > 0) {
    for (const part of [rejected, rejectedFileOf(events)]) {
      if (!(await exists(part))) continue;
      await pipeline(createReadStream(part), createWriteStream(rejectedFileOf(file), { flags: 'a' }));
    }
  }
  await rm(folder, { recursive: true });
  return { summary, reasons, dropped };
}

const readItem = (parsed: unknown): ImportItem => parsed as ImportItem;

async function prepare(
  file: string,
  settings: Record<string, unknown>,
  read: (scratch: Scratch) => AsyncIterable<ImportedRow>,
  target: Target,
  files: { events: string; rejected: string },
): Promise<PreparedImport> {
  const folder = workFolderOf(file);
  const preparedFile = path.join(folder, 'prepared.json');
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([await hashFile(file), settings, target.url, target.apiKey]))
    .digest('hex');
  if (await exists(preparedFile)) {
    const prepared: PreparedImport = JSON.parse(await readFile(preparedFile, 'utf8'));
    if (prepared.fingerprint === fingerprint) return prepared;
  }
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  try {
    const result = await withScratch(path.join(folder, 'scratch.sqlite'), (scratch) =>
      prepareRows(read(scratch), target, scratch, files),
    );
    const prepared = { fingerprint, ...result };
    await writeFile(preparedFile, JSON.stringify(prepared));
    return prepared;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function withScratch<Result>(
  file: string,
  work: (scratch: Scratch) => Promise<Result>,
): Promise<Result> {
  const scratch = new Scratch(file);
  try {
    return await work(scratch);
  } finally {
    scratch.close();
    await rm(file, { force: true });
  }
}
