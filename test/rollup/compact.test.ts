import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { newId } from '#lib/ids';
import { readParts } from '#rollup';
import {
  compactParts,
  type DuePlace,
  MIN_COMPACTED,
  placesToCompact,
  replaceParts,
} from '../../src/rollup/cube/compact.ts';
import { GRAINS, type Grain, segmentColumns } from '../../src/rollup/cube/grains.ts';
import { Additions, sumColumnsOf } from '../../src/rollup/tables.ts';
import { addRun } from '../helpers/add-run.ts';
import { slowIt } from '../helpers/thorough.ts';

const PLACE: DuePlace = { rollup: 'rollup_daily', grain: 'segment', month: '2026-03', level: 0 };
const NOW = Date.UTC(2026, 2, 10);

/** A counter that added parts in as many runs, each with two days. */
async function withRuns(runs: number, shard = 0) {
  const owner = { applicationId: newId('app'), shard };
  for (let sequence = 1; sequence <= runs; sequence++) {
    const additions = new Additions('rollup_daily');
    for (const creative_id of ['', 'crt_1', 'crt_2']) {
      const key = { application_id: owner.applicationId, creative_id, currency: 'usd' };
      additions.add({ ...key, day: '2026-03-01' }, 7, { impressions: 1, ad_revenue: 2 ** 53 - 1 });
      additions.add({ ...key, day: '2026-03-02' }, 8 + sequence, { impressions: 2, purchase_revenue: 5 });
    }
    await addRun(env.DB, { ...owner, sequence }, additions);
  }
  return owner;
}

const at = (column: string) => sumColumnsOf('rollup_daily').indexOf(column);

/** By version, the impressions and nanos of all parts; and how many parts there are. */
async function read(applicationId: string, grain: Grain) {
  const sums = new Map<string, { impressions: number; nanos: bigint }>();
  let parts = 0;
  const query = {
    applicationId,
    rollup: 'rollup_daily' as const,
    grain,
    from: '2026-03-01',
    to: '2026-03-09',
  };
  for await (const part of readParts(env, query)) {
    parts++;
    for (let row = 0; row < part.size; row++) {
      const of = (column: string) => part.sums[at(column)]?.[row] ?? 0;
      const version = part.segments.values[part.segments.numbers[row] ?? 0]?.app_version ?? '';
      const known = sums.get(version) ?? { impressions: 0, nanos: 0n };
      const nanos = ['ad_revenue', 'purchase_revenue'].map(
        (name) => BigInt(of(`${name}_high`)) * 10n ** 12n + BigInt(of(name)),
      );
      sums.set(version, {
        impressions: known.impressions + of('impressions'),
        nanos: nanos.reduce((total, one) => total + one, known.nanos),
      });
    }
  }
  return { parts, sums };
}

it.each(GRAINS)('adds the parts by %s of many runs up, exactly', async (grain) => {
  const owner = await withRuns(MIN_COMPACTED);
  const place = { ...PLACE, grain };
  expect(await placesToCompact(env.DB, owner)).toContainEqual(place);
  const before = await read(owner.applicationId, grain);
  expect(before.parts).toBe(MIN_COMPACTED);
  const isBySegment = segmentColumns(grain).length > 0;
  const version = isBySegment ? '7' : '';
  const impressions = (isBySegment ? 3 : 9) * MIN_COMPACTED;
  const bought = !isBySegment ? 3n * 5n * BigInt(MIN_COMPACTED) : 0n;
  expect(before.sums.get(version)).toEqual({
    impressions,
    nanos: 3n * BigInt(MIN_COMPACTED) * BigInt(2 ** 53 - 1) + bought,
  });
  const compacted = await compactParts(env.DB, owner, place);
  await env.DB.batch(replaceParts(env.DB, { ...owner, sequence: 100 }, compacted, NOW));
  expect(await read(owner.applicationId, grain)).toEqual({ parts: 1, sums: before.sums });
  expect(await placesToCompact(env.DB, owner)).not.toContainEqual(place);
  // Sent again, as after a lost answer, it changes nothing.
  await env.DB.batch(replaceParts(env.DB, { ...owner, sequence: 100 }, { ...compacted, parts: [] }, NOW));
  expect(await read(owner.applicationId, grain)).toEqual({ parts: 1, sums: before.sums });
});

