import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { PerformanceQuery, reportPerformance } from '#reports';
import { createCreative } from '../helpers/creatives.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { addFigures } from '../helpers/figures.ts';
import { putCosts } from '../helpers/money.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { slowIt } from '../helpers/thorough.ts';
import { startWorker } from '../helpers/worker.ts';
import { sendHistory } from '../oracle/history.ts';

// Our own pages ask for some metrics of a report only, and pay for no others.

const worker = startWorker();
const NOW = Date.UTC(2026, 3, 20);
const PERIOD = { from: '2026-03-26', to: '2026-04-10' };

const asked = (tenant: Tenant, more: object) =>
  PerformanceQuery.parse({ application_id: tenant.application.id, ...PERIOD, ...more });

async function withHistory() {
  const tenant = await createTenant();
  const creativeTokens: string[] = [];
  for (const creative of ['Cat', 'Dog'])
    creativeTokens.push(
      (await createCreative(worker, tenant, { creative, adset: 'Set', campaign: 'Campaign' })).token,
    );
  const history = { creativeTokens, seed: 3, start: '2026-03-26', days: 9, devices: 40, zone: 'UTC' };
  await sendHistory(worker, tenant, { ...history, currencies: ['usd'] });
  await putCosts(worker, tenant, [{ date: '2026-03-27', campaign: 'Campaign', amount: 12.5 }]);
  return tenant;
}

slowIt(
  'computes the requested metrics as in the whole report, and reads nothing for the others',
  async () => {
    const tenant = await withHistory();
    for (const group_by of ['day', 'creative', 'country', 'media_source', 'campaign']) {
      const whole = await reportPerformance(env, tenant.application, asked(tenant, { group_by }), NOW);
      const db = new WatchedD1(env.DB);
      const noCounters = new Proxy({} as Env['COUNTERS'], {
        get: () => {
          throw new Error('A counter was asked');
        },
      });
      const metrics = ['ad_revenue', 'impressions'] as const;
      const query = { ...asked(tenant, { group_by }), metrics, totals: false };
      const some = await reportPerformance(
        { ...env, DB: db.asBinding(), COUNTERS: noCounters },
        tenant.application,
        query,
        NOW,
      );
      expect(db.log.some((sql) => /\b(?:costs|cohort_revenue)\b/.test(sql))).toBe(false);
      const key = (row: Record<string, unknown>) => JSON.stringify([row[group_by], row[`${group_by}_id`]]);
      const expected = new Map(whole.data.map((row) => [key(row), row]));
      expect(some.data.length).toBeGreaterThan(1);
      for (const row of some.data) {
        const { ad_revenue, impressions } = expected.get(key(row)) ?? {};
        expect(row).toMatchObject({ ad_revenue, impressions, revenue: null, roas: null, payers: null });
      }
      expect(Object.values(some.totals).every((value) => value === null)).toBe(true);
    }
  },
);

it.each([
  { groups: 200, rows: 200, other: 0 },
  { groups: 201, rows: 200, other: 1 },
  { groups: 403, rows: 200, other: 1 },
])('returns $rows rows of $groups groups, and sums up the rest', async ({ groups, rows, other }) => {
  const tenant = await createTenant();
  const events = Array.from({ length: groups }, (_, index) => ({
    ...{ day: '2026-03-27', event_name: `event ${index}`, creative_id: '' },
    custom_events: 1,
  }));
  await addFigures(env.DB, tenant.application.id, 'rollup_custom', events);
  const query = asked(tenant, { group_by: 'event_name', limit: 200 });
  const { data, total_rows } = await reportPerformance(env, tenant.application, query, NOW);
  expect(total_rows).toBe(groups);
  expect(data.filter((row) => !row.is_other)).toHaveLength(rows);
  expect(data.filter((row) => row.is_other)).toHaveLength(other);
  expect(data.reduce((sum, row) => sum + Number(row.events), 0)).toBe(groups);
});
