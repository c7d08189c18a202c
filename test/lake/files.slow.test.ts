import { beforeAll, describe, expect, it } from 'vitest';
import { deviceIdIn, type LoggedEvent } from '#catalogue';
import {
  type EventFilter,
  type FileEntry,
  MissingFileError,
  readEvents,
  type StoredEvent,
  writeFiles,
} from '#lake';
import { kept } from './kept.ts';
import { MemoryBucket } from './memory-bucket.ts';
import { eventsIn } from './stream.ts';
import { APPLICATION_ID, makeSlices } from './workload.ts';
import { SOURCE, STARTS_AT, write } from './write.ts';

const newestFirst = (events: readonly LoggedEvent[]) =>
  [...events].sort((left, right) => (left.id < right.id ? 1 : -1));

/** Follows the cursors to the end. */
async function readPages(
  bucket: MemoryBucket,
  entries: FileEntry[],
  filter: object,
  limit: number,
  maxRows?: number,
) {
  const events: LoggedEvent[] = [];
  for (let cursor = '', pages = 0; ; pages++) {
    const page = await readEvents(bucket, entries, filter, { limit, cursor }, maxRows);
    expect(page.events.length).toBeLessThanOrEqual(limit);
    events.push(...page.events);
    if (page.next_cursor === null) return { events, pages };
    if (cursor !== '') expect(page.next_cursor < cursor).toBe(true);
    cursor = page.next_cursor;
  }
}

it('gives way after each row group that it scans', async () => {
  const { bucket, entries, events } = await write({ events: 30_000, devices: 100 });
  let turns = 0;
  const giveWay = async () => {
    turns++;
  };
  const page = await readEvents(
    bucket,
    entries,
    { eventName: 'nothing' },
    { limit: 10, cursor: '', giveWay },
  );
  expect(page.events).toEqual([]);
  expect(turns).toBeGreaterThanOrEqual(entries.length);
  expect(events.length / turns).toBeLessThanOrEqual(8_192);
});

it('describes a file in its index entry', async () => {
  const { bucket, entries, events } = await write({ events: 1_000, devices: 100 });
  const [first, last] = [events[0], events.at(-1)];
  expect(entries).toEqual([
    {
      ...SOURCE,
      key: `events/application=${APPLICATION_ID}/day=2026-03-10/${first?.id}.parquet`,
      revision: 0,
      rows: 1_000,
      bytes: bucket.objects.get(entries[0]?.key ?? '')?.length,
      footerBytes: expect.any(Number),
      firstReceivedAt: first?.received_at,
      lastReceivedAt: last?.received_at,
      firstDay: '2026-03-10',
      lastDay: '2026-03-10',
      firstEventId: first?.id,
      lastEventId: last?.id,
      types: countTypes(events),
      values: {
        country: valuesOf(events, 'country'),
        os: valuesOf(events, 'os_family'),
        network: valuesOf(events, 'network'),
      },
      deviceFilter: expect.any(Uint8Array),
      replaces: [],
    },
  ]);
  expect(entries[0]?.values?.country).toHaveLength(20);
  expect(entries[0]?.deviceFilter.length).toBe(100);
});

const valuesOf = (events: readonly StoredEvent[], field: 'country' | 'os_family' | 'network') =>
  [...new Set(events.map((event) => event[field] ?? ''))].sort();

/** What an event tells of a dimension; empty text if it does not. */
function toldBy(event: StoredEvent, name: string): string {
  const device: Record<string, string> = ('device' in event && event.device) || {};
  const told: Record<string, string | undefined> = {
    country: event.country,
    os: event.os_family,
    network: event.network,
    app_version: device.app_version,
    sdk_version: device.sdk_version,
  };
  return told[name] ?? '';
}

function countTypes(events: readonly LoggedEvent[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { type } of events) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}

it('writes the same objects when repeated', async () => {
  const { bucket, events } = await write({ events: 1_000, devices: 100 });
  const before = new Map(bucket.objects);
  await writeFiles(bucket, SOURCE, [events.slice(0, 700), events.slice(700)]);
  expect(bucket.objects).toEqual(before);
});

