import { env } from 'cloudflare:workers';
import { and, eq } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { database, segmentBlocks } from '#db';
import { newId } from '#lib/ids';
import { BlockCache } from '../../src/rollup/block-cache.ts';
import { ALL_CREATIVES } from '../../src/rollup/breakdown.ts';
import { readBlockPages } from '../../src/rollup/read-blocks.ts';
import { entriesOf } from '../helpers/blocks.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { addFigures } from '../helpers/figures.ts';

const block = (bytes: number) => ({ bytes, keys: [], segments: [], read: () => undefined });

it('drops what was unused for longest', () => {
  const cache = new BlockCache(40);
  for (const key of ['a', 'b', 'c', 'd']) cache.set(key, block(10));
  expect(cache.get('a')).toMatchObject({ bytes: 10 });
  cache.set('e', block(5));
  expect(['a', 'b', 'c', 'd', 'e'].filter((key) => cache.get(key))).toEqual(['a', 'c', 'd', 'e']);
  cache.set('e', block(9));
  cache.set('f', block(2));
  expect(['a', 'c', 'd', 'e', 'f'].filter((key) => cache.get(key))).toEqual(['c', 'd', 'e', 'f']);
});

it('does not keep what would displace most of the rest', () => {
  const cache = new BlockCache(40);
  cache.set('a', block(10));
  cache.set('b', block(11));
  expect(cache.get('a')).toMatchObject({ bytes: 10 });
  expect(cache.get('b')).toBeUndefined();
});

it('reads the blocks of a day again only if they were added to or replaced', async () => {
  const applicationId = newId('app');
  const add = (day: string, installs: number) =>
    addFigures(env.DB, applicationId, 'rollup_daily', [{ day, installs }]);
  const db = new WatchedD1(env.DB);
  const read = async () => {
    db.log.length = 0;
    const query = {
      rollup: 'rollup_daily' as const,
      buckets: [ALL_CREATIVES],
      from: '2026-03-01',
      to: '2026-03-09',
    };
    const blocks: { day: string; installs: number }[] = [];
    for await (const page of readBlockPages(db.asBinding(), { applicationId, ...query })) {
      for (const block of page) {
        const installs = entriesOf(block).map(({ sums }) => sums[1] ?? 0);
        blocks.push(...installs.map((own) => ({ day: block.keys[0]?.[0] ?? '', installs: own })));
      }
    }
    return { blocks, reads: db.log.filter((sql) => /"data"/.test(sql)).length };
  };
  for (const day of ['2026-03-01', '2026-03-02', '2026-03-03']) await add(day, 1);
  const first = await read();
  expect([first.blocks.length, first.reads]).toEqual([3, 1]);
  expect(await read()).toEqual({ blocks: first.blocks, reads: 0 });
  await add('2026-03-02', 5);
  const second = await read();
  expect(second.reads).toBe(1);
  const isOther = ({ day }: { day: string }) => day !== '2026-03-02';
  expect(second.blocks).toHaveLength(3);
  expect(second.blocks).toEqual(
    expect.arrayContaining([...first.blocks.filter(isOther), { day: '2026-03-02', installs: 6 }]),
  );
  expect(await read()).toEqual({ blocks: second.blocks, reads: 0 });
  await database(env.DB)
    .delete(segmentBlocks)
    .where(and(eq(segmentBlocks.applicationId, applicationId), eq(segmentBlocks.fromDay, '2026-03-01')));
  await add('2026-03-01', 9);
  const third = await read();
  expect(third.reads).toBe(1);
  expect(third.blocks).toEqual(
    second.blocks.map((own) => (own.day === '2026-03-01' ? { ...own, installs: 9 } : own)),
  );
});

it('keeps nothing of a scan whose blocks do not fit all at once', async () => {
  const applicationId = newId('app');
  const days = ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04', '2026-03-05'];
  for (const day of days) await addFigures(env.DB, applicationId, 'rollup_daily', [{ day, installs: 1 }]);
  const db = new WatchedD1(env.DB);
  const query = { applicationId, rollup: 'rollup_daily' as const, buckets: [ALL_CREATIVES] };
  const [row] = await database(env.DB)
    .select({ bytes: segmentBlocks.bytes })
    .from(segmentBlocks)
    .where(and(eq(segmentBlocks.applicationId, applicationId), eq(segmentBlocks.bucket, ALL_CREATIVES)));
  // With room for four of the five days' blocks, and each day small enough to be kept.
  const cache = new BlockCache((row?.bytes ?? 0) * 4.5);
  const readsOf = async (from: string) => {
    db.log.length = 0;
    const bounds = { maxBytes: 1_000_000, cache };
    for await (const page of readBlockPages(db.asBinding(), { ...query, from, to: '2026-03-05' }, bounds)) {
      expect([...page].length).toBeGreaterThan(0);
    }
    return db.log.filter((text) => /"data"/.test(text)).length;
  };
  expect([await readsOf('2026-03-01'), await readsOf('2026-03-01')]).toEqual([1, 1]);
  expect([await readsOf('2026-03-05'), await readsOf('2026-03-05')]).toEqual([1, 0]);
});
