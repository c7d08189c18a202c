import { expect, it } from 'vitest';
import { deviceIdIn } from '#catalogue';
import { readEvents, rewriteWithout } from '#lake';
import { MemoryIndex } from './memory-bucket.ts';
import { write } from './write.ts';

// Files of tens of thousands of events.

it('ends a file after 50,000 events', async () => {
  const { entries } = await write({ events: 50_001, devices: 100 });
  expect(entries.map(({ rows }) => rows)).toEqual([50_000, 1]);
});

it('reads only the footer and one row group for one device', async () => {
  const { bucket, entries, events } = await write();
  const device = events.find((event) => 'device_id' in event);
  const deviceId = device ? deviceIdIn(device) : '';
  const whole = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  bucket.bytesRead = 0;
  const page = await readEvents(bucket, entries, { deviceId }, { limit: 100, cursor: '' });
  expect(page.events.length).toBeGreaterThan(0);
  // Of three row groups one, and of that the columns that decide twice.
  expect(bucket.bytesRead).toBeLessThan(0.65 * whole);
});

it('reads a bounded number of rows per page, and reaches the end', async () => {
  const { bucket, entries } = await write({ events: 40_000, devices: 30 });
  const [entry] = entries;
  const bytes = entry && bucket.objects.get(entry.key);
  if (!entry || !bytes) throw new Error('no file');
  // The same file once more for each of seven hours.
  const hours = Array.from({ length: 7 }, (_, hour) => {
    const [firstEventId, lastEventId] = [`evt_${hour}0${'0'.repeat(30)}`, `evt_${hour}f${'f'.repeat(30)}`];
    bucket.objects.set(`hour-${hour}`, bytes);
    return { ...entry, key: `hour-${hour}`, firstEventId, lastEventId };
  });
  const filter = { eventName: 'never' };
  const first = await readEvents(bucket, hours, filter, { limit: 50, cursor: '' });
  expect(first).toEqual({ events: [], next_cursor: `evt_2${'0'.repeat(31)}` });
  const second = await readEvents(bucket, hours, filter, { limit: 50, cursor: first.next_cursor ?? '' });
  expect(second).toEqual({ events: [], next_cursor: null });
});

it('lets other requests run while it writes and rewrites a file', async () => {
  let turns = 0;
  let isBusy = true;
  const others = (async () => {
    for (; isBusy; turns++) await new Promise((resolve) => setTimeout(resolve, 0));
  })();
  const { bucket, entries, events } = await write({ events: 20_000 });
  // One after each 500 events, and several in each of three row groups.
  expect(turns).toBeGreaterThan(40 + 3 * 2);
  turns = 0;
  const [entry] = entries;
  if (!entry) throw new Error('no file was written');
  await rewriteWithout(bucket, new MemoryIndex(entries), entry, new Set([events[0]?.id ?? '']));
  expect(turns).toBeGreaterThan(3 * 3);
  isBusy = false;
  await others;
});