it('puts the events of each day into its folder, whenever they were received', async () => {
  const { events } = await write({ events: 2_000 });
  const late = events.map((event, index) => ({ ...event, day: `2025-01-${10 + (index % 20)}` }));
  const bucket = new MemoryBucket();
  const entries = await writeFiles(bucket, SOURCE, [late.slice(0, 700), late.slice(700)]);
  const days = Array.from({ length: 20 }, (_, day) => `2025-01-${10 + day}`);
  expect(entries.map(({ firstDay }) => firstDay).sort()).toEqual(days);
  for (const entry of entries) {
    const own = late.filter(({ day }) => day === entry.firstDay);
    expect(entry).toMatchObject({
      key: `events/application=${APPLICATION_ID}/day=${entry.firstDay}/${own[0]?.id}.parquet`,
      rows: own.length,
      lastDay: entry.firstDay,
      firstReceivedAt: own[0]?.received_at,
      lastReceivedAt: own.at(-1)?.received_at,
      types: countTypes(own),
    });
    expect((await readPages(bucket, [entry], {}, 500)).events).toEqual(
      newestFirst(own).map((event) => kept(event, SOURCE.shard)),
    );
  }
  expect([...bucket.objects.keys()].sort()).toEqual(entries.map(({ key }) => key).sort());
});

it('has one folder for days that are not in the calendar', async () => {
  const { events } = await write({ events: 3 });
  const odd = events.map((event, index) => ({ ...event, day: `2026-02-3${index}` }));
  const bucket = new MemoryBucket();
  const entries = await writeFiles(bucket, SOURCE, [odd]);
  expect(entries).toMatchObject([{ rows: 3, firstDay: '2026-02-30', lastDay: '2026-02-32' }]);
  expect(entries[0]?.key).toContain('/day=__HIVE_DEFAULT_PARTITION__/');
  expect((await readPages(bucket, entries, { from: '2026-02-32' }, 5)).events).toHaveLength(1);
});

it('reads no further once it has enough files', async () => {
  const { events } = await write({ events: 100 });
  const days = (from: number) =>
    events.slice(0, 10).map((event, index) => ({
      ...event,
      id: `evt_${(from + index).toString(16).padStart(32, '0')}`,
      day: `2025-01-${10 + from + index}`,
    }));
  let read = 0;
  function* slices() {
    for (const from of [0, 10, 20]) {
      read++;
      yield days(from);
    }
  }
  expect(await writeFiles(new MemoryBucket(), SOURCE, slices(), { maxFiles: 15 })).toHaveLength(20);
  expect(read).toBe(2);
});

it('puts fewer events into a file if they are large', async () => {
  const text = 'x'.repeat(5_900);
  const { events } = await write({ events: 6_000, devices: 50 });
  const large = events.map((event, index) => ({
    ...event,
    warnings: [{ path: String(index), message: text }],
  }));
  const entries = await writeFiles(new MemoryBucket(), SOURCE, [large as LoggedEvent[]]);
  expect(entries.length).toBeGreaterThan(1);
  expect(entries.reduce((sum, { rows }) => sum + rows, 0)).toBe(6_000);
  for (const { rows } of entries) expect(rows).toBeLessThan(3_000);
});

describe('finds the events of', () => {
  let history: Awaited<ReturnType<typeof write>>;
  beforeAll(async () => {
    history = await write({ events: 3_000, devices: 60, startsAt: Date.UTC(2026, 2, 10, 23, 30) });
  });

  it.each<[string, (event: LoggedEvent) => object]>([
    ['nothing', () => ({})],
    ['a type', () => ({ type: 'custom.purchase' })],
    ['an event name', () => ({ eventName: 'level_3' })],
    ['a device', (event) => ({ deviceId: deviceIdIn(event) })],
    ['a creative', (event) => ({ creativeIds: [event.creative_id ?? ''] })],
    ['the paid devices', () => ({ attribution: 'paid' })],
    ['the organic devices', () => ({ attribution: 'organic' })],
    ['a version of the app', () => ({ segment: { app_version: ['1.2.0'] } })],
    ['no version of the app', () => ({ segment: { app_version: [''] } })],
    ['a country', () => ({ segment: { country: ['fr'] } })],
    ['no country', () => ({ segment: { country: [''] } })],
    ['one of two countries, one of them unknown', () => ({ segment: { country: ['fr', ''] } })],
    ['an OS', () => ({ segment: { os: ['ios'] } })],
    ['no OS', () => ({ segment: { os: [''] } })],
    ['a network', () => ({ segment: { network: ['meta'] } })],
    ['no network and a version of the SDK', () => ({ segment: { network: [''], sdk_version: ['2.3.1'] } })],
    ['an event', (event) => ({ eventId: event.id })],
    ['a day', () => ({ from: '2026-03-11', to: '2026-03-11' })],
    ['a day without events', () => ({ from: '2026-03-12' })],
    ['a device and a type', (event) => ({ type: 'custom.ad', deviceId: deviceIdIn(event) })],
  ])('%s newest first, page by page', async (_, filterFor) => {
    const { bucket, entries, events } = history;
    const sample = events.find(({ creative_id }) => creative_id !== null);
    if (!sample) throw new Error('no sample');
    const filter = filterFor(sample) as EventFilter;
    const wanted = newestFirst(events)
      .filter(
        (event: StoredEvent) =>
          (!filter.type || event.type === filter.type) &&
          (!filter.eventName || ('event_name' in event && event.event_name === filter.eventName)) &&
          (!filter.deviceId || deviceIdIn(event) === filter.deviceId) &&
          (!filter.creativeIds || event.creative_id === filter.creativeIds[0]) &&
          (!filter.attribution || (event.creative_id === null) === (filter.attribution === 'organic')) &&
          Object.entries(filter.segment ?? {}).every(([name, values]) =>
            values?.includes(toldBy(event, name)),
          ) &&
          (!filter.eventId || event.id === filter.eventId) &&
          (!filter.from || event.day >= filter.from),
      )
      .map((event) => kept(event, SOURCE.shard));
    expect((await readPages(bucket, entries, filter, 500)).events).toEqual(wanted);
  });
});

