import { expect, it } from 'vitest';
import type { FileEntry } from '#lake';
import { DAY_MS } from '#lib/time';
import { confirmRange, takeRange } from '../../src/counting/files/export.ts';
import {
  addFiles,
  dropExpired,
  listFiles,
  nextMerge,
  nextPartlyExpired,
} from '../../src/counting/files/file-index.ts';
import { type ObjectStore, openStore } from '../../src/counting/store.ts';
import { startCounter } from '../helpers/counter.ts';

const NOON = Date.parse('2026-03-02T12:00:00Z');
const MINUTE_MS = 60_000;

/** Runs something in a new counter's own store. */
const withStore = <Result>(work: (store: ObjectStore, storage: DurableObjectStorage) => Result) =>
  startCounter().inside((_, { storage }) => work(openStore(storage), storage));

const idAt = (at: number, digit: string) => `evt_${at.toString(16).padStart(12, '0')}${digit.repeat(20)}`;

/** A file of events received in the minute before a time. */
function fileOf(at: number, more: Partial<FileEntry> = {}): FileEntry {
  const day = new Date(at).toISOString().slice(0, 10);
  return {
    applicationId: 'app_1',
    shard: 0,
    key: `events/application=app_1/day=${day}/${idAt(at - MINUTE_MS, '0')}.parquet`,
    revision: 0,
    rows: 100,
    bytes: 10_000,
    footerBytes: 64,
    firstReceivedAt: at - MINUTE_MS,
    lastReceivedAt: at,
    firstDay: day,
    lastDay: day,
    firstEventId: idAt(at - MINUTE_MS, '0'),
    lastEventId: idAt(at, 'f'),
    types: { 'custom.ad': 100 },
    values: { country: [''], os: [''] },
    deviceFilter: new Uint8Array([255]),
    replaces: [],
    ...more,
  };
}

/** The files that would be merged the day after they were exported, by their number. */
const merged = (files: FileEntry[], now = NOON + DAY_MS) =>
  withStore((store) => {
    addFiles(store, files, { exportedAt: NOON, throughBatch: 1 });
    const chosen = nextMerge(store, now).map(({ key }) => key);
    return files.flatMap(({ key }, index) => (chosen.includes(key) ? [index] : []));
  });

const ofMinutes = (count: number, more: Partial<FileEntry> = {}) =>
  Array.from({ length: count }, (_, index) => fileOf(NOON + index * MINUTE_MS, more));

it('merges the small files of a day once it is over', async () => {
  expect(await merged(ofMinutes(3), NOON + 11 * 3_600_000)).toEqual([]);
  expect(await merged(ofMinutes(3), NOON + 12 * 3_600_000)).toEqual([0, 1, 2]);
});

it('merges no file alone, and none of different days', async () => {
  expect(await merged([fileOf(NOON), fileOf(NOON - DAY_MS)])).toEqual([]);
});

it('merges no files that are large', async () => {
  expect(await merged([...ofMinutes(2), ...ofMinutes(4, { rows: 5_000 }).slice(2)])).toEqual([0, 1]);
  expect(await merged([...ofMinutes(2), ...ofMinutes(4, { bytes: 500_000 }).slice(2)])).toEqual([0, 1]);
});

it('merges no more than fits a file', async () => {
  expect(await merged(ofMinutes(12, { rows: 4_900 }))).toHaveLength(10);
  expect(await merged(ofMinutes(12, { bytes: 490_000 }))).toHaveLength(5);
});

it('merges what arrived late with the other files of its day, however old', async () => {
  const late = fileOf(NOON + 200 * DAY_MS, { firstDay: '2026-03-02', lastDay: '2026-03-02' });
  expect(await merged([fileOf(NOON), late], NOON + 201 * DAY_MS)).toEqual([0, 1]);
});

it('merges the files of one day at a time, the oldest first, and a bounded number', async () => {
  const before = ofMinutes(2).map((_, index) => fileOf(NOON - DAY_MS + index * MINUTE_MS));
  expect(await merged([...ofMinutes(2), ...before])).toEqual([2, 3]);
  expect(await merged(ofMinutes(501, { rows: 1, bytes: 10 }))).toHaveLength(500);
});

it('lists the files of a day by both of its ends', async () => {
  const file = fileOf(NOON, { firstDay: '2026-02-27', lastDay: '2026-03-02' });
  const found = (filter: { from?: string; to?: string }) =>
    withStore((store) => {
      addFiles(store, [file], { exportedAt: NOON, throughBatch: 1 });
      return listFiles(store, filter, { before: null, after: null }).files.length;
    });
  expect(await found({ to: '2026-02-27' })).toBe(1);
  expect(await found({ to: '2026-02-26' })).toBe(0);
  expect(await found({ from: '2026-03-02' })).toBe(1);
  expect(await found({ from: '2026-03-03' })).toBe(0);
});

