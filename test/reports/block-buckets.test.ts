import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { type RollupTable, segmentId, UNKNOWN_SEGMENT } from '#catalogue';
import { adsets, campaigns, database } from '#db';
import { newId } from '#lib/ids';
import { bucketOf, CREATIVE_BUCKETS } from '#rollup';
import { scanBlocks } from '../../src/reports/block-scan.ts';
import { valuesIn } from '../../src/reports/chunk.ts';
import { Additions } from '../../src/rollup/tables.ts';
import { addRun } from '../helpers/add-run.ts';

const DAY = '2026-03-02';

const PER_BUCKET = 4;

/** Ids of creatives, as many in each bucket, so that every bucket has as many bytes. */
function evenCreatives(): string[] {
  const buckets = new Map<number, string[]>();
  while ([...buckets.values()].flat().length < PER_BUCKET * CREATIVE_BUCKETS) {
    const id = newId('crt');
    const own = buckets.get(bucketOf(id)) ?? [];
    if (own.length < PER_BUCKET) buckets.set(bucketOf(id), [...own, id]);
  }
  return [...buckets.values()].flat();
}

/** An application with 64 creatives, each with 3 installs in each of so many countries. */
async function history(countries: number) {
  const applicationId = newId('app');
  const additions = new Additions<RollupTable>('rollup_daily');
  const creatives = evenCreatives();
  for (const creative_id of creatives) {
    for (let country = 0; country < countries; country++) {
      const segment = segmentId({ ...UNKNOWN_SEGMENT, country: `c${country}` });
      const key = { application_id: applicationId, day: DAY, creative_id, currency: '' };
      additions.add(key as Record<string, string>, segment, { installs: 3 });
    }
  }
  const db = database(env.DB);
  const own = { applicationId, name: 'A', createdAt: 0 };
  await db.insert(campaigns).values({ ...own, id: applicationId });
  await db.insert(adsets).values({ ...own, id: applicationId, campaignId: applicationId });
  await env.DB.prepare(
    `INSERT INTO creatives (application_id, id, adset_id, name, token, created_at)
     SELECT ?1, value, ?1, value, value, 0 FROM json_each(?2)`,
  )
    .bind(applicationId, JSON.stringify(creatives))
    .run();
  await addRun(env.DB, { applicationId, shard: 10_000, sequence: 1 }, additions);
  return { applicationId, creatives };
}

/** The installs of some creatives, and the creatives in the blocks that were read for them. */
async function read(applicationId: string, creative_id: string[]) {
  const scan = { applicationId, rollup: 'rollup_daily' as const, from: DAY, to: DAY };
  const seen = new Set<string>();
  let installs = 0;
  const asked = { ...scan, filters: { creative_id }, byCreative: true, bySegment: false };
  for await (const chunk of scanBlocks(env.DB, asked)) {
    for (const creative of valuesIn(chunk, 'creative_id')) seen.add(creative);
    chunk.read(({ size, sums }) => {
      for (let entry = 0; entry < size; entry++) installs += sums[1]?.[entry] ?? 0;
    });
  }
  return { installs, seen };
}

it('reads only the buckets of a few creatives', async () => {
  const { applicationId, creatives } = await history(1);
  const [one = '', other = ''] = creatives;
  const buckets = new Set([bucketOf(one), bucketOf(other)]);
  expect(await read(applicationId, [one, other])).toEqual({
    installs: 6,
    seen: new Set(creatives.filter((id) => buckets.has(bucketOf(id)))),
  });
});

it('reads the sums without segments where they have fewer bytes, or for many creatives', async () => {
  const { applicationId, creatives } = await history(200);
  expect(await read(applicationId, creatives.slice(0, 1))).toEqual({
    installs: 600,
    seen: new Set(creatives),
  });
  const few = await history(1);
  expect(await read(few.applicationId, few.creatives.slice(0, 32))).toEqual({
    installs: 96,
    seen: new Set(few.creatives),
  });
});
