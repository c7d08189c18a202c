import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { MAX_VALUE_BYTES } from '#db';
import { newId } from '#lib/ids';
import { BlockCache } from '../../src/rollup/block-cache.ts';
import { CREATIVE_BUCKETS, UNSEGMENTED, WHOLE_SEGMENT } from '../../src/rollup/breakdown.ts';
import {
  type BlockPlace,
  MIN_MERGED_PARTS,
  mergeBlocks,
  placesToMerge,
  replaceBlocks,
} from '../../src/rollup/merge-blocks.ts';
import type { OpenBlock } from '../../src/rollup/open-block.ts';
import { readBlockPages } from '../../src/rollup/read-blocks.ts';
import { Additions } from '../../src/rollup/tables.ts';
import { addRun } from '../helpers/add-run.ts';
import { entriesOf } from '../helpers/blocks.ts';

/** The buckets that tell creatives apart. */
const OF_CREATIVES = Array.from({ length: CREATIVE_BUCKETS }, (_, index) => index + 1);

const PLACE: BlockPlace = { rollup: 'rollup_daily', bucket: 0, fromDay: '2026-03-01' };

/** A counter that added as many blocks as its runs. */
async function withRuns(runs: number, shard = 0) {
  const owner = { applicationId: newId('app'), shard };
  for (let sequence = 1; sequence <= runs; sequence++) {
    const additions = new Additions('rollup_daily');
    for (const creative_id of ['', 'crt_1', 'crt_2']) {
      const key = { application_id: owner.applicationId, day: '2026-03-01', creative_id, currency: 'usd' };
      additions.add(key, 7, { impressions: 1, ad_revenue: 2 ** 53 - 1 });
      additions.add(key, 8 + sequence, { impressions: 2, purchase_revenue: 5 });
    }
    await addRun(env.DB, { ...owner, sequence }, additions);
  }
  return owner;
}

/** By segment, the impressions and nanos of all blocks; and how many blocks there are. */
async function read(applicationId: string, buckets: number[]) {
  const sums = new Map<number, { impressions: number; nanos: bigint }>();
  let blocks = 0;
  const query = {
    applicationId,
    rollup: 'rollup_daily' as const,
    buckets,
    from: '2026-03-01',
    to: '2026-03-01',
  };
  // Without a cache, which would add the blocks of a day up.
  for await (const page of readBlockPages(env.DB, query, { maxBytes: 4_000_000, cache: new BlockCache(0) })) {
    for (const block of page) {
      blocks++;
      for (const { segment, sums: own } of entriesOf(block)) {
        const known = sums.get(segment) ?? { impressions: 0, nanos: 0n };
        const [, , , , , , , , impressions = 0, low = 0, high = 0, , , bought = 0] = own;
        sums.set(segment, {
          impressions: known.impressions + impressions,
          nanos: known.nanos + BigInt(high) * 10n ** 12n + BigInt(low) + BigInt(bought),
        });
      }
    }
  }
  return { blocks, sums };
}

it('merges the blocks of many runs into one that holds the same, exactly', async () => {
  const owner = await withRuns(MIN_MERGED_PARTS);
  const places = [PLACE, { ...PLACE, bucket: 5 }, { ...PLACE, fromDay: '2026-03-02' }];
  expect(await placesToMerge(env.DB, owner, places)).toContainEqual(PLACE);
  const before = await read(owner.applicationId, [0]);
  expect(before.blocks).toBe(MIN_MERGED_PARTS);
  expect(before.sums.get(7)).toEqual({
    impressions: 3 * MIN_MERGED_PARTS,
    nanos: 3n * BigInt(MIN_MERGED_PARTS) * BigInt(2 ** 53 - 1),
  });
  const merged = await mergeBlocks(env.DB, owner, PLACE);
  const statements = () => replaceBlocks(env.DB, { ...owner, sequence: 100 }, merged);
  await env.DB.batch(statements());
  expect(await read(owner.applicationId, [0])).toEqual({ blocks: 1, sums: before.sums });
  expect(await placesToMerge(env.DB, owner, [PLACE])).toEqual([]);
  // The creatives' own blocks are others.
  expect((await read(owner.applicationId, OF_CREATIVES)).sums).toEqual(before.sums);
});