it('streams the events of a device in the order in which they happened', async () => {
  const { events } = await write({ events: 300, devices: 5 });
  const bucket = new MemoryBucket();
  // They are received in another order.
  const late = events.map((event, index) => ({ ...event, occurred_at: STARTS_AT - ((index * 37) % 300) }));
  const entries = await writeFiles(bucket, SOURCE, [late]);
  const streamed = await eventsIn(bucket, entries);
  const deviceOf = (event: StoredEvent) => deviceIdIn(event);
  const sorted = [...streamed].sort(
    (left, right) => deviceOf(left).localeCompare(deviceOf(right)) || left.occurred_at - right.occurred_at,
  );
  expect(streamed.map(({ id }) => id)).toEqual(sorted.map(({ id }) => id));
});

it('opens no file that its index entry rules out', async () => {
  const { bucket, entries } = await write({ events: 500, devices: 50 });
  bucket.reads = 0;
  for (const filter of [
    { from: '2026-03-11' },
    { to: '2026-03-09' },
    { type: 'install' as const },
    { deviceId: 'dev_of_nobody' },
    { segment: { country: ['cl', 'ar'] } },
    { segment: { os: ['', 'linux'] } },
    { eventId: `evt_${'0'.repeat(32)}` },
  ]) {
    expect(await readEvents(bucket, entries, filter, { limit: 10, cursor: '' })).toEqual({
      events: [],
      next_cursor: null,
    });
  }
  expect(bucket.reads).toBe(0);
});

describe('files of parallel counters', () => {
  const SHARDS = 3;
  const HOURS = 3;
  const ROWS = 100;

  /** Each counter has a file per part of the hour, of about the same time as the other counters' files. */
  async function writeParallel() {
    const bucket = new MemoryBucket();
    const entries: FileEntry[] = [];
    const events: StoredEvent[] = [];
    for (let shard = 0; shard < SHARDS; shard++) {
      const own = [...makeSlices({ events: HOURS * ROWS, devices: 50, seed: shard + 1 })].flat();
      for (let hour = 0; hour < HOURS; hour++) {
        const part = own.slice(hour * ROWS, (hour + 1) * ROWS);
        entries.push(...(await writeFiles(bucket, { ...SOURCE, shard }, [part])));
      }
      events.push(...own.map((event) => kept(event, shard)));
    }
    return { bucket, entries, events: newestFirst(events) };
  }

  it.each([undefined, 1, 250])('are merged in one order, %s rows a page', async (maxRows) => {
    const { bucket, entries, events } = await writeParallel();
    const purchases = events.filter(({ type }) => type === 'custom.purchase');
    const found = await readPages(bucket, entries, { type: 'custom.purchase' }, 3, maxRows);
    expect(found.events).toEqual(purchases);
    expect((await readPages(bucket, entries, {}, 70, maxRows)).events).toEqual(events);
  });

  it('are read a bounded number of rows at a time', async () => {
    const { bucket, entries } = await writeParallel();
    const pagesOf = async (maxRows: number) =>
      (await readPages(bucket, entries, { eventName: 'never' }, 10, maxRows)).pages;
    expect(await pagesOf(SHARDS * HOURS * ROWS + 1)).toBe(0);
    // A page ends between two files, and where the next one begins before the last, it reads that again.
    expect(await pagesOf(3 * ROWS)).toBeGreaterThanOrEqual(2);
  });
});

it('says which file is missing', async () => {
  const { bucket, entries } = await write({ events: 500, devices: 50 });
  bucket.objects.clear();
  await expect(readEvents(bucket, entries, {}, { limit: 10, cursor: '' })).rejects.toThrow(
    new MissingFileError(entries[0]?.key ?? ''),
  );
});
