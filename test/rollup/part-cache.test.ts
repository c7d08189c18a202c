import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { columnsOf, MEASURES } from '#catalogue';
import { newId } from '#lib/ids';
import { type OpenPart, readParts } from '#rollup';
import { compactParts, MIN_COMPACTED, placesToCompact, replaceParts } from '../../src/rollup/cube/compact.ts';
import { PartCache } from '../../src/rollup/cube/part-cache.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { addFigures } from '../helpers/figures.ts';

const part = (bytes: number): OpenPart => ({
  size: 1,
  keys: [],
  segments: [],
  sums: [new Float64Array(bytes / 8)],
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
