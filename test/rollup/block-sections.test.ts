import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { OTHER_SEGMENT } from '#catalogue';
import { database, segments } from '#db';
import { newId } from '#lib/ids';
import { addDays } from '#lib/time';
import { scanBlocks } from '../../src/reports/block-scan.ts';
import { BlockCache } from '../../src/rollup/block-cache.ts';
import { ALL_CREATIVES } from '../../src/rollup/breakdown.ts';
import { readBlockPages } from '../../src/rollup/read-blocks.ts';
import { idText } from '../../src/rollup/segment-blocks.ts';
import { Additions } from '../../src/rollup/tables.ts';
import { addRun } from '../helpers/add-run.ts';
import { entriesOf } from '../helpers/blocks.ts';
import { WatchedD1 } from '../helpers/d1.ts';

const DAY = '2026-03-01';
const COUNTRIES = Array.from({ length: 10 }, (_, index) => `c${index}`);
/** Ids that are written with the digit 0 at the end, like offsets. */
const IDS = COUNTRIES.map((_, index) => (index + 1) * 64_000 + 52);
/** The id of no segment. */
const UNKNOWN_ID = 12_345;

/** What clients may send as a placement to be taken for the index of a block, or its end. */
const PLACEMENTS = [
  ...IDS.map((id) => `;${idText(id)}0000000`),
  `;${idText(UNKNOWN_ID)}0000000;........0000009`,
  '",',
  '\n',
];

/** An application with a row per day, placement and country, with as many impressions as the country's number plus 1. */
async function history(days = 1): Promise<string> {
  const applicationId = newId('app');
  const additions = new Additions('rollup_ads');
  for (const placement of PLACEMENTS) {
    for (let after = 0; after < days; after++) {
      const key = { application_id: applicationId, day: addDays(DAY, after), source: '', media_source: '' };
      for (const [index, id] of IDS.entries()) {
        const impressions = index + 1;
        additions.add({ ...key, placement, creative_id: '', currency: 'usd' }, id, { impressions });
      }
    }
  }
  await addRun(env.DB, { applicationId, shard: 0, sequence: 1 }, additions);
  return applicationId;
}

type Segments = { ids: readonly number[]; known: number };

/** The entries that are read for some segments, and the bytes of their blocks. */
async function read(
  applicationId: string,
  wanted: Segments | null,
  { cache = new BlockCache(0), days = 1, db = env.DB } = {},
) {
  const period = { from: DAY, to: addDays(DAY, days - 1) };
  const query = { applicationId, rollup: 'rollup_ads' as const, buckets: [ALL_CREATIVES], ...period };
  const entries: { placement: string; segment: number; impressions: number }[] = [];
  let bytes = 0;
  const pages = readBlockPages(db, { ...query, segments: wanted }, { maxBytes: 1_000_000, cache });
  for await (const page of pages) {
    for (const block of page) {
      bytes += block.bytes;
      for (const { key, segment, sums } of entriesOf(block)) {
        entries.push({ placement: key[3] ?? '', segment, impressions: sums[0] ?? 0 });
      }
    }
  }
  return { entries, bytes };
}

const known = IDS.length;

it('reads only the sections of few segments, whatever clients named their placements', async () => {
  const applicationId = await history();
  const whole = await read(applicationId, null);
  expect(whole.entries).toHaveLength(PLACEMENTS.length * IDS.length);
  for (const ids of [[IDS[3] ?? 0], [IDS[9] ?? 0, IDS[0] ?? 0], [IDS[5] ?? 0, UNKNOWN_ID]]) {
    const part = await read(applicationId, { ids, known });
    expect(part.entries).toEqual(ids.flatMap((id) => whole.entries.filter(({ segment }) => segment === id)));
    expect(part.entries).toHaveLength(ids.filter((id) => id !== UNKNOWN_ID).length * PLACEMENTS.length);
    expect(part.bytes).toBeLessThan(whole.bytes - 7 * PLACEMENTS.length);
  }
  expect((await read(applicationId, { ids: [UNKNOWN_ID], known })).entries).toEqual([]);
  expect((await read(applicationId, { ids: [], known })).entries).toEqual([]);
});

it('reads blocks whole for many segments, and if the cache holds them', async () => {
  const applicationId = await history();
  const whole = await read(applicationId, null);
  expect(await read(applicationId, { ids: IDS.slice(0, 6), known })).toEqual(whole);
  expect(await read(applicationId, { ids: IDS.slice(0, 5), known: 801 })).toEqual(whole);
  expect((await read(applicationId, { ids: IDS.slice(0, 5), known: 800 })).entries).toHaveLength(
    5 * PLACEMENTS.length,
  );
  const one = { ids: IDS.slice(0, 1), known };
  expect((await read(applicationId, one, { cache: new BlockCache() })).entries).toHaveLength(
    whole.entries.length,
  );
  expect((await read(applicationId, one)).entries).toHaveLength(PLACEMENTS.length);
});

it('keeps the sections of some segments apart from those of others', async () => {
  const days = 6;
  const applicationId = await history(days);
  const { bytes } = await read(applicationId, null, { days });
  // Room for parts of the blocks, and not for all of them.
  const cache = new BlockCache(bytes - 1);
  const db = new WatchedD1(env.DB);
  const readIn = async (country: number) => {
    db.log.length = 0;
    const wanted = { ids: [IDS[country] ?? 0], known };
    const { entries } = await read(applicationId, wanted, { cache, days, db: db.asBinding() });
    return {
      impressions: entries.map((entry) => entry.impressions),
      reads: db.log.filter((text) => /"data"/.test(text)).length,
    };
  };
  const all = (impressions: number) => Array.from({ length: days * PLACEMENTS.length }, () => impressions);
  expect(await readIn(2)).toEqual({ impressions: all(3), reads: 1 });
  expect(await readIn(7)).toEqual({ impressions: all(8), reads: 1 });
  expect(await readIn(2)).toEqual({ impressions: all(3), reads: 0 });
});

it('counts segments that no counter has named yet as other, so that no section is skipped for it', async () => {
  const applicationId = await history();
  const scan = { applicationId, rollup: 'rollup_ads' as const, from: DAY, to: DAY };
  await database(env.DB)
    .insert(segments)
    .values(
      IDS.slice(1).map((segmentId, index) => ({
        ...{ applicationId, segmentId, os: 'android', appVersion: '1' },
        country: COUNTRIES[index + 1] ?? '',
      })),
    );
  const bounds = { maxBytes: 1_000_000, cache: new BlockCache(0) };
  const impressionsIn = async (country: string) => {
    let impressions = 0;
    const asked = { ...scan, filters: { country: [country] }, byCreative: false, bySegment: false };
    for await (const chunk of scanBlocks(env.DB, asked, bounds)) {
      chunk.read(({ size, sums }) => {
        for (let entry = 0; entry < size; entry++) impressions += sums[0]?.[entry] ?? 0;
      });
    }
    return impressions;
  };
  expect(await impressionsIn('c4')).toBe(5 * PLACEMENTS.length);
  expect(await impressionsIn(OTHER_SEGMENT.country)).toBe(PLACEMENTS.length);
  expect(await impressionsIn('zz')).toBe(0);
});
