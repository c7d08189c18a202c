import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { columnsOf, MEASURES } from '#catalogue';
import { newId } from '#lib/ids';
import { readParts } from '#rollup';
import { compactParts, MIN_COMPACTED, placesToCompact, replaceParts } from '../../src/rollup/cube/compact.ts';
import { PartCache } from '../../src/rollup/cube/part-cache.ts';
import type { KeptPart } from '../../src/rollup/cube/part-file.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { addFigures } from '../helpers/figures.ts';

const part = (bytes: number, column = 'installs'): KeptPart => ({
  size: 1,
  columns: new Map([[column, new Float64Array(bytes / 8)]]),
});

it('drops what was unused for longest', () => {
  const cache = new PartCache(80);
  for (const key of ['a', 'b', 'c', 'd', 'e']) cache.keeper()(key, part(16));
  expect(cache.get('a')).toMatchObject({ size: 1 });
  cache.keeper()('f', part(16));
  expect(['a', 'b', 'c', 'd', 'e', 'f'].filter((key) => cache.get(key))).toEqual(['a', 'c', 'd', 'e', 'f']);
});

it('keeps no more of a scan than half of what fits', () => {
  const cache = new PartCache(80);
  cache.keeper()('before', part(40));
  const keep = cache.keeper();
  for (const key of ['a', 'b', 'c']) keep(key, part(16));
  expect(['before', 'a', 'b', 'c'].filter((key) => cache.get(key))).toEqual(['before', 'a', 'b']);
});

it('adds columns to those that it has of a part, and counts them once', () => {
  const cache = new PartCache(80);
  const keep = cache.keeper();
  keep('a', part(16));
  keep('a', part(16, 'clicks'));
  keep('a', part(16, 'clicks'));
  expect([...(cache.get('a')?.columns.keys() ?? [])]).toEqual(['installs', 'clicks']);
  cache.keeper()('b', part(40));
  expect(['a', 'b'].filter((key) => cache.get(key))).toEqual(['a', 'b']);
  cache.keeper()('c', part(16));
  expect(['a', 'b', 'c'].filter((key) => cache.get(key))).toEqual(['b', 'c']);
});

const INSTALLS = MEASURES.rollup_daily.flatMap(columnsOf).indexOf('installs');

/** The installs of an application's days, and how many statements read parts. */
function reader(applicationId: string) {
  const db = new WatchedD1(env.DB);
  const cache = new PartCache();
  const query = { applicationId, rollup: 'rollup_daily' as const, grain: 'total' as const };
  return async () => {
    db.log.length = 0;
    const installs: number[] = [];
    const stores = { ...env, DB: db.asBinding() };
    const days = { from: '2026-03-01', to: '2026-03-31' };
    for await (const { sums } of readParts(stores, { ...query, ...days }, undefined, cache)) {
      installs.push(...(sums[INSTALLS] ?? []));
    }
    return { installs, reads: db.log.filter((text) => /"data"/.test(text)).length };
  };
}

it('reads only the parts that it has not read before', async () => {
  const applicationId = newId('app');
  const add = (day: string, installs: number) =>
    addFigures(env.DB, applicationId, 'rollup_daily', [{ day, installs }]);
  const read = reader(applicationId);
  await add('2026-03-01', 1);
  await add('2026-03-02', 2);
  expect(await read()).toEqual({ installs: [2, 1], reads: 1 });
  expect(await read()).toEqual({ installs: [2, 1], reads: 0 });
  await add('2026-03-02', 5);
  expect((await read()).installs.toSorted()).toEqual([1, 2, 5]);
  expect(await reader(newId('app'))()).toEqual({ installs: [], reads: 0 });
});

it('reads a part again for a column that it did not keep, and finds those that it did', async () => {
  const applicationId = newId('app');
  const rows = ['', 'crt_1', 'crt_2'].map((creative_id, at) => ({
    day: '2026-03-01',
    creative_id,
    installs: at + 1,
    clicks: 10 * at,
  }));
  await addFigures(env.DB, applicationId, 'rollup_daily', rows);
  const db = new WatchedD1(env.DB);
  const cache = new PartCache();
  const query = {
    applicationId,
    rollup: 'rollup_daily' as const,
    grain: 'creative' as const,
    from: '2026-03-01',
    to: '2026-03-01',
  };
  const read = async (sums: readonly string[], wanted: readonly string[]) => {
    db.log.length = 0;
    const filters = new Map([['creative_id', (id: string) => wanted.includes(id)]]);
    const selection = { segments: [], sums, filters };
    const found: unknown[] = [];
    for await (const open of readParts(
      { ...env, DB: db.asBinding() },
      { ...query, selection },
      undefined,
      cache,
    )) {
      if (open.size > 0) found.push(open.sums.flatMap((column) => (column ? [[...column]] : [])));
    }
    return [found, db.log.filter((text) => /"data"/.test(text)).length];
  };
  expect(await read(['installs'], ['crt_1', ''])).toEqual([[[[1, 2]]], 1]);
  expect(await read(['installs'], ['crt_2'])).toEqual([[[[3]]], 0]);
  expect(await read(['clicks'], ['crt_2'])).toEqual([[[[20]]], 1]);
  expect(await read(['clicks', 'installs'], ['crt_1', 'crt_2'])).toEqual([
    [
      [
        [10, 20],
        [2, 3],
      ],
    ],
    0,
  ]);
  expect(await read(['installs', 'clicks'], ['crt_3'])).toEqual([[], 0]);
});

it('reads compacted parts instead of those that it kept', async () => {
  const applicationId = newId('app');
  for (let run = 0; run < MIN_COMPACTED; run++)
    await addFigures(env.DB, applicationId, 'rollup_daily', [{ day: '2026-03-01', installs: 1 }]);
  const read = reader(applicationId);
  expect((await read()).installs).toHaveLength(MIN_COMPACTED);
  const owner = { applicationId, shard: 10_000 };
  const place = (await placesToCompact(env.DB, owner)).find(({ grain }) => grain === 'total');
  if (!place) throw new Error('nothing is due');
  const compacted = await compactParts(env.DB, owner, place);
  await env.DB.batch(replaceParts(env.DB, { ...owner, sequence: 1e6 }, compacted, Date.now()));
  expect(await read()).toEqual({ installs: [MIN_COMPACTED], reads: 1 });
});
