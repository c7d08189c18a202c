import { describe, expect, it } from 'vitest';
import { deviceIdIn, type LoggedEvent } from '#catalogue';
import { deleteReplaced, type FileEntry, mergeFiles, rewriteWithout, writeFiles } from '#lake';
import { Faults, MemoryBucket, MemoryIndex } from './memory-bucket.ts';
import { eventsIn } from './stream.ts';
import { APPLICATION_ID, makeSlices } from './workload.ts';

const SOURCE = { applicationId: APPLICATION_ID, shard: 0 };
const EVENTS = [...makeSlices({ events: 300, devices: 12 })].flat();
const deviceOf = (event: LoggedEvent | undefined) => (event ? deviceIdIn(event) : '');
const ERASED = new Set([deviceOf(EVENTS[0]), deviceOf(EVENTS[7])]);
const KEPT = EVENTS.filter((event) => !ERASED.has(deviceOf(event)));

async function idsIn(bucket: MemoryBucket, entries: FileEntry[]): Promise<string[]> {
  return idsOf(await eventsIn(bucket, entries));
}

const idsOf = (events: readonly LoggedEvent[]) => events.map(({ id }) => id).sort();

/** Files of some events each, in a bucket and an index that share their faults. */
async function standing(faults: Faults, parts: LoggedEvent[][]) {
  const quiet = new MemoryBucket();
  const entries: FileEntry[] = [];
  for (const part of parts) entries.push(...(await writeFiles(quiet, SOURCE, [part])));
  const bucket = new MemoryBucket(faults);
  for (const [key, bytes] of quiet.objects) bucket.objects.set(key, bytes);
  return { bucket, index: new MemoryIndex(entries, faults) };
}

const EVERY_FAULT = [1, 2, 3, 4, 5].flatMap((change) => [true, false].map((done) => ({ change, done })));

/** What must hold whenever a call ends, however it ended: all that the index names is there to be read. */
async function expectReadable(bucket: MemoryBucket, index: MemoryIndex): Promise<string[]> {
  return idsIn(
    bucket,
    index.entries.filter(({ rows }) => rows > 0),
  );
}

describe('rewriteWithout', () => {
  it('removes devices from a file, and leaves the others unchanged', async () => {
    const { bucket, index } = await standing(new Faults(), [EVENTS]);
    const [entry] = index.entries;
    if (!entry) throw new Error('no entry');
    const rewritten = await rewriteWithout(bucket, index, entry, ERASED);
    expect(rewritten.removed).toBe(EVENTS.length - KEPT.length);
    expect(rewritten.entry).toMatchObject({
      key: entry.key.replace('.parquet', '.r1.parquet'),
      revision: 1,
      rows: KEPT.length,
      firstEventId: idsOf(KEPT)[0],
      replaces: [],
    });
    expect(index.entries).toEqual([rewritten.entry]);
    expect([...bucket.objects.keys()]).toEqual([rewritten.entry?.key]);
    expect(await idsIn(bucket, index.entries)).toEqual(idsOf(KEPT));
  });

  it('removes events by their ids, and opens only files whose range contains one', async () => {
    const { bucket, index } = await standing(new Faults(), [EVENTS.slice(0, 100), EVENTS.slice(100)]);
    const own = new Set([EVENTS[0], EVENTS[50]].map((event) => event?.id ?? ''));
    const removed: number[] = [];
    for (const entry of index.entries)
      removed.push((await rewriteWithout(bucket, index, entry, own)).removed);
    expect(removed).toEqual([2, 0]);
    expect(await idsIn(bucket, index.entries)).toEqual(idsOf(EVENTS.filter(({ id }) => !own.has(id))));
  });

  it('does not rewrite a file without these devices', async () => {
    const faults = new Faults();
    const { bucket, index } = await standing(faults, [KEPT]);
    const [entry] = index.entries;
    if (!entry) throw new Error('no entry');
    expect(await rewriteWithout(bucket, index, entry, ERASED)).toEqual({ entry, removed: 0 });
    // A filter that lets everything through, as it does for one device in 46.
    const open = { ...entry, deviceFilter: new Uint8Array([255]) };
    expect(await rewriteWithout(bucket, index, open, ERASED)).toEqual({ entry: open, removed: 0 });
    expect(faults.changes).toBe(0);
  });

  it.each(EVERY_FAULT)('continues after change $change failed (done: $done)', async ({ change, done }) => {
    const { bucket, index } = await standing(new Faults({ change, done }), [EVENTS]);
    let failures = 0;
    for (let attempt = 0; attempt < 3; attempt++) {
      for (const entry of index.entries) {
        await rewriteWithout(bucket, index, entry, ERASED).catch(() => failures++);
      }
      const readable = await expectReadable(bucket, index);
      expect([idsOf(EVENTS), idsOf(KEPT)]).toContainEqual(readable);
    }
    expect(failures).toBe(change <= 4 ? 1 : 0);
    expect(await idsIn(bucket, index.entries)).toEqual(idsOf(KEPT));
    expect([...bucket.objects.keys()]).toEqual(index.entries.map(({ key }) => key));
    expect(index.entries[0]?.replaces).toEqual([]);
  });

  it.each(EVERY_FAULT)(
    'deletes a file that would be empty, although change $change fails (done: $done)',
    async (fault) => {
      const own = EVENTS.filter((event) => ERASED.has(deviceOf(event)));
      const { bucket, index } = await standing(new Faults(fault), [own]);
      for (let attempt = 0; attempt < 3; attempt++) {
        for (const entry of index.entries)
          await rewriteWithout(bucket, index, entry, ERASED).catch(() => undefined);
      }
      expect(index.entries).toEqual([]);
      expect(bucket.objects.size).toBe(0);
    },
  );
});

describe('mergeFiles', () => {
  const PARTS = [EVENTS.slice(0, 50), EVENTS.slice(50, 51), EVENTS.slice(51)];

  it.each(EVERY_FAULT)(
    'merges several files into one, although change $change fails (done: $done)',
    async (fault) => {
      const { bucket, index } = await standing(new Faults(fault), PARTS);
      for (let attempt = 0; attempt < 3; attempt++) {
        await mergeFiles(bucket, index, index.entries).catch(() => undefined);
        expect(await expectReadable(bucket, index)).toEqual(idsOf(EVENTS));
      }
      expect(index.entries).toMatchObject([{ rows: EVENTS.length, replaces: [] }]);
      expect([...bucket.objects.keys()]).toEqual(index.entries.map(({ key }) => key));
    },
  );

  it('refuses files of two days or counters', async () => {
    const { bucket, index } = await standing(new Faults(), PARTS);
    const [first, second] = index.entries;
    if (!first || !second) throw new Error('no entries');
    for (const other of [
      { ...second, shard: 1 },
      { ...second, key: second.key.replace('03-10', '03-11') },
    ]) {
      await expect(mergeFiles(bucket, index, [first, other])).rejects.toThrow(RangeError);
    }
  });
});

it('deletes what a rewrite left behind', async () => {
  const { bucket, index } = await standing(new Faults(), [EVENTS]);
  bucket.objects.set('old', new Uint8Array(1));
  const [entry] = index.entries;
  if (!entry) throw new Error('no entry');
  expect(await deleteReplaced(bucket, index, { ...entry, replaces: ['old'] })).toEqual(entry);
  expect(bucket.objects.has('old')).toBe(false);
  expect(index.entries).toEqual([entry]);
});
