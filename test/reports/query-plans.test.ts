import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { SELECT_RATES } from '#money';
import { adsSql } from '../../src/reports/ads.ts';
import { DIMENSIONS, type DimensionName, rollupOf } from '../../src/reports/dimensions.ts';
import { funnelSql } from '../../src/reports/funnel.ts';
import { revenueSql, sizeSql, spendSql } from '../../src/reports/ltv.ts';
import { sourcesOf, sumsSql, TOTAL_SOURCES } from '../../src/reports/performance.ts';
import { activitySql } from '../../src/reports/retention.ts';

/** How SQLite would read the tables of a statement, one line each. */
async function plan(sql: string): Promise<string[]> {
  const bindings = new Set(sql.match(/\?\d+/g) ?? []).size;
  const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .bind(...Array.from({ length: bindings }, () => null))
    .all<{ detail: string }>();
  return results.map(({ detail }) => detail).filter((detail) => /^(?:SEARCH|SCAN)/.test(detail));
}

const names = Object.keys(DIMENSIONS) as DimensionName[];
const pairs = names.flatMap((first) => names.map((second) => [first, second]));
const groupings = pairs
  .map(([first, second]) => [...new Set([first, second])] as DimensionName[])
  .filter((grouping) => rollupOf(grouping) !== undefined);

const STATEMENTS = [
  ...groupings.flatMap((grouping) =>
    sourcesOf(grouping).map(({ source, columns }) => ({
      name: `performance by ${grouping.join(', ')} from ${source.table}`,
      sql: sumsSql(source, columns),
    })),
  ),
  ...TOTAL_SOURCES.map(({ source, columns }) => ({
    name: `totals from ${source.table}`,
    sql: sumsSql(source, columns),
  })),
  { name: 'retention', sql: activitySql('creative_id') },
  { name: 'cohort sizes', sql: sizeSql('creative_id') },
  { name: 'cohort revenue', sql: revenueSql('creative_id') },
  { name: 'spend', sql: spendSql('campaign') },
  { name: 'funnel', sql: funnelSql(5) },
  { name: 'ads', sql: adsSql },
];

it.each(STATEMENTS)('$name reads by the primary key', async ({ sql }) => {
  const lines = (await plan(sql)).filter(
    (detail) => !/json_each|VIRTUAL TABLE|^SCAN (?:times|asked|number|step)\b/.test(detail),
  );
  // The names that costs are of are looked up one by one.
  const lookUps = lines.filter((detail) => /^\w+ (?:campaigns|adsets|creatives)\b/.test(detail));
  for (const lookUp of lookUps) expect(lookUp).toMatch(/^SEARCH \w+ USING (?:COVERING )?INDEX|PRIMARY KEY/);
  const tables = lines.filter((detail) => !lookUps.includes(detail));
  expect(tables).toHaveLength(1);
  expect(tables[0]).toMatch(/^SEARCH \w+ USING PRIMARY KEY \(application_id=\? AND \w+>\? AND \w+<\?\)/);
});

it('exchange rates are read by the primary key', async () => {
  const tables = (await plan(SELECT_RATES)).filter((detail) => !/VIRTUAL TABLE|^SCAN series/.test(detail));
  expect(tables).toHaveLength(3);
  for (const table of tables)
    expect(table).toMatch(/^SEARCH \w+ USING PRIMARY KEY \(team_id=\? AND currency=\?/);
});
