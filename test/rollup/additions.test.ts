import { env } from 'cloudflare:workers';
import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { expect, it } from 'vitest';
import * as tables from '#db';
import { newId } from '#lib/ids';
import { additionStatement } from '../../src/rollup/add-rows.ts';
import { Additions, additionColumns, ROLLUP_TABLES } from '../../src/rollup/tables.ts';

// What several runs add to one row of D1.

it.each(ROLLUP_TABLES)('adds to the columns that the schema of %s has', (name) => {
  const schema = Object.values(tables).filter((table) => is(table, SQLiteTable));
  const table = schema.find((one) => getTableName(one) === name);
  if (!table) throw new Error(`the schema has no ${name}`);
  const columns = Object.values(getTableColumns(table)).map((column) => column.name);
  expect([...additionColumns(name), ...(name === 'rollup_hours' ? ['hour_parts'] : [])]).toEqual(columns);
});

it('adds amounts up exactly, past what 64 bits hold in micros', async () => {
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
  const large = 2 ** 53 - 1;
  for (let run = 0; run < 40; run++) {
    const additions = new Additions('rollup_ads');
    additions.add(key, 1, { impressions: 1, ad_revenue: large });
    additions.add(key, (run % 5) + 2, { impressions: 2, ad_revenue: 3 });
    await additionStatement(env.DB, 'rollup_ads', [...additions.rows()]).run();
  }
  const { results } = await env.DB.prepare(
    'SELECT impressions, ad_revenue AS low, ad_revenue_high AS high FROM rollup_ads WHERE application_id = ?',
  )
    .bind(application_id)
    .all<{ impressions: number; low: number; high: number }>();
  expect(results).toHaveLength(1);
  const [{ impressions, low, high } = { impressions: 0, low: 0, high: 0 }] = results;
  expect(impressions).toBe(120);
  expect(BigInt(high) * 10n ** 12n + BigInt(low)).toBe(40n * BigInt(large) + 120n);
  expect(low).toBeLessThan(10 ** 12);
});
