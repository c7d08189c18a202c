import { env } from 'cloudflare:workers';
import { type SQL, sql } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { database } from '#db';
import { selectRates } from '#money';
import { REPORT_DIMENSIONS } from '../../src/reports/dimensions.ts';
import { costDaysSql, costsSql } from '../../src/reports/engine/cost-scan.ts';
import { statedDaysSql } from '../../src/reports/engine/stated-impressions.ts';
import type { ReportFilters } from '../../src/reports/query.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

/** How SQLite would read the tables of a statement, one line each. */
async function plan(template: SQL): Promise<string[]> {
  const lines = await database(env.DB).all<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${template}`);
  return lines.map(({ detail }) => detail).filter((detail) => /^(?:SEARCH|SCAN)/.test(detail));
}

const OF_CREATIVES: ReportFilters = {
  campaign_id: ['cmp_1'],
  adset_id: ['ads_1'],
  creative_id: ['crt_1'],
  attribution: 'paid',
};

const PERIOD = { applicationId: 'app', from: '2026-03-01', to: '2026-03-09' };
const BY_NAMES = [['day'], ['day', 'campaign'], ['adset'], ['creative', 'campaign']] as const;

/** Every statement that reads costs. */
const COSTS = [{}, OF_CREATIVES].flatMap((filters) => {
  const asked = { ...PERIOD, reporting: 'usd', filters };
  return [
    ...BY_NAMES.map((names) => ({
      name: `costs by ${names.join(', ')}`,
      template: costsSql({ ...asked, names }),
    })),
    { name: 'days with costs', template: costDaysSql(asked) },
  ];
});

it.each(COSTS)('$name reads by the primary key', async ({ template }) => {
  const lines = (await plan(template)).filter(
    (detail) => !/json_each|VIRTUAL TABLE|^SCAN \(subquery/.test(detail),
  );
  // The names that costs are of are looked up one by one.
  const lookUps = lines.filter((detail) => /^\w+ (?:campaigns|adsets|creatives)\b/.test(detail));
  for (const lookUp of lookUps) expect(lookUp).toMatch(/^SEARCH \w+ USING (?:COVERING )?INDEX|PRIMARY KEY/);
  const tables = lines.filter((detail) => !lookUps.includes(detail));
  expect(tables).toEqual([
    expect.stringMatching(/^SEARCH costs USING PRIMARY KEY \(application_id=\? AND day>\? AND day<\?\)/),
  ]);
});

it('impressions that costs state are read by the primary key, of days with impressions of links', async () => {
  const lines = await plan(statedDaysSql(PERIOD));
  const byPeriod = String.raw`PRIMARY KEY \(application_id=\? AND day`;
  expect(lines).toEqual([
    expect.stringMatching(`^SEARCH rollup_daily USING ${byPeriod}>\\? AND day<\\?\\)`),
    expect.stringMatching(/^SCAN reported/),
    expect.stringMatching(`^SEARCH costs USING ${byPeriod}=\\?`),
    expect.stringMatching(/^SEARCH campaigns USING (?:COVERING )?INDEX campaigns_by_name/),
    expect.stringMatching(/^SEARCH adsets USING (?:COVERING )?INDEX adsets_by_name/),
    expect.stringMatching(/^SEARCH creatives USING (?:COVERING )?INDEX creatives_by_adset/),
  ]);
});

it('exchange rates are read by the primary key', async () => {
  const template = selectRates('team', ['eur'], '2026-03-01', '2026-03-02');
  const tables = (await plan(template)).filter((detail) => !/VIRTUAL TABLE|^SCAN series/.test(detail));
  expect(tables).toHaveLength(3);
  for (const table of tables)
    expect(table).toMatch(/^SEARCH \w+ USING PRIMARY KEY \(team_id=\? AND currency=\?/);
});

/** Nine days of events, of which each was added by a run of its own. */
async function withEvents(worker: ReturnType<typeof startWorker>, events: number): Promise<Tenant> {
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
  return tenant;
}

const reportOf = (tenant: Tenant, query = '') =>
  `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-09${query}`;

it('parts of the cube are read by the primary key, by any grouping', async () => {
  const watched = new WatchedD1(env.DB);
  const worker = startWorker({ DB: watched.asBinding() });
  const tenant = await withEvents(worker, 1);
  const before = watched.log.length;
  for (const name of Object.keys(REPORT_DIMENSIONS)) {
    if (name === 'hour') continue;
    const answer = await worker.team(tenant, reportOf(tenant, `&group_by=${name}`));
    expect(answer.status).toBe(200);
  }
  const statements = new Set(watched.log.slice(before).filter((statement) => /cube_parts/.test(statement)));
  expect(statements.size).toBeGreaterThanOrEqual(2);
  for (const statement of statements) {
    const values = statement.match(/\?/g)?.map(() => null) ?? [];
    const explained = env.DB.prepare(`EXPLAIN QUERY PLAN ${statement}`).bind(...values);
    const { results } = await explained.all<{ detail: string }>();
    const tables = results.map(({ detail }) => detail).filter((detail) => / cube_parts /.test(detail));
    expect(tables).toEqual([
      expect.stringMatching(
        /^SEARCH cube_parts USING (?:PRIMARY KEY|INDEX \S+) \(application_id=\? AND rollup=\? AND grain=\? AND to_day[>=]\?/,
      ),
    ]);
  }
});

it('cost the same, however many events the parts sum up', async () => {
  const worker = startWorker();
  const read = async (events: number) => {
    const tenant = await withEvents(worker, events);
    const answer = await worker.team(tenant, reportOf(tenant));
    const { totals } = await answer.json<{ totals: { impressions: number } }>();
    expect(totals.impressions).toBe(9 * events);
    const { results } = await env.DB.prepare(
      `SELECT rollup, grain, rows FROM cube_parts WHERE application_id = ? AND replaced_at IS NULL
        ORDER BY rollup, grain, to_day, rows`,
    )
      .bind(tenant.application.id)
      .all();
    return results;
  };
  const [few, many] = [await read(1), await read(300)];
  expect(many).toEqual(few);
  expect(few.length).toBeGreaterThan(8);
});
