import { env } from 'cloudflare:workers';
import { type SQL, sql } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { database, toStatement } from '#db';
import { selectRates } from '#money';
import { adsRankingSql, adsSql } from '../../src/reports/ads.ts';
import { activitySql } from '../../src/reports/cohort-scan.ts';
import { costDaysSql, costsSql } from '../../src/reports/cost-scan.ts';
import { keyedPart, rankingSql } from '../../src/reports/cut.ts';
import { DIMENSIONS, type DimensionName, needsBlocks, rollupOf } from '../../src/reports/dimensions.ts';
import { revenueSql } from '../../src/reports/ltv.ts';
import type { ReportFilters } from '../../src/reports/query.ts';
import { sourcesOf, totalSources } from '../../src/reports/sources.ts';
import { sumsSql } from '../../src/reports/sums.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

/** How SQLite would read the tables of a statement, one line each. */
async function plan(template: SQL): Promise<string[]> {
  const lines = await database(env.DB).all<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${template}`);
  return lines.map(({ detail }) => detail).filter((detail) => /^(?:SEARCH|SCAN)/.test(detail));
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

const PERIOD = { applicationId: 'app', from: '2026-03-01', to: '2026-03-09' };
const RANKED = { rates: { usd: 1, eur: 1.1 }, limit: 10, q: 'a' };

/** Every statement of the reports that these filters narrow. */
const statementsOf = (filters: ReportFilters) => {
  const asked = { ...PERIOD, teamId: 'team', reporting: 'usd', filters };
  return [
    ...groupings.flatMap((grouping) =>
      sourcesOf(grouping).flatMap((part) =>
        [null, CUT].map((cut) => ({
          name: `performance by ${grouping.join(', ')} from ${part.source.kind}${cut ? ', cut' : ''}`,
          template: sumsSql(keyedPart(part, grouping, cut), asked),
        })),
      ),
    ),
    {
      name: 'the ranking of placements',
      template: rankingSql(sourcesOf(['placement']).slice(0, 1), ['placement'], { ...asked, ...RANKED }),
    },
    ...totalSources().map((part) => ({
      name: `totals from ${part.source.kind}`,
      template: sumsSql(part, asked),
    })),
    ...([['day'], ['day', 'campaign'], ['adset'], ['creative', 'campaign']] as const).map((names) => ({
      name: `costs by ${names.join(', ')}`,
      template: costsSql({ ...asked, names }),
    })),
    { name: 'days with costs', template: costDaysSql(asked) },
    { name: 'retention', template: activitySql(DAYS, asked) },
    { name: 'cohort revenue', template: revenueSql(7, asked) },
    { name: 'ads', template: adsSql(null, asked) },
    { name: 'ads, cut', template: adsSql(CUT, asked) },
    { name: 'the ranking of ads', template: adsRankingSql({ ...asked, ...RANKED }) },
  ];
};

const STATEMENTS = [
  ...statementsOf({}),
  ...statementsOf(OF_CREATIVES).map(({ name, template }) => ({
    name: `${name}, of some creatives`,
    template,
  })),
];

it.each(STATEMENTS)('$name reads by the primary key', async ({ template }) => {
  const lines = (await plan(template)).filter(
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
  // What was acquired is read after a look whether anything was spent, on whatever creative.
  if (rates.length > 0) expect(lookUps).toEqual([]);
  expect(tables).toHaveLength(rates.length > 0 ? 2 : 1);
  for (const table of tables)
    expect(table).toMatch(/^SEARCH \w+ USING PRIMARY KEY \(application_id=\? AND \w+>\? AND \w+<\?\)/);
});

it('exchange rates are read by the primary key', async () => {
  const template = selectRates('team', ['eur'], '2026-03-01', '2026-03-02');
  const tables = (await plan(template)).filter((detail) => !/VIRTUAL TABLE|^SCAN series/.test(detail));
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
    const asked = { ...PERIOD, applicationId: id, teamId, reporting: 'usd', filters: {} };
    for (const part of [...sourcesOf(['day']), ...sourcesOf(['source', 'placement'])]) {
      const { meta } = await toStatement(env.DB, sumsSql(part, asked)).run();
      rows.push(meta.rows_read);
    }
    return rows;
  };
  const [few, many] = [await read(1), await read(300)];
  expect(many).toEqual(few);
  expect(Math.max(...few)).toBeGreaterThan(8);
});