it('has every creative in a bucket of its own without segments, before and after a merge', async () => {
  const owner = await withRuns(MIN_MERGED_PARTS);
  const place = { ...PLACE, bucket: UNSEGMENTED };
  const whole = {
    impressions: 9 * MIN_MERGED_PARTS,
    nanos: 3n * BigInt(MIN_MERGED_PARTS) * BigInt(2 ** 53 - 1 + 5),
  };
  const sums = new Map([[WHOLE_SEGMENT, whole]]);
  expect(await read(owner.applicationId, [UNSEGMENTED])).toEqual({ blocks: MIN_MERGED_PARTS, sums });
  expect(await placesToMerge(env.DB, owner, [place])).toEqual([place]);
  const merged = await mergeBlocks(env.DB, owner, place);
  await env.DB.batch(replaceBlocks(env.DB, { ...owner, sequence: 100 }, merged));
  expect(await read(owner.applicationId, [UNSEGMENTED])).toEqual({ blocks: 1, sums });
});

/** Adds a part with an install of each of these creatives, in blocks of several rows. */
async function addPart(applicationId: string, sequence: number, creatives: readonly string[]): Promise<void> {
  const additions = new Additions('rollup_daily');
  for (const creative_id of creatives) {
    const key = { application_id: applicationId, day: PLACE.fromDay, creative_id, currency: '' };
    additions.add(key, 7, { installs: 1 });
  }
  await addRun(env.DB, { applicationId, shard: 0, sequence }, additions);
}

const newCreatives = (count: number) => Array.from({ length: count }, () => newId('crt'));

/** Merges a place for as long as it has enough parts. */
async function mergeAll(owner: { applicationId: string; shard: number }, place: BlockPlace, from: number) {
  for (let sequence = from; (await placesToMerge(env.DB, owner, [place])).length > 0; sequence++) {
    const merged = await mergeBlocks(env.DB, owner, place);
    expect(merged.replaced.length).toBeGreaterThan(1);
    expect(JSON.stringify(merged).length).toBeLessThan(1_500_000);
    await env.DB.batch(replaceBlocks(env.DB, { ...owner, sequence }, merged));
  }
}

/** The rows of a place, how many parts they are of, and their bytes. */
const sizeOf = async (applicationId: string, bucket: number) =>
  env.DB.prepare(
    `SELECT count(*) AS rows, count(DISTINCT sequence) AS parts, sum(bytes) AS bytes, max(bytes) AS largest
      FROM segment_blocks WHERE application_id = ? AND bucket = ?`,
  )
    .bind(applicationId, bucket)
    .first<{ rows: number; parts: number; bytes: number; largest: number }>();

const UNSEGMENTED_PLACE = { ...PLACE, bucket: UNSEGMENTED };

it('merges large parts too, as many as fit into memory and one value of the database', async () => {
  const owner = { applicationId: newId('app'), shard: 0 };
  for (let sequence = 1; sequence <= MIN_MERGED_PARTS; sequence++) {
    await addPart(owner.applicationId, sequence, newCreatives(5_000));
  }
  const before = await read(owner.applicationId, [UNSEGMENTED]);
  await mergeAll(owner, UNSEGMENTED_PLACE, 100);
  expect((await read(owner.applicationId, [UNSEGMENTED])).sums).toEqual(before.sums);
  const after = await sizeOf(owner.applicationId, UNSEGMENTED);
  expect(after?.parts).toBeLessThan(MIN_MERGED_PARTS);
  expect(after?.rows).toBeLessThanOrEqual(before.blocks);
});

it('adds up the sums of the same creatives again and again, although they take several rows', async () => {
  const creatives = newCreatives(3_000);
  const whole = newId('app');
  await addPart(whole, 1, creatives);
  const one = await sizeOf(whole, UNSEGMENTED);
  expect(one?.rows).toBeGreaterThan(1);
  const owner = { applicationId: newId('app'), shard: 0 };
  for (let sequence = 1; sequence < 2 * MIN_MERGED_PARTS; sequence++) {
    const from = 1_000 * (sequence % 3);
    await addPart(owner.applicationId, sequence, creatives.slice(from, from + 1_000));
    await mergeAll(owner, UNSEGMENTED_PLACE, 1_000 * sequence);
  }
  const merged = await sizeOf(owner.applicationId, UNSEGMENTED);
  expect(merged).toMatchObject({ parts: 1, rows: one?.rows });
  expect(merged?.bytes).toBeLessThan(1.1 * (one?.bytes ?? 0));
  expect(merged?.largest).toBeLessThan(MAX_VALUE_BYTES);
});