it('compacts compacted parts too, to the next level', async () => {
  const owner = await withRuns(MIN_COMPACTED);
  const before = await read(owner.applicationId, 'segment');
  await env.DB.prepare('UPDATE cube_parts SET level = 1 WHERE application_id = ?')
    .bind(owner.applicationId)
    .run();
  const place = { ...PLACE, level: 1 };
  expect(await placesToCompact(env.DB, owner)).toContainEqual(place);
  const compacted = await compactParts(env.DB, owner, place);
  await env.DB.batch(replaceParts(env.DB, { ...owner, sequence: 100 }, compacted, NOW));
  expect(await read(owner.applicationId, 'segment')).toEqual({ parts: 1, sums: before.sums });
  const levels = await env.DB.prepare(
    "SELECT DISTINCT level FROM cube_parts WHERE application_id = ? AND grain = 'segment' AND replaced_at IS NULL",
  )
    .bind(owner.applicationId)
    .all();
  expect(levels.results).toEqual([{ level: 2 }]);
});

slowIt('compacts as many parts as fit into memory, and in the end all of them', async () => {
  const owner = { applicationId: newId('app'), shard: 0 };
  for (let sequence = 1; sequence <= MIN_COMPACTED; sequence++) {
    const additions = new Additions('rollup_daily');
    for (let creative = 0; creative < 9_000; creative++) {
      const key = {
        application_id: owner.applicationId,
        day: '2026-03-01',
        creative_id: newId('crt'),
        currency: '',
      };
      additions.add(key, 7, { impressions: 1 });
    }
    await addRun(env.DB, { ...owner, sequence }, additions);
  }
  const place = { ...PLACE, grain: 'creative' as const };
  const before = await read(owner.applicationId, 'creative');
  const compacted = await compactParts(env.DB, owner, place);
  expect(compacted.replaced).toEqual(Array.from({ length: 10 }, (_, index) => index + 1));
  await env.DB.batch(replaceParts(env.DB, { ...owner, sequence: 100 }, compacted, NOW));
  const after = await read(owner.applicationId, 'creative');
  expect(after.sums).toEqual(before.sums);
  expect(await placesToCompact(env.DB, owner)).not.toContainEqual(place);
});

it('leaves runs alone that have many rows already, and takes the others', async () => {
  const owner = await withRuns(MIN_COMPACTED + 1);
  const large = (sequences: string, rows: number) =>
    env.DB.prepare(`UPDATE cube_parts SET rows = ? WHERE application_id = ? AND sequence IN (${sequences})`)
      .bind(rows, owner.applicationId)
      .run();
  await large('2', 45_001);
  expect(await placesToCompact(env.DB, owner)).toContainEqual(PLACE);
  const sequences = Array.from({ length: MIN_COMPACTED + 1 }, (_, index) => index + 1);
  const { replaced } = await compactParts(env.DB, owner, PLACE);
  expect(replaced).toEqual(sequences.filter((sequence) => sequence !== 2));
  await large('5', 45_001);
  expect(await placesToCompact(env.DB, owner)).toEqual([]);
  await large('2, 5', 45_000);
  expect((await compactParts(env.DB, owner, PLACE)).replaced).not.toContain(17);
});

it.each(['rollup', 'grain'])('leaves parts of a %s that only a newer release knows', async (column) => {
  const owner = await withRuns(MIN_COMPACTED);
  await env.DB.prepare(`UPDATE cube_parts SET ${column} = 'later_' || ${column} WHERE application_id = ?`)
    .bind(owner.applicationId)
    .run();
  expect(await placesToCompact(env.DB, owner)).toEqual([]);
});

it('leaves a few parts, and those of other shards', async () => {
  const owner = await withRuns(MIN_COMPACTED - 1);
  expect(await placesToCompact(env.DB, owner)).toEqual([]);
  const other = await withRuns(MIN_COMPACTED, 1);
  expect(await placesToCompact(env.DB, { ...other, shard: 0 })).toEqual([]);
  expect((await compactParts(env.DB, { ...other, shard: 0 }, PLACE)).replaced).toEqual([]);
});

