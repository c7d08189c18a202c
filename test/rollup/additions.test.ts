import { env } from 'cloudflare:workers';
import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { expect, it } from 'vitest';
import { isMoney, MEASURES, OTHER_SEGMENT, segmentId } from '#catalogue';
import * as tables from '#db';
import { newId } from '#lib/ids';
import { additionStatements } from '../../src/rollup/add-rows.ts';
import { Additions, additionColumns, ROLLUP_TABLES, sumColumnsOf, TOTALS } from '../../src/rollup/tables.ts';

// What several runs add to one row of D1, broken down by segment.

const MICROS_PER_HIGH = 10n ** 12n;

type Cell = { impressions: number; ad_revenue: number };

function startRow() {
  const application_id = newId('app');
  const key = {
    application_id,
    day: '2026-03-01',
    source: 'banner',
    media_source: '',
    placement: '',
    creative_id: '',
    currency: 'usd',
  };
  const add = async (segments: Record<number, Cell>) => {
    const additions = new Additions('rollup_ads');
    for (const [id, amounts] of Object.entries(segments)) additions.add(key, Number(id), amounts);
    await env.DB.batch(additionStatements(env.DB, 'rollup_ads', [...additions.rows()]));
  };
  const read = async () => {
    const row = await env.DB.prepare(
      'SELECT impressions, segments, segment_parts FROM rollup_ads WHERE application_id = ?',
    )
      .bind(application_id)
      .first<{ impressions: number; segments: string; segment_parts: number }>();
    if (!row) throw new Error('no row');
    const entries: number[][] = JSON.parse(`[${row.segments}]`);
    const sums = new Map<number, { impressions: number; micros: bigint }>();
    for (const [id = 0, impressions = 0, low = 0, high = 0] of entries) {
      const sum = sums.get(id) ?? { impressions: 0, micros: 0n };
      sum.impressions += impressions;
      sum.micros += BigInt(high) * MICROS_PER_HIGH + BigInt(low);
      sums.set(id, sum);
    }
    return { ...row, entries, sums };
  };
  return { add, read };
}

it.each(ROLLUP_TABLES)('adds to the columns that the schema of %s has', (name) => {
  const schema = Object.values(tables).filter((table) => is(table, SQLiteTable));
  const table = schema.find((one) => getTableName(one) === name);
  if (!table) throw new Error(`the schema has no ${name}`);
  const columns = Object.values(getTableColumns(table)).map((column) => column.name);
  const parts = name === 'rollup_hours' ? 'hour_parts' : 'segment_parts';
  expect([...additionColumns(name), parts]).toEqual(columns);
});

it('adds up the segments of a row exactly, whether or not they were put together meanwhile', async () => {
  const row = startRow();
  const large = 2 ** 53 - 1;
  for (let run = 0; run < 40; run++) {
    await row.add({
      1: { impressions: 1, ad_revenue: large },
      [(run % 5) + 2]: { impressions: 2, ad_revenue: 3 },
    });
  }
  const { impressions, sums, entries, segment_parts } = await row.read();
  expect(impressions).toBe(120);
  expect(sums.get(1)).toEqual({ impressions: 40, micros: 40n * BigInt(large) });
  for (const id of [2, 3, 4, 5, 6]) expect(sums.get(id)).toEqual({ impressions: 16, micros: 24n });
  expect(segment_parts).toBeLessThanOrEqual(16);
  // Two of each run would be 80.
  expect(entries.length).toBeLessThan(40);
});

it('keeps a row within what a value may hold: the smallest segments of too many become one', async () => {
  const row = startRow();
  const OTHER = segmentId(OTHER_SEGMENT);
  const kept = { impressions: 1_000, ad_revenue: 0 };
  for (let run = 0; run < 17; run++) {
    const segments = Array.from({ length: 300 }, (_, index) => [
      1_000 + run * 300 + index,
      { impressions: 1, ad_revenue: 1 },
    ]);
    await row.add({ 7: kept, ...Object.fromEntries(segments) });
  }
  const { impressions, entries, sums } = await row.read();
  expect(impressions).toBe(17 * 1_300);
  expect(entries.length).toBeLessThanOrEqual(2_001);
  expect(sums.get(7)?.impressions).toBe(17_000);
  expect(sums.get(OTHER)?.impressions).toBeGreaterThan(3_000);
  expect([...sums.values()].reduce((sum, own) => sum + own.impressions, 0)).toBe(impressions);
});