it('finds files of which only a part is older than the retention', async () => {
  const since = { firstReceivedAt: NOON - 30 * DAY_MS };
  const files = [fileOf(NOON), fileOf(NOON + MINUTE_MS, since), fileOf(NOON - 9 * DAY_MS, since)];
  const found = (before: number) =>
    withStore((store) => {
      addFiles(store, files, { exportedAt: NOON, throughBatch: 1 });
      return files.findIndex(({ key }) => key === nextPartlyExpired(store, before)?.key);
    });
  expect(await found(NOON - 31 * DAY_MS)).toBe(-1);
  expect(await found(NOON - 8 * DAY_MS)).toBe(1);
  expect([1, 2]).toContain(await found(NOON - 10 * DAY_MS));
});

it('drops a file only when its last event is older than the retention', async () => {
  const dropped = (before: number) =>
    withStore((store) => {
      addFiles(store, [fileOf(NOON)], { exportedAt: NOON, throughBatch: 1 });
      return dropExpired(store, before);
    });
  expect(await dropped(NOON)).toBe(0);
  expect(await dropped(NOON + 1)).toBe(1);
});

/** The last batch of the next range of a log with batches of so many events and bytes each, appended at these times. */
const rangeOf = (batches: { count: number; bytes?: number; at: number }[]) =>
  withStore((store, storage) => {
    for (const [index, { count, bytes = 10, at }] of batches.entries()) {
      storage.sql.exec(
        `INSERT INTO log (batch, event_count, appended_at, received_at, first_event_id, last_event_id, keys, devices, events)
         VALUES (?, ?, ?, ?, '', '', x'', x'', ?)`,
        ...[index + 1, count, at, at, 'x'.repeat(bytes)],
      );
    }
    storage.sql.exec('UPDATE progress SET counted_batch = ?', batches.length);
    const hot = batches.reduce((sum, { count }) => sum + count, 0);
    return takeRange(store, hot, NOON);
  });

const OLD = NOON - 3_600_000;

it('exports what is old', async () => {
  expect(await rangeOf([{ count: 10, at: NOON }])).toBeNull();
  expect(
    await rangeOf([
      { count: 10, at: OLD },
      { count: 10, at: OLD },
      { count: 10, at: NOON },
    ]),
  ).toBe(2);
});

it('exports new events, too, beyond the newest 50,000', async () => {
  const batches = (count: number) => Array.from({ length: count }, () => ({ count: 10_000, at: NOON }));
  expect(await rangeOf(batches(5))).toBeNull();
  expect(await rangeOf(batches(7))).toBe(2);
});

it('exports no more at once than fits a file', async () => {
  const events = Array.from({ length: 8 }, () => ({ count: 10_000, at: OLD }));
  expect(await rangeOf(events)).toBe(5);
  const large = Array.from({ length: 40 }, () => ({ count: 10, at: OLD, bytes: 1_500_000 }));
  expect(await rangeOf(large)).toBe(21);
});

it('continues with the next file where two end with the same event, and after many that cannot match', async () => {
  const listed = (files: FileEntry[]) =>
    withStore((store) => {
      addFiles(store, files, { exportedAt: NOON, throughBatch: 1 });
      const page = listFiles(store, { type: 'install' }, { before: null, after: null });
      return { found: page.files.map(({ key }) => key).sort(), next: page.next };
    });
  const newer = Array.from({ length: 49 }, (_, index) => fileOf(NOON + index * MINUTE_MS));
  const last = fileOf(NOON - MINUTE_MS, { types: { install: 1 } });
  const twins = [last, { ...last, key: `${last.key.slice(0, -8)}-r1.parquet` }];
  expect(await listed([...newer, ...twins])).toEqual({
    found: twins.map(({ key }) => key).sort(),
    next: null,
  });
  const many = Array.from({ length: 2_001 }, (_, index) => fileOf(NOON + index * MINUTE_MS));
  expect(await listed(many)).toEqual({ found: [], next: fileOf(NOON).lastEventId });
});

it('confirms the range that it took, and only once', async () => {
  await withStore((store, storage) => {
    storage.sql.exec('UPDATE progress SET export_batch = 7, counted_batch = 9');
    confirmRange(store, { last: 5, through: 5 }, [fileOf(NOON)], NOON);
    expect(listFiles(store, {}, { before: null, after: null }).files).toEqual([]);
    confirmRange(store, { last: 7, through: 7 }, [fileOf(NOON)], NOON);
    expect(listFiles(store, {}, { before: null, after: null }).files).toHaveLength(1);
    expect(dropExpired(store, NOON + 1)).toBe(1);
    // As after a failure whose transaction was kept.
    confirmRange(store, { last: 7, through: 7 }, [fileOf(NOON)], NOON);
    expect(listFiles(store, {}, { before: null, after: null }).files).toEqual([]);
  });
});
