import { env } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { deviceIdIn } from '#catalogue';
import { readEvents, rewriteWithout, writeFiles } from '#lake';
import { MemoryIndex } from './memory-bucket.ts';
import { APPLICATION_ID, makeSlices } from './workload.ts';

it('writes, reads and rewrites files in the bucket of a deployment', async () => {
  const events = [...makeSlices({ events: 400, devices: 20 })].flat();
  const bucket = env.RAW_EVENTS;
  const index = new MemoryIndex(
    await writeFiles(bucket, { applicationId: APPLICATION_ID, shard: 0 }, [events]),
  );
  const page = { limit: 1_000, cursor: '' };
  const whole = await readEvents(bucket, index.entries, {}, page);
  expect(whole.events.map(({ id }) => id)).toEqual(events.map(({ id }) => id).reverse());

  const [entry] = index.entries;
  const first = events.find((event) => 'device_id' in event);
  const deviceId = first ? deviceIdIn(first) : '';
  if (!entry) throw new Error('no entry');
  const { removed } = await rewriteWithout(bucket, index, entry, new Set([deviceId]));
  expect(removed).toBeGreaterThan(0);
  const rest = await readEvents(bucket, index.entries, {}, page);
  expect(rest.events).toHaveLength(events.length - removed);
  expect((await readEvents(bucket, index.entries, { deviceId }, page)).events).toEqual([]);
});