it('adds the days of all creatives up by segment, paid and organic apart, exactly', async () => {
  const application_id = newId('app');
  const large = 2 ** 53 - 1;
  const RUNS = 9;
  for (let run = 0; run < RUNS; run++) {
    const additions = new Additions('rollup_daily');
    for (const creative_id of ['', 'crt_1', 'crt_2']) {
      const key = { application_id, day: '2026-03-01', creative_id, currency: 'usd' };
      additions.add(key, 7, { impressions: 1, ad_revenue: large });
      additions.add(key, 8 + run, { impressions: 2, purchase_revenue: 5 });
    }
    await env.DB.batch(additionStatements(env.DB, 'rollup_daily', [...additions.rows()]));
  }
  const { results } = await env.DB.prepare(
    'SELECT day, paid, currency, segments, segment_parts FROM rollup_segments WHERE application_id = ? ORDER BY paid',
  )
    .bind(application_id)
    .all<{ day: string; paid: number; currency: string; segments: string; segment_parts: number }>();
  expect(results).toMatchObject([
    { day: '2026-03-01', paid: 0, currency: 'usd' },
    { day: '2026-03-01', paid: 1, currency: 'usd' },
  ]);
  const columns = sumColumnsOf('rollup_daily');
  for (const { paid, segments, segment_parts } of results) {
    const creatives = paid ? 2 : 1;
    const sums = new Map<number, Record<string, bigint>>();
    for (const [id = 0, ...values] of JSON.parse(`[${segments}]`) as number[][]) {
      const own = sums.get(id) ?? {};
      for (const [index, column] of columns.entries())
        own[column] = (own[column] ?? 0n) + BigInt(values[index] ?? 0);
      sums.set(id, own);
    }
    const micros = (sum: Record<string, bigint> | undefined, name: string) =>
      (sum?.[`${name}_high`] ?? 0n) * MICROS_PER_HIGH + (sum?.[name] ?? 0n);
    expect(sums.get(7)?.impressions).toBe(BigInt(RUNS * creatives));
    expect(micros(sums.get(7), 'ad_revenue')).toBe(BigInt(RUNS * creatives) * BigInt(large));
    for (let run = 0; run < RUNS; run++) {
      expect(sums.get(8 + run)?.impressions).toBe(BigInt(2 * creatives));
      expect(micros(sums.get(8 + run), 'purchase_revenue')).toBe(BigInt(5 * creatives));
    }
    expect(segment_parts).toBeLessThanOrEqual(4);
  }
});

it.each(Object.keys(TOTALS) as (keyof typeof TOTALS)[])(
  'keeps totals of %s: paid and organic rows, each added up exactly',
  async (table) => {
    const key = {
      application_id: newId('app'),
      day: '2026-03-01',
      acquired_day: '2026-03-01',
      age: 0,
      source: 'banner',
      media_source: '',
      placement: '',
      currency: 'usd',
    };
    // Amounts whose low parts pass 10^12 micros together, in one part of the outbox and from one to the next.
    const amount = 900_000_000_000;
    for (const creatives of [['', 'crt_1', 'crt_2'], ['crt_2', ''], ['crt_3']]) {
      const additions = new Additions(table);
      for (const creative_id of creatives) {
        const amounts = Object.fromEntries(MEASURES[table].map((name) => [name, isMoney(name) ? amount : 1]));
        additions.add({ ...key, creative_id }, 1, amounts);
      }
      await env.DB.batch(additionStatements(env.DB, table, [...additions.rows()]));
    }
    const { results } = await env.DB.prepare(
      `SELECT * FROM ${TOTALS[table]} WHERE application_id = ? ORDER BY creative_id`,
    )
      .bind(key.application_id)
      .all<Record<string, string | number>>();
    const rowOf = (creative_id: string, rows: number) => ({
      creative_id,
      ...Object.fromEntries(
        MEASURES[table].flatMap((name): [string, number][] => {
          const micros = BigInt(rows * amount);
          return isMoney(name)
            ? [
                [name, Number(micros % MICROS_PER_HIGH)],
                [`${name}_high`, Number(micros / MICROS_PER_HIGH)],
              ]
            : [[name, rows]];
        }),
      ),
    });
    expect(results).toMatchObject([rowOf('', 2), rowOf('paid', 4)]);
  },
);