it('replaces nothing if one of the parts is missing', async () => {
  const owner = await withRuns(MIN_COMPACTED);
  const compacted = await compactParts(env.DB, owner, PLACE);
  await env.DB.prepare(
    "DELETE FROM cube_parts WHERE application_id = ? AND grain = 'segment' AND sequence = 3",
  )
    .bind(owner.applicationId)
    .run();
  const before = await read(owner.applicationId, 'segment');
  await env.DB.batch(replaceParts(env.DB, { ...owner, sequence: 100 }, compacted, NOW));
  expect(await read(owner.applicationId, 'segment')).toEqual(before);
});

it('keeps parts that were added after the compacted ones were read', async () => {
  const owner = await withRuns(MIN_COMPACTED);
  const compacted = await compactParts(env.DB, owner, PLACE);
  const late = new Additions('rollup_daily');
  const key = { application_id: owner.applicationId, day: '2026-03-01', creative_id: '', currency: 'usd' };
  late.add(key, 7, { impressions: 1_000 });
  await addRun(env.DB, { ...owner, sequence: 99 }, late);
  const before = await read(owner.applicationId, 'segment');
  await env.DB.batch(replaceParts(env.DB, { ...owner, sequence: 100 }, compacted, NOW));
  expect(await read(owner.applicationId, 'segment')).toEqual({ parts: 2, sums: before.sums });
});

it('lets a report that listed parts before read them after their compaction', async () => {
  const owner = await withRuns(MIN_COMPACTED);
  const { applicationId } = owner;
  const query = {
    applicationId,
    rollup: 'rollup_daily' as const,
    grain: 'segment' as const,
    from: '2026-03-01',
    to: '2026-03-02',
  };
  const reading = readParts(env, query, 1);
  const first = await reading.next();
  let rows = first.value?.size ?? 0;
  const compacted = await compactParts(env.DB, owner, PLACE);
  await env.DB.batch(replaceParts(env.DB, { ...owner, sequence: 100 }, compacted, NOW));
  for await (const part of reading) rows += part.size;
  expect(rows).toBe(4 * MIN_COMPACTED);
});

it('deletes parts ten minutes after they were replaced', async () => {
  const owner = await withRuns(2 * MIN_COMPACTED);
  const count = async () =>
    (
      await env.DB.prepare(
        "SELECT count(*) AS n FROM cube_parts WHERE application_id = ? AND grain = 'segment'",
      )
        .bind(owner.applicationId)
        .first<{ n: number }>()
    )?.n;
  const compact = async (sequence: number, now: number) => {
    const compacted = await compactParts(env.DB, owner, { ...PLACE, level: sequence === 100 ? 0 : 1 });
    await env.DB.batch(replaceParts(env.DB, { ...owner, sequence }, compacted, now));
  };
  await compact(100, NOW);
  expect(await count()).toBe(2 * MIN_COMPACTED + 1);
  await compact(101, NOW + 600_000);
  expect(await count()).toBe(2 * MIN_COMPACTED + 2);
  const before = await read(owner.applicationId, 'segment');
  await compact(102, NOW + 600_001);
  expect(await count()).toBe(2);
  expect(await read(owner.applicationId, 'segment')).toEqual(before);
});

it('reads only parts with the asked days, in pages of bounded size, those with the latest days first', async () => {
  const applicationId = newId('app');
  for (let day = 1; day <= 9; day++) {
    const additions = new Additions('rollup_daily');
    for (let creative = 0; creative < 40; creative++) {
      const key = {
        application_id: applicationId,
        day: `2026-03-0${day}`,
        creative_id: newId('crt'),
        currency: '',
      };
      for (let segment = 0; segment < 20; segment++) additions.add(key, segment, { installs: 1 });
    }
    await addRun(env.DB, { applicationId, shard: 0, sequence: day }, additions);
  }
  const query = {
    applicationId,
    rollup: 'rollup_daily' as const,
    grain: 'both' as const,
    from: '2026-03-02',
    to: '2026-03-08',
  };
  const days = async (maxCharacters: number) => {
    const found: string[] = [];
    for await (const part of readParts(env, query, maxCharacters))
      found.push(...(part.columns.get('day')?.values ?? []));
    return found;
  };
  const expected = [8, 7, 6, 5, 4, 3, 2].map((day) => `2026-03-0${day}`);
  for (const size of [1, 20_000, 10_000_000]) expect(await days(size)).toEqual(expected);
});
