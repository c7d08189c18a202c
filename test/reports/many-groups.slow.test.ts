import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { addFigures } from '../helpers/figures.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// A report with far more groups than rows: see cut.test.ts.

type Row = Record<string, string | number | boolean | null>;

const PERIOD = 'from=2026-03-26&to=2026-04-10';
const worker = startWorker();

async function report(query: string, tenant: Tenant) {
  const path = `/v1/reports/performance?application_id=${tenant.application.id}&${PERIOD}&${query}`;
  const answer = await worker.team(tenant, path);
  expect(answer.status, query).toBe(200);
  return await answer.json<{ data: Row[]; total_rows: number }>();
}

it('returns a thousand rows for 20,000 placements, with exact figures', async () => {
  const tenant = await createTenant();
  const key = {
    day: '2026-04-01',
    source: 'banner',
    media_source: 'admob',
    creative_id: '',
    currency: 'usd',
  };
  // A run adds at most a few thousand rows at once.
  for (let first = 1; first <= 20_000; first += 5_000) {
    const placements = Array.from({ length: 5_000 }, (_, index) => first + index);
    const rows = placements.map((number) => ({
      ...{ ...key, placement: String(number).padStart(200, '0') },
      impressions: number,
      ad_revenue: number * 1_000_000_000,
    }));
    await addFigures(env.DB, tenant.application.id, 'rollup_ads', rows);
  }
  const path = `/v1/reports/performance?application_id=${tenant.application.id}&${PERIOD}&group_by=placement`;
  for (const format of ['json', 'csv']) {
    const answer = await worker.team(tenant, `${path}&format=${format}`);
    expect(answer.status).toBe(200);
    expect((await answer.arrayBuffer()).byteLength).toBeLessThan(1_000_000);
  }
  const { data, total_rows } = await report('group_by=placement', tenant);
  expect(total_rows).toBe(20_000);
  expect(data).toHaveLength(1_001);
  expect(data[0]).toMatchObject({ placement: String(19_001).padStart(200, '0'), ad_revenue: 19_001 });
  const rest = (19_000 * 19_001) / 2;
  expect(data.at(-1)).toMatchObject({ is_other: true, impressions: rest, ad_revenue: rest, ecpm: 1000 });
  // The largest of 777 and 7770 to 7779.
  const [found] = (await report('group_by=placement&q=000777&limit=1', tenant)).data;
  expect(found).toMatchObject({ placement: String(7_779).padStart(200, '0'), ad_revenue: 7_779 });
});
