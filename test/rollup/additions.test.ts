import { env } from 'cloudflare:workers';
import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { expect, it } from 'vitest';
import { OTHER_SEGMENT, segmentId } from '#catalogue';
import * as tables from '#db';
import { newId } from '#lib/ids';
import { Additions, additionColumns, additionStatement, ROLLUP_TABLES } from '../../src/rollup/tables.ts';

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
    await additionStatement(env.DB, 'rollup_ads', [...additions.rows()]).run();
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
  expect([...additionColumns(name), 'segment_parts']).toEqual(columns);
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
