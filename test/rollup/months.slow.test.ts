import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RollupTable } from '#catalogue';
import { newId } from '#lib/ids';
import { readParts } from '#rollup';
import { compactParts, placesToCompact, replaceParts } from '../../src/rollup/cube/compact.ts';
import { GRAINS } from '../../src/rollup/cube/grains.ts';
import type { OpenPart } from '../../src/rollup/cube/part-segments.ts';
import { mergeMonth } from '../../src/rollup/months/merge-month.ts';
import { publishMonths } from '../../src/rollup/months/publish-months.ts';
import { Additions } from '../../src/rollup/tables.ts';
import { addRun } from '../helpers/add-run.ts';
import { addRowsTo, rowsIn } from '../helpers/cube.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import {
  ALWAYS,
  addDays,
  DAILY,
  hotParts,
  MARCH,
  march,
  months,
  objects,
  read,
  sorted,
  withMarch,
} from '../helpers/march.ts';

const NOW = Date.UTC(2026, 5, 10);
/** A merge in many steps. */
const TIGHT = { maxRows: 40, rowsPerGroup: 5, maxSumBytes: 3_000 };

it('reads the same figures of any days before and after merges, in any order with late events', async () => {
  const day = fc
    .integer({ min: 0, max: 120 })
    .map((n) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString().slice(0, 10));
  const amount = fc.oneof(fc.nat(9), fc.constantFrom(2 ** 31 - 1, 10 ** 12, 10 ** 15 + 7));
  const entry = fc.record({ day, age: fc.nat(60), creative: fc.nat(3), segment: fc.nat(3), amount });
  const run = fc.record({
    merge: fc.constant(false),
    shard: fc.nat(1),
    entries: fc.array(entry, { minLength: 1, maxLength: 25 }),
  });
  const merge = fc.record({ merge: fc.constant(true), month: fc.integer({ min: 1, max: 6 }) });
  const history = fc.array(fc.oneof(run, run, merge), { minLength: 2, maxLength: 9 });
  const tables = ['rollup_daily', 'cohort_activity', 'cohort_revenue'] as const;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...tables),
      fc.constantFrom(...GRAINS),
      history,
      fc.tuple(day, day),
      async (rollup, grain, steps, [one, other]) => {
        const [merged, plain] = [newId('app'), newId('app')];
        const days = one < other ? { from: one, to: other } : { from: other, to: one };
        for (const [sequence, step] of steps.entries()) {
          if ('month' in step) {
            const place = { applicationId: merged, rollup, grain, month: `2026-0${step.month}` };
            await mergeMonth(env, place, NOW, TIGHT);
            continue;
          }
          for (const applicationId of [merged, plain]) {
            const additions = new Additions<RollupTable>(rollup);
            for (const { day, age, creative, segment, amount } of step.entries) {
              const key = {
                ...{ application_id: applicationId, day, acquired_day: day, age: String(age) },
                ...{ creative_id: creative === 0 ? '' : `crt_${creative}`, currency: 'usd' },
                ...{ source: '', media_source: '', placement: '', item_id: '', event_name: '', hours: '' },
              };
              const amounts = {
                impressions: amount,
                ad_revenue: amount,
                active_devices: amount,
                revenue: amount,
              };
              additions.add(key as never, segment, amounts as never);
            }
            await addRun(env.DB, { applicationId, shard: step.shard, sequence }, additions);
          }
        }
        const [own, expected] = await Promise.all(
          [merged, plain].map((id) => read(id, { rollup, grain }, days)),
        );
        expect(own).toEqual(expected);
      },
    ),
    { numRuns: 40 },
  );
});

it('leaves one object with each row once, the latest days first, and no part', async () => {
  const app = await withMarch();
  const before = await read(app, DAILY);
  expect(await mergeMonth(env, { applicationId: app, ...MARCH }, NOW, TIGHT)).toBe(true);
  expect(await hotParts(app)).toBe(0);
  expect(await read(app, DAILY)).toEqual(before);
  const days: string[] = [];
  let rows = 0;
  for await (const { size, columns } of readParts(env, {
    applicationId: app,
    ...DAILY,
    ...ALWAYS,
    to: march(31),
  })) {
    expect(size).toBeLessThanOrEqual(5);
    rows += size;
    days.push(...(columns.get('day')?.values ?? []));
  }
  expect(rows).toBe(18);
  expect(days).toEqual([...days].sort().reverse());
  expect(await mergeMonth(env, { applicationId: app, ...MARCH }, NOW)).toBe(false);
});

