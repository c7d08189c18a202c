import { expect, it } from 'vitest';
import { envelope } from '../helpers/envelopes.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const DAY = '2026-03-02';

async function rowsOf(tenant: Tenant, query: string) {
  const period = `application_id=${tenant.application.id}&from=2026-03-01&to=${DAY}&currency=usd`;
  const answer = await worker.team(tenant, `/v1/reports/${query}&${period}`);
  const { data } = await answer.json<{ data: Record<string, unknown>[] }>();
  return data;
}

it('joins the names of a network where reports group, and keeps what was sent', async () => {
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant, { created_at: `${DAY}T08:00:00.000Z` });
  const names = ['APPLOVIN_BIDDING', 'applovin', 'AppLovin', 'Google AdMob', 'admob', 'Own Network', 'max'];
  for (const media_source of names)
    await worker.post(tenant, '/webhook', envelope.ad(token, {}, { media_source }));
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
  const wanted = [
    ['admob', 2],
    ['applovin', 3],
    ['max', 1],
    ['own network', 1],
  ];
  for (const report of ['performance?group_by=media_source', 'ads?limit=100']) {
    const rows = (await rowsOf(tenant, report)).filter(({ impressions }) => impressions !== 0);
    expect(rows.map((row) => [row.media_source, row.impressions]).sort()).toEqual(wanted);
  }
  const listed = await worker.team(
    tenant,
    `/v1/events?application_id=${tenant.application.id}&type=custom.ad`,
  );
  const { data } = await listed.json<{ data: { media_source: string }[] }>();
  expect(data.map(({ media_source }) => media_source).sort()).toEqual(
    names.map((name) => name.toLowerCase()).sort(),
  );
});

it('joins the networks of costs that were stored under other names, also by a filter', async () => {
  const tenant = await createTenant();
  const cost = (network: string, amount: number) => ({
    ...{ date: DAY, campaign: 'Spring', network, currency: 'usd', amount },
  });
  const rows = [cost('Unity Ads', 1), cost('UNITY_BIDDING', 2), cost('unityads_int', 4), cost('Other', 8)];
  for (const [index, row] of rows.entries()) {
    const body = { application_id: tenant.application.id, rows: [{ ...row, campaign: `C${index}` }] };
    expect((await worker.team(tenant, '/v1/costs', { method: 'PUT', body })).status).toBe(200);
  }
  const spendOf = (data: Record<string, unknown>[]) => data.map((row) => [row.network, row.spend]);
  expect(spendOf(await rowsOf(tenant, 'performance?group_by=network')).sort()).toEqual([
    ['other', 8],
    ['unity_ads', 7],
  ]);
  expect(spendOf(await rowsOf(tenant, 'performance?group_by=network&network=Unity%20Ads'))).toEqual([
    ['unity_ads', 7],
  ]);
});
