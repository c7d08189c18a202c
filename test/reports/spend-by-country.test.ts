import { describe, expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { putCosts } from '../helpers/money.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const day = { date: '2026-03-02', campaign: 'Spring' };

type Report = {
  data: Record<string, unknown>[];
  totals: Record<string, unknown>;
  unallocated_spend?: unknown;
};

async function performance(tenant: Tenant, query: string): Promise<Report> {
  const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-31`;
  const answer = await worker.team(tenant, `${path}&${query}`);
  expect(answer.status, await answer.clone().text()).toBe(200);
  return answer.json();
}

describe('spend by country', () => {
  async function withSpend() {
    const tenant = await createTenant();
    const { token: creative_token } = await createCreative(worker, tenant, { campaign: 'Spring' });
    for (const country of ['DE', 'DE', 'US']) {
      await fetchToken(worker, tenant, {
        created_at: '2026-03-02T10:00:00Z',
        data: { country, creative_token, device_id: crypto.randomUUID() },
      });
    }
    await worker.deliver(worker.queue.take());
    await putCosts(worker, tenant, [
      { ...day, country: 'DE', amount: 5 },
      { ...day, country: 'US', os: 'ios', amount: 4 },
      { ...day, campaign: 'Autumn', amount: 3 },
      { ...day, campaign: 'Winter', os: 'ios', currency: 'eur', amount: 2 },
    ]);
    return tenant;
  }

  it('is in the row of each country, and what states none in a row of its own', async () => {
    const tenant = await withSpend();
    const { data, totals } = await performance(tenant, 'group_by=country');
    expect(data.map(({ country, spend, cpi }) => [country, spend, cpi])).toEqual([
      ['DE', 5, null],
      ['US', 4, null],
      ['unallocated', 3, null],
    ]);
    expect(totals.spend).toBe(12);
  });

  it('lists what a filter leaves out because the costs do not state it', async () => {
    const tenant = await withSpend();
    const unknown = [
      { currency: 'eur', amount: 2 },
      { currency: 'usd', amount: 3 },
    ];
    const german = await performance(tenant, 'group_by=day&country=de');
    expect([german.totals.spend, german.totals.cpi, german.unallocated_spend]).toEqual([5, null, unknown]);
    const both = await performance(tenant, 'group_by=day&country=us&os=ios');
    expect([both.totals.spend, both.unallocated_spend]).toEqual([4, unknown]);
    const android = await performance(tenant, 'group_by=day&country=de&os=android');
    expect(android.unallocated_spend).toEqual([...unknown.slice(1).map((one) => ({ ...one, amount: 8 }))]);
    const withUnknown = await performance(tenant, 'group_by=day&country=de&country=unknown');
    expect(withUnknown.totals.spend).toBe(8);
    expect(withUnknown).not.toHaveProperty('unallocated_spend');
    expect(await performance(tenant, 'group_by=day')).not.toHaveProperty('unallocated_spend');
  });
});