it('reads only the row groups of the asked days', async () => {
  const app = await withMarch();
  await mergeMonth(env, { applicationId: app, ...MARCH }, NOW, { rowsPerGroup: 3 });
  let rows = 0;
  for await (const part of readParts(env, { applicationId: app, ...DAILY, from: march(9), to: march(9) }))
    rows += part.size;
  expect(rows).toBe(3);
});

const FAULTS = [
  ['the list of parts', /SELECT .*FROM "cube_parts" WHERE/, 'before'],
  ['reading parts', /json_each\(\?\) AS listed/, 'before'],
  ['the transaction', /insert into "cube_months"/, 'before'],
  ['the answer of the transaction', /insert into "cube_months"/, 'after'],
] as const;

it.each(FAULTS)(
  'loses and doubles nothing if %s fails, and the next run completes it',
  async (_, statement, when) => {
    const app = await withMarch();
    const before = await read(app, DAILY);
    const db = new WatchedD1(env.DB);
    // As if the isolate ended: no retry helps.
    db.failOn(statement, 'D1_ERROR: the isolate ended', { when, times: 9 });
    const place = { applicationId: app, ...MARCH };
    await expect(mergeMonth({ ...env, DB: db.asBinding() }, place, NOW)).rejects.toThrow();
    expect(await read(app, DAILY)).toEqual(before);
    await mergeMonth(env, place, NOW);
    expect(await read(app, DAILY)).toEqual(before);
    expect(await hotParts(app)).toBe(0);
    expect(await months(app)).toBe(1);
  },
);

it.each(['before', 'after'])(
  'loses and doubles nothing if it ends %s the object is written',
  async (when) => {
    const app = await withMarch();
    const before = await read(app, DAILY);
    const bucket = new Proxy(env.RAW_EVENTS, {
      get: (target, name) => {
        const own = Reflect.get(target, name);
        if (name !== 'put') return typeof own === 'function' ? own.bind(target) : own;
        return async (...values: Parameters<R2Bucket['put']>) => {
          if (when === 'after') await target.put(...values);
          throw new Error('the isolate ended');
        };
      },
    });
    const place = { applicationId: app, ...MARCH };
    await expect(mergeMonth({ ...env, RAW_EVENTS: bucket }, place, NOW)).rejects.toThrow('the isolate ended');
    expect(await read(app, DAILY)).toEqual(before);
    expect(await mergeMonth(env, place, NOW)).toBe(true);
    expect(await read(app, DAILY)).toEqual(before);
  },
);

/** Runs work while a merge waits with its transaction. */
async function whileMerging(app: string, work: () => Promise<unknown>): Promise<boolean> {
  const db = new WatchedD1(env.DB);
  let release = () => {};
  let reach = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  db.holdOn((sql) => sql.startsWith('insert into "cube_months"'), reach, until);
  const merging = mergeMonth({ ...env, DB: db.asBinding() }, { applicationId: app, ...MARCH }, NOW);
  await reached;
  await work();
  release();
  return merging;
}

const owner = (applicationId: string) => ({ applicationId, shard: 0 });
async function withManyRuns(): Promise<string> {
  const app = newId('app');
  for (let sequence = 1; sequence <= 16; sequence++)
    await addDays(app, sequence, [march(1 + (sequence % 3))]);
  return app;
}

it('changes nothing if a counter compacts the parts meanwhile', async () => {
  const app = await withManyRuns();
  const before = await read(app, DAILY);
  const isMerged = await whileMerging(app, async () => {
    const compacted = await compactParts(env.DB, owner(app), { ...MARCH, level: 0 });
    await env.DB.batch(replaceParts(env.DB, { ...owner(app), sequence: 100 }, compacted, NOW));
  });
  expect(isMerged).toBe(false);
  expect(await read(app, DAILY)).toEqual(before);
  expect(await mergeMonth(env, { applicationId: app, ...MARCH }, NOW)).toBe(true);
  expect(await read(app, DAILY)).toEqual(before);
});

