import { expect, it } from 'vitest';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

it('counts an ad view that a backend posted', async () => {
  const worker = startWorker();
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-01T10:00:00.000Z' });
  const answer = await worker.post(tenant, '/webhook', {
    type: 'custom.ad',
    created_at: '2026-03-02 10:00:00',
    creativeToken: token,
    payload: { ad_id: 'main', source: 'banner', value: 0.002, currency: 'usd' },
  });
  expect(answer.status).toBe(200);
  await worker.deliver(worker.queue.take());
  const report = await worker.team(
    tenant,
    `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-02`,
  );
  expect(await report.json()).toMatchObject({
    totals: { installs: 1, impressions: 1, ad_revenue: 0.002, ecpm: 2, dau: 1 },
  });
});
