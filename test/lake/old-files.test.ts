import { describe, expect, it } from 'vitest';
import { type FileEntry, mergeFiles, readEvents, rewriteWithout, type StoredEvent } from '#lake';
import { showEvent } from '../../src/events/list-events.ts';
import { restoreRawFiles, type StoredFiles } from '../upgrade/raw-files.ts';
import { changeFile, type StoredColumn } from './change-file.ts';
import { MemoryIndex } from './memory-bucket.ts';
import { eventsIn } from './stream.ts';

// Files of earlier releases, and of releases whose schema has other columns. This file also runs with one more kind of event in the
// middle of the list of kinds: see `with-subscription.ts`.

const releases = import.meta.glob<string>('../upgrade/fixtures/*/raw-files.json', {
  query: '?raw',
  import: 'default',
  eager: true,
});

type Shown = StoredFiles['events'][number];

/** Newest first, in a form in which only the meaning of a field matters. A lone surrogate, which no report of a failure can have, is escaped. */
const comparable = (events: readonly Shown[]): Shown[] =>
  events
    .map((event): Shown => JSON.parse(JSON.stringify(event).replaceAll('\\u', '\\\\u')))
    .map(({ country, ...event }) => ({ ...event, ...(country ? { country: country.toLowerCase() } : {}) }))
    .sort((left, right) => (left.event_id < right.event_id ? 1 : -1));

const shown = (events: readonly StoredEvent[]) => comparable(events.map(showEvent) as Shown[]);

const [newest] = Object.values(releases);
if (newest === undefined) throw new Error('There are no files of a release');

describe.each(Object.entries(releases).map(([path, text]) => [path.split('/')[3], text] as const))(
  'the files of %s',
  (_, text) => {
    const stored: StoredFiles = JSON.parse(text);
    const expected = comparable(stored.events);

    it('are read as they were written', async () => {
      const { bucket, entries } = restoreRawFiles(stored);
      const page = await readEvents(bucket, entries, {}, { limit: 1_000, cursor: '' });
      expect(shown(page.events)).toEqual(expected);
      expect(shown(await eventsIn(bucket, entries))).toEqual(expected);
    });

    it('are searched by device', async () => {
      const { bucket, entries } = restoreRawFiles(stored);
      for (const deviceId of new Set(stored.events.flatMap(({ device_id }) => device_id ?? []))) {
        const page = await readEvents(bucket, entries, { deviceId }, { limit: 1_000, cursor: '' });
        expect(shown(page.events)).toEqual(expected.filter(({ device_id }) => device_id === deviceId));
      }
    });

    it('are merged with all of their events', async () => {
      const { bucket, entries } = restoreRawFiles(stored);
      const merged = await mergeFiles(bucket, new MemoryIndex(entries), entries);
      expect(shown(await eventsIn(bucket, merged ? [merged] : []))).toEqual(expected);
    });

    it('are rewritten without an erased device', async () => {
      const { bucket, entries } = restoreRawFiles(stored);
      const erased = stored.events.find(({ device_id }) => device_id)?.device_id ?? '';
      const index = new MemoryIndex(entries);
      for (const entry of entries) await rewriteWithout(bucket, index, entry, new Set([erased]));
      const kept = expected.filter(({ device_id }) => device_id !== erased);
      expect(kept.length).toBeLessThan(expected.length);
      expect(shown(await eventsIn(bucket, index.entries))).toEqual(kept);
    });
  },
);

describe('files of another schema', () => {
  const stored: StoredFiles = JSON.parse(newest);
  const expected = comparable(stored.events);

  async function changed(change: (columns: StoredColumn[]) => StoredColumn[]) {
    const { bucket, entries } = restoreRawFiles(stored);
    const others: FileEntry[] = [];
    for (const entry of entries) others.push(await changeFile(bucket, entry, change));
    return { bucket, entries: others };
  }

  it('lack columns, which then have no value', async () => {
    const missing = ['media_source', 'country', 'test', 'shard', 'warnings'];
    const { bucket, entries } = await changed((columns) =>
      columns.filter(({ element }) => !missing.includes(element.name)),
    );
    const without = expected.map((event) =>
      Object.fromEntries(Object.entries(event).filter(([field]) => !missing.includes(field))),
    );
    expect(shown(await eventsIn(bucket, entries))).toEqual(without);
    const page = { limit: 1_000, cursor: '' };
    // Its index entry was made from the same events.
    const ofNowhere = entries.map((entry) => ({ ...entry, values: { country: [''] } }));
    expect((await readEvents(bucket, ofNowhere, { segment: { country: ['us'] } }, page)).events).toEqual([]);
    expect(shown((await readEvents(bucket, ofNowhere, { segment: { country: [''] } }, page)).events)).toEqual(
      without,
    );
  });

  it('have more columns, which are ignored, and others in another order', async () => {
    const { bucket, entries } = await changed((columns) => [
      {
        element: { name: 'added', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
        cells: (columns[0]?.cells ?? []).map(() => 'text'),
      },
      ...columns.toReversed(),
    ]);
    expect(shown(await eventsIn(bucket, entries))).toEqual(expected);
    for (const deviceId of new Set(stored.events.flatMap(({ device_id }) => device_id ?? []))) {
      const page = await readEvents(bucket, entries, { deviceId }, { limit: 1_000, cursor: '' });
      expect(shown(page.events)).toEqual(expected.filter(({ device_id }) => device_id === deviceId));
    }
  });

  it.each([6, 9])('have amounts with %d decimal places, which keep their worth', async (scale) => {
    const { bucket, entries } = await changed((columns) =>
      columns.map(({ element, cells }) => {
        if (element.converted_type !== 'DECIMAL') return { element, cells };
        const move = scale - (element.scale ?? 0);
        const rescaled = cells.map((cell) =>
          typeof cell !== 'bigint'
            ? cell
            : move < 0
              ? cell / 10n ** BigInt(-move)
              : cell * 10n ** BigInt(move),
        );
        return { element: { ...element, scale }, cells: rescaled };
      }),
    );
    // What such files cannot have was never written to them.
    const kept = expected.map((event) => {
      const { value } = event as { value?: unknown };
      if (typeof value !== 'number' || scale >= 9) return event;
      return { ...event, value: Math.floor(Math.round(value * 1e9) / 10 ** (9 - scale)) / 10 ** scale };
    });
    expect(shown(await eventsIn(bucket, entries))).toEqual(kept);
    const merged = await mergeFiles(bucket, new MemoryIndex(entries), entries);
    expect(shown(await eventsIn(bucket, merged ? [merged] : []))).toEqual(kept);
  });
});