it('makes a compaction of parts that were merged meanwhile change nothing', async () => {
  const app = await withManyRuns();
  const before = await read(app, DAILY);
  expect(await placesToCompact(env.DB, owner(app))).toContainEqual({ ...MARCH, level: 0 });
  const compacted = await compactParts(env.DB, owner(app), { ...MARCH, level: 0 });
  expect(await mergeMonth(env, { applicationId: app, ...MARCH }, NOW)).toBe(true);
  await env.DB.batch(replaceParts(env.DB, { ...owner(app), sequence: 100 }, compacted, NOW));
  expect(await read(app, DAILY)).toEqual(before);
  expect(await hotParts(app)).toBe(0);
});

it('merges a month once if two runs meet, and keeps what was added meanwhile', async () => {
  const app = await withMarch();
  expect(await whileMerging(app, () => mergeMonth(env, { applicationId: app, ...MARCH }, NOW))).toBe(false);
  expect(await months(app)).toBe(1);
  const other = await withMarch();
  expect(await whileMerging(other, () => addDays(other, 9, [march(2)]))).toBe(true);
  expect(await hotParts(other)).toBe(1);
});

it.each([1, 1_000_000])(
  'lets a report with pages of %i characters end that began before the merge',
  async (size) => {
    const app = await withMarch();
    const place = { applicationId: app, ...MARCH };
    const before = await read(app, DAILY);
    const startReading = () => readParts(env, { applicationId: app, ...DAILY, ...ALWAYS }, size);
    const finish = async (reading: ReturnType<typeof startReading>, first: IteratorResult<OpenPart>) => {
      const found = new Map<string, number[]>();
      if (!first.done) addRowsTo(found, rowsIn(first.value));
      for await (const part of reading) addRowsTo(found, rowsIn(part));
      return sorted(found, DAILY.rollup);
    };
    const early = startReading();
    const first = await early.next();
    await mergeMonth(env, place, NOW, { rowsPerGroup: 2 });
    expect(await finish(early, first)).toEqual(before);
    // Of the object that late events replace, too.
    const later = startReading();
    const second = await later.next();
    await addDays(app, 50, [march(3)]);
    await mergeMonth(env, place, NOW);
    expect(await finish(later, second)).toEqual(before);
    expect(await read(app, DAILY)).not.toEqual(before);
  },
);

it('adds late events to the object of the month, and to a further one if it is large', async () => {
  const app = await withMarch();
  const place = { applicationId: app, ...MARCH };
  await mergeMonth(env, place, NOW);
  await addDays(app, 50, [march(2), march(3)]);
  const before = await read(app, DAILY);
  expect(await mergeMonth(env, place, NOW + 1)).toBe(true);
  expect(await read(app, DAILY)).toEqual(before);
  expect(await months(app)).toBe(1);
  await addDays(app, 51, [march(2)]);
  const more = await read(app, DAILY);
  expect(await mergeMonth(env, place, NOW + 2, { maxRows: 20 })).toBe(true);
  expect(await read(app, DAILY)).toEqual(more);
  expect(await months(app)).toBe(2);
  await publishMonths(env, NOW + 3, '2026-04');
  expect(await objects(`cubes/${app}/rollup_daily/2026-03`)).toEqual([
    `cubes/${app}/rollup_daily/2026-03-2.parquet`,
    `cubes/${app}/rollup_daily/2026-03.parquet`,
  ]);
});

it('writes sums that need 64 bits only together', async () => {
  const app = newId('app');
  for (let sequence = 1; sequence <= 3; sequence++) {
    const additions = new Additions('rollup_daily');
    const key = { application_id: app, day: march(1), creative_id: 'crt_1', currency: '' };
    additions.add(key, 1, { impressions: 2 ** 30 });
    await addRun(env.DB, { applicationId: app, shard: 0, sequence }, additions);
  }
  const before = await read(app, DAILY);
  await mergeMonth(env, { applicationId: app, ...MARCH }, NOW);
  expect(await read(app, DAILY)).toEqual(before);
  expect(before[0]?.[1]).toContain(3n * 2n ** 30n);
});
