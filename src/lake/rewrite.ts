import { deviceIdIn } from '#catalogue';
import { nextTurn } from '#lib/next-turn';
import type { Bucket, FileEntry, StoredEvent } from './entry.ts';
import { FileBuilder } from './file-builder.ts';
import { mayHoldId } from './filter.ts';
import { folderOfFile, revisedKey } from './keys.ts';
import { RawFile } from './raw-file.ts';

/**
 * Stores the entries of files. Each change is one transaction and idempotent. Only one caller rewrites a given file: a counter its own
 * files.
 */
export type FileIndex = {
  /** Replaces entries by another. */
  replace(old: readonly FileEntry[], next: FileEntry): void | Promise<void>;
  remove(entries: readonly FileEntry[]): void | Promise<void>;
};

// A rewrite has three steps: write the new object, replace the old entries by one that names it, delete the old objects. Readers always
// find what the index names. Whatever step fails, the next call continues from the entries in the index: an object that no entry names is
// written again under the same key, and old objects are listed in `replaces` until they are gone.

/**
 * Removes events from a file, by device or by event id. Returns how many were removed, and the file's new entry, or null if nothing is left
 * of it. A file that contains none of them is unchanged. `onRemoved` gets each, before anything is changed. Safe to repeat after a failure at any
 * point.
 */
export async function rewriteWithout(
  bucket: Bucket,
  index: FileIndex,
  entry: FileEntry,
  ids: ReadonlySet<string>,
  onRemoved: (event: StoredEvent) => void = () => undefined,
): Promise<{ entry: FileEntry | null; removed: number }> {
  const current = await deleteReplaced(bucket, index, entry);
  if (!current || ![...ids].some((id) => mayHoldId(current, id))) {
    return { entry: current, removed: 0 };
  }
  return keepOnly(bucket, index, current, (event) => {
    const isKept = !isAnyOf(event, ids);
    if (!isKept) onRemoved(event);
    return isKept;
  });
}

/** Removes the events that were received before a time (epoch milliseconds) from a file, in the same way. */
export async function rewriteSince(
  bucket: Bucket,
  index: FileIndex,
  entry: FileEntry,
  since: number,
): Promise<FileEntry | null> {
  const current = await deleteReplaced(bucket, index, entry);
  if (!current) return null;
  return (await keepOnly(bucket, index, current, (event) => event.received_at >= since)).entry;
}

async function keepOnly(
  bucket: Bucket,
  index: FileIndex,
  current: FileEntry,
  keeps: (event: StoredEvent) => boolean,
): Promise<{ entry: FileEntry | null; removed: number }> {
  const builder = await collect(bucket, [current], keeps);
  const removed = current.rows - builder.rows;
  if (removed === 0) return { entry: current, removed };
  return { entry: await putInPlace(bucket, index, [current], builder), removed };
}

/**
 * Merges small files of one counter and one day, such as the hours of a quiet day or events that arrived late, into one. Safe to repeat.
 * Throws a `RangeError` if they are of several counters or days.
 */
export async function mergeFiles(
  bucket: Bucket,
  index: FileIndex,
  entries: readonly FileEntry[],
): Promise<FileEntry | null> {
  const folders = new Set(entries.map(({ key, shard }) => `${folderOfFile(key)}:${shard}`));
  if (folders.size !== 1) throw new RangeError('Only files of one counter and one day can be merged');
  const cleaned = await Promise.all(entries.map((entry) => deleteReplaced(bucket, index, entry)));
  const files = cleaned.filter((entry) => entry !== null);
  if (files.length < 2) return files[0] ?? null;
  return putInPlace(bucket, index, files, await collect(bucket, files, () => true));
}

/** Deletes the objects that a file replaced, if a rewrite stopped before doing so. Returns null if nothing is left of the file. */
export async function deleteReplaced(
  bucket: Bucket,
  index: FileIndex,
  entry: FileEntry,
): Promise<FileEntry | null> {
  if (entry.replaces.length > 0) await bucket.delete(entry.replaces);
  if (entry.rows === 0) {
    await index.remove([entry]);
    return null;
  }
  if (entry.replaces.length === 0) return entry;
  const cleaned = { ...entry, replaces: [] };
  await index.replace([entry], cleaned);
  return cleaned;
}

const isAnyOf = (event: StoredEvent, ids: ReadonlySet<string>) =>
  ids.has(event.id) || ids.has(deviceIdIn(event));

async function collect(
  bucket: Bucket,
  entries: readonly FileEntry[],
  keeps: (event: StoredEvent) => boolean,
): Promise<FileBuilder> {
  const builder = new FileBuilder(entries[0]?.shard ?? 0);
  for (const entry of entries) {
    const file = await RawFile.open(bucket, entry);
    for (const group of file.groups) {
      for (const event of await file.readEvents(group)) if (keeps(event)) builder.add(event);
      await nextTurn();
    }
  }
  return builder;
}

/**
 * Replaces files of one day by one with what was collected of them. A file with nothing left keeps an entry without rows until the old
 * objects are gone.
 */
async function putInPlace(
  bucket: Bucket,
  index: FileIndex,
  old: readonly FileEntry[],
  builder: FileBuilder,
): Promise<FileEntry | null> {
  const [first] = [...old].sort((left, right) => (left.key < right.key ? -1 : 1));
  if (!first) return null;
  if (builder.files > 1) throw new RangeError('A file has events of one day');
  const replaces = old.map(({ key }) => key);
  let next: FileEntry = { ...first, rows: 0, replaces };
  for await (const { bytes, footerBytes, contents } of builder.build()) {
    const revision = Math.max(...old.map((entry) => entry.revision)) + 1;
    const key = revisedKey(first.key, revision);
    await bucket.put(key, bytes);
    next = { ...first, ...contents, key, revision, bytes: bytes.length, footerBytes, replaces };
  }
  await index.replace(old, next);
  return deleteReplaced(bucket, index, next);
}
