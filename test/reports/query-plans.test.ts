import { env } from 'cloudflare:workers';
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';
import { expect, it } from 'vitest';
import { CURRENCIES } from '#lib/currencies';
import { selectRates } from '#money';
import { adsRankingSql, adsRows, adsSql } from '../../src/reports/ads.ts';
import { activitySql } from '../../src/reports/cohort-scan.ts';
import { costDaysSql, costsSql } from '../../src/reports/cost-scan.ts';
import { keyedPart, rankingSql } from '../../src/reports/cut.ts';
import { DIMENSIONS, type DimensionName, needsBlocks, rollupOf } from '../../src/reports/dimensions.ts';
import { numberFilters, rollupConditions } from '../../src/reports/filters.ts';
import { revenueSql } from '../../src/reports/ltv.ts';
import type { ReportFilters } from '../../src/reports/query.ts';
import { sourcesOf, totalSources } from '../../src/reports/sources.ts';
import { sumsSql } from '../../src/reports/sums.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const bindingsOf = (sql: string) =>
  Math.max(...(sql.match(/\?\d+/g) ?? []).map((parameter) => Number(parameter.slice(1))));

/** How SQLite would read the tables of a statement, one line each. */
const nulls = (sql: string): unknown[] => Array.from({ length: bindingsOf(sql) }, () => null);

async function plan(sql: string, values = nulls(sql)): Promise<string[]> {
  const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .bind(...values)
    .all<{ detail: string }>();
  return results.map(({ detail }) => detail).filter((detail) => /^(?:SEARCH|SCAN)/.test(detail));
}

const names = Object.keys(DIMENSIONS) as DimensionName[];
const pairs = names.flatMap((first) => names.map((second) => [first, second]));
const groupings = pairs
  .map(([first, second]) => [...new Set([first, second])] as DimensionName[])
  .filter((grouping) => rollupOf(grouping) !== undefined && !needsBlocks(grouping, {}));

const CUT = { kept: '[]', firstCut: null, total: 0 };
const DAYS = [0, 1, 7];

const OF_CREATIVES: ReportFilters = {
  campaign_id: ['cmp_1'],
  adset_id: ['ads_1'],
  creative_id: ['crt_1'],
  attribution: 'paid',
};

/** Every statement of the reports that these filters narrow. */
const statementsOf = (filters: ReportFilters) => {
  const ads = adsRows(filters);
  return [
    ...groupings.flatMap((grouping) =>
      sourcesOf(grouping, filters).flatMap((part) =>
        [null, CUT].map((cut) => ({
          name: `performance by ${grouping.join(', ')} from ${part.source.kind}${cut ? ', cut' : ''}`,
          sql: sumsSql(keyedPart(part, grouping, cut)),
        })),
      ),
    ),
    {
      name: 'the ranking of placements',
      sql: rankingSql(sourcesOf(['placement'], filters).slice(0, 1), ['placement']),
    },
    ...totalSources(filters).map((part) => ({
      name: `totals from ${part.source.kind}`,
      sql: sumsSql(part),
    })),
    ...([['day'], ['day', 'campaign'], ['adset'], ['creative', 'campaign']] as const).map((names) => ({
      name: `costs by ${names.join(', ')}`,
      sql: costsSql(names, filters),
    })),
    { name: 'days with costs', sql: costDaysSql(filters) },
    { name: 'retention', sql: activitySql(DAYS, rollupConditions(filters)) },
    { name: 'cohort revenue', sql: revenueSql(DAYS, rollupConditions(filters)) },
    { name: 'ads', sql: adsSql(false, ads) },
    { name: 'ads, cut', sql: adsSql(true, ads) },
    { name: 'the ranking of ads', sql: adsRankingSql(ads) },
  ];
};

const STATEMENTS = [
  ...statementsOf({}),
  ...statementsOf(OF_CREATIVES).map(({ name, sql }) => ({
    name: `${name}, of some creatives`,
    sql: numberFilters(sql, bindingsOf(sql) + 1),
  })),
];

it.each(STATEMENTS)('$name reads by the primary key', async ({ sql }) => {
  const lines = (await plan(sql)).filter(
    (detail) =>
      !/json_each|VIRTUAL TABLE|^(?:SCAN|SEARCH) rates\b|^SCAN (?:(?:times|asked|number|step|rated|rates|weights|networks)\b|\(subquery)/.test(
        detail,
      ),
  );
  // The names that costs are of are looked up one by one.
  const lookUps = lines.filter((detail) => /^\w+ (?:campaigns|adsets|creatives)\b/.test(detail));
  for (const lookUp of lookUps) expect(lookUp).toMatch(/^SEARCH \w+ USING (?:COVERING )?INDEX|PRIMARY KEY/);
  const rates = lines.filter((detail) => / exchange_rates /.test(detail));
  for (const rate of rates) expect(rate).toMatch(/USING PRIMARY KEY \(team_id=\? AND currency=\?/);
  const tables = lines.filter((detail) => ![...lookUps, ...rates].includes(detail));
  // What was acquired is read after a look whether anything was spent.
  expect(tables).toHaveLength(rates.length > 0 ? 2 : 1);
  for (const table of tables)
    expect(table).toMatch(/^SEARCH \w+ USING PRIMARY KEY \(application_id=\? AND \w+>\? AND \w+<\?\)/);
});

it('exchange rates are read by the primary key', async () => {
  const template = selectRates('team', ['eur'], '2026-03-01', '2026-03-02');
  const { sql, params } = new SQLiteAsyncDialect().sqlToQuery(template);
  const tables = (await plan(sql, params)).filter((detail) => !/VIRTUAL TABLE|^SCAN series/.test(detail));
  expect(tables).toHaveLength(3);
  for (const table of tables)
    expect(table).toMatch(/^SEARCH \w+ USING PRIMARY KEY \(team_id=\? AND currency=\?/);
});

it('cost the same, however many events the rollups sum up', async () => {
  const worker = startWorker();
  const read = async (events: number) => {
    const tenant = await createTenant();
    const token = await fetchToken(worker, tenant, { created_at: '2026-03-01T10:00:00Z' });
    for (let day = 1; day <= 9; day++) {
      const event = {
        type: 'custom.ad',
        created_at: `2026-03-0${day} 10:00:00`,
        creativeToken: token,
        payload: { ad_id: 'main', source: 'banner', value: 0.001, currency: 'usd' },
      };
      const answer = await worker.post(tenant, '/webhook/batch', { events: Array(events).fill(event) });
      expect(await answer.json()).toMatchObject({ accepted: events });
      await worker.deliver(worker.queue.take());
    }
    const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-09`;
    const { totals } = await (await worker.team(tenant, path)).json<{ totals: { impressions: number } }>();
    expect(totals.impressions).toBe(9 * events);
    const rows: number[] = [];
    const { id, teamId } = tenant.application;
    const asked = [id, '2026-03-01', '2026-03-09', 'usd', teamId, JSON.stringify([...CURRENCIES])];
    for (const part of [...sourcesOf(['day']), ...sourcesOf(['source', 'placement'])]) {
      const sql = sumsSql(part);
      const { meta } = await env.DB.prepare(sql)
        .bind(...asked.slice(0, bindingsOf(sql)))
        .run();
      rows.push(meta.rows_read);
    }
    return rows;
  };
  const [few, many] = [await read(1), await read(300)];
  expect(many).toEqual(few);
  expect(Math.max(...few)).toBeGreaterThan(8);
});
