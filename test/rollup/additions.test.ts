import { env } from 'cloudflare:workers';
import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { expect, it } from 'vitest';
import { isMoney, MEASURES, type RollupTable } from '#catalogue';
import * as tables from '#db';
import { newId } from '#lib/ids';
import { Additions, additionColumns, ROLLUP_TABLES } from '../../src/rollup/tables.ts';
import { addRun } from '../helpers/add-run.ts';

const NANOS_PER_HIGH = 10n ** 12n;

// What several runs add to one row of D1.

it.each(ROLLUP_TABLES)('adds to the columns in the schema of %s', (name) => {
  const schema = Object.values(tables).filter((table) => is(table, SQLiteTable));
  const table = schema.find((one) => getTableName(one) === name);
  if (!table) throw new Error(`the schema has no ${name}`);
  const columns = Object.values(getTableColumns(table)).map((column) => column.name);
  expect(additionColumns(name)).toEqual(columns);
});

it('adds up amounts exactly beyond 64 bits of nanos', async () => {
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
    await addRun(env.DB, { applicationId: application_id, shard: 0, sequence: run + 1 }, additions);
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

it.each([10 ** 12, 10 ** 12 - 1, 1, 10 ** 18 - 128])('carries what %d and more add up to', (amount) => {
  const additions = new Additions('rollup_ads');
  const key = {
    application_id: 'app',
    day: '2026-03-01',
    source: '',
    media_source: '',
    placement: '',
    creative_id: '',
    currency: '',
  };
  const whole = BigInt(amount);
  // The second amount makes the low part exactly 10^12.
  const rest = 10 ** 12 - Number(whole % NANOS_PER_HIGH);
  for (const ad_revenue of [amount, rest]) additions.add(key, 1, { ad_revenue });
  const at = additionColumns('rollup_ads').indexOf('ad_revenue');
  const [row = []] = [...additions.rows()];
  expect(row.slice(at, at + 2)).toEqual([0, Number((whole + BigInt(rest)) / NANOS_PER_HIGH)]);
});

it.each(ROLLUP_TABLES)(
  'has all creatives of %s together: paid and organic rows, each added up exactly',
  async (table) => {
    const applicationId = newId('app');
    const key = {
      application_id: applicationId,
      day: '2026-03-01',
      acquired_day: '2026-03-01',
      age: 0,
      hour: '',
      source: 'banner',
      media_source: '',
      placement: '',
      item_id: 'gold',
      event_name: 'level_1',
      currency: 'usd',
    };
    // Amounts whose low parts pass 10^12 nanos together, in one part of the outbox and from one to the next.
    const amount = 900_000_000_000;
    for (const [run, creatives] of [['', 'crt_1', 'crt_2'], ['crt_2', ''], ['crt_3']].entries()) {
      const additions = new Additions<RollupTable>(table);
      for (const creative_id of creatives) {
        const amounts = Object.fromEntries(MEASURES[table].map((name) => [name, isMoney(name) ? amount : 1]));
        additions.add({ ...key, creative_id }, 1, amounts);
      }
      await addRun(env.DB, { applicationId, shard: 0, sequence: run + 1 }, additions);
    }
    const { results } = await env.DB.prepare(
      `SELECT * FROM ${table} WHERE application_id = ? ORDER BY attribution`,
    )
      .bind(applicationId)
      .all<Record<string, string | number>>();
    const rowOf = (attribution: string, rows: number) => ({
      attribution,
      ...Object.fromEntries(
        MEASURES[table].flatMap((name): [string, number][] => {
          const nanos = BigInt(rows * amount);
          return isMoney(name)
            ? [
                [name, Number(nanos % NANOS_PER_HIGH)],
                [`${name}_high`, Number(nanos / NANOS_PER_HIGH)],
              ]
            : [[name, rows]];
        }),
      ),
    });
    expect(results).toMatchObject([rowOf('organic', 2), rowOf('paid', 4)]);
  },
);
