import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { isMoney, keysTogether, MEASURES } from '#catalogue';
import { additionColumns, parkSums, type SumRows, sumStatement } from '#rollup';
import { readParkedSums } from '../../src/rollup/outbox-part.ts';
import { ROLLUP_TABLES, sumColumnsOf } from '../../src/rollup/tables.ts';

// What waits in a counter's outbox, or is parked, may be added by another release than the one that wrote it: one with another measure or column,
// wherever that stands in its list.

const readRow = (table: string) =>
  env.DB.prepare(`SELECT * FROM ${table}`).first<Record<string, string | number>>();

it.each(ROLLUP_TABLES)('adds rows of %s by the names of their columns, in any order', async (table) => {
  const known = additionColumns(table);
  const [missing] = MEASURES[table];
  const isMissing = (name: string) => name === missing || name === `${missing}_high`;
  const columns = ['of_a_later_release', ...known.filter((name) => !isMissing(name)).toReversed()];
  const keys = keysTogether(table);
  const shownAs = (name: string) =>
    name === 'age' ? 3 : keys.includes(name) ? `a ${name}` : 1 + known.indexOf(name);
  const row = columns.map(shownAs);
  await env.DB.batch([1, 2].map(() => sumStatement(env.DB, { table, columns, rows: [row] })));
  const expected = known.map((name): [string, string | number] => {
    const value = shownAs(name);
    return [name, isMissing(name) ? 0 : typeof value === 'string' || name === 'age' ? value : 2 * value];
  });
  expect(await readRow(table)).toEqual(Object.fromEntries(expected));
});

it('adds rows of an earlier release, whose keys lack a column', async () => {
  const columns = additionColumns('rollup_ads').filter((name) => name !== 'placement');
  const row = columns.map((name) => (sumColumnsOf('rollup_ads').includes(name) ? 1 : `b ${name}`));
  await sumStatement(env.DB, { table: 'rollup_ads', columns, rows: [row] }).run();
  const { results } = await env.DB.prepare(
    "SELECT placement, impressions FROM rollup_ads WHERE source = 'b source'",
  ).all();
  expect(results).toEqual([{ placement: '', impressions: 1 }]);
});

it('replays parked sums by the names of their columns', async () => {
  const columns = additionColumns('rollup_custom').toReversed();
  const sums: SumRows = { table: 'rollup_custom', columns, rows: [columns.map(() => 1)] };
  const parked = await parkSums('app_1', 'a part', sums, 'refused');
  expect(readParkedSums(JSON.parse(parked.body))).toEqual(sums);
  expect(readParkedSums({ sums: { ...sums, table: 'users' } })).toBe('newer');
  expect(readParkedSums({ events: [] })).toBeNull();
});

it('has two columns for each amount, so that none overflows', () => {
  for (const table of ROLLUP_TABLES) {
    for (const measure of MEASURES[table]) {
      expect(sumColumnsOf(table).includes(`${measure}_high`)).toBe(isMoney(measure));
    }
  }
});