it('does not merge a few blocks, or those of other shards', async () => {
  const owner = await withRuns(MIN_MERGED_PARTS - 1);
  expect(await placesToMerge(env.DB, owner, [PLACE])).toEqual([]);
  const other = await withRuns(MIN_MERGED_PARTS, 1);
  expect(await placesToMerge(env.DB, { ...other, shard: 0 }, [PLACE])).toEqual([]);
  expect((await mergeBlocks(env.DB, { ...other, shard: 0 }, PLACE)).replaced).toEqual([]);
});

it('replaces nothing if one of the blocks is missing', async () => {
  const owner = await withRuns(MIN_MERGED_PARTS);
  const merged = await mergeBlocks(env.DB, owner, PLACE);
  await env.DB.prepare('DELETE FROM segment_blocks WHERE application_id = ? AND bucket = 0 AND sequence = 3')
    .bind(owner.applicationId)
    .run();
  const before = await read(owner.applicationId, [0]);
  await env.DB.batch(replaceBlocks(env.DB, { ...owner, sequence: 100 }, merged));
  expect(await read(owner.applicationId, [0])).toEqual(before);
});

it('keeps blocks that were added after the merged ones were read', async () => {
  const owner = await withRuns(MIN_MERGED_PARTS);
  const merged = await mergeBlocks(env.DB, owner, PLACE);
  const late = new Additions('rollup_daily');
  const key = { application_id: owner.applicationId, day: '2026-03-01', creative_id: '', currency: 'usd' };
  late.add(key, 7, { impressions: 1_000 });
  await addRun(env.DB, { ...owner, sequence: 99 }, late);
  const before = await read(owner.applicationId, [0]);
  await env.DB.batch(replaceBlocks(env.DB, { ...owner, sequence: 100 }, merged));
  expect(await read(owner.applicationId, [0])).toEqual({ blocks: 2, sums: before.sums });
});

it('reads each block once, latest first, in pages of bounded size', async () => {
  const applicationId = newId('app');
  for (let day = 1; day <= 9; day++) {
    const additions = new Additions('rollup_daily');
    for (let creative = 0; creative < 40; creative++) {
      const key = {
        application_id: applicationId,
        day: `2026-03-0${day}`,
        creative_id: `crt_${creative}`,
        currency: '',
      };
      for (let segment = 0; segment < 20; segment++) additions.add(key, segment, { installs: 1 });
    }
    await addRun(env.DB, { applicationId, shard: 0, sequence: day }, additions);
  }
  const query = {
    applicationId,
    rollup: 'rollup_daily' as const,
    buckets: OF_CREATIVES,
    from: '2026-03-02',
    to: '2026-03-08',
  };
  const pagesOf = async (maxBytes: number) => {
    const pages: (readonly OpenBlock[])[] = [];
    const cache = new BlockCache(0);
    for await (const page of readBlockPages(env.DB, query, { maxBytes, cache })) pages.push([...page]);
    return pages;
  };
  const bytesOf = (page: readonly OpenBlock[]) => page.reduce((size, { bytes }) => size + bytes, 0);
  const daysOf = (page: readonly OpenBlock[]) => page.flatMap(({ keys }) => keys[0] ?? []);
  const namesOf = (page: readonly OpenBlock[]) => page.map(({ keys }) => JSON.stringify(keys)).sort();
  const [all = [], ...none] = await pagesOf(1_000_000);
  expect(none).toEqual([]);
  expect(new Set(daysOf(all)).size).toBe(7);
  const day = bytesOf(all) / 7;
  for (const [maxBytes, count] of [
    [day * 2.5, 4],
    [day * 1.1, 7],
    [day / 2, 7 * CREATIVE_BUCKETS],
  ] as const) {
    const pages = await pagesOf(maxBytes);
    expect(pages).toHaveLength(count);
    for (const page of pages) expect(bytesOf(page)).toBeLessThanOrEqual(maxBytes);
    expect(namesOf(pages.flat())).toEqual(namesOf(all));
    const days = pages.flatMap(daysOf);
    expect(days).toEqual([...days].sort().reverse());
  }
});
