import { beforeAll, expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { putCosts } from '../helpers/money.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// 20 were spent on a device that earned 10, while an organic one earned 30.

const worker = startWorker();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await createTenant();
  const { token } = await createCreative(worker, tenant, { campaign: 'Spring' });
  for (const [creative_token, value] of [
    [token, 10],
    [undefined, 30],
  ] as const) {
    const data = { creative_token, device_id: crypto.randomUUID() };
    const device = await fetchToken(worker, tenant, { created_at: '2026-03-02T10:00:00Z', data });
    const at = { created_at: '2026-03-02 11:00:00' };
    await worker.post(tenant, '/webhook', envelope.purchase(device, at, { value, currency: 'usd' }));
  }
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
  await putCosts(worker, tenant, [{ date: '2026-03-02', campaign: 'Spring', amount: 20 }]);
});

const path = (report: string, query: string) =>
  `/v1/reports/${report}?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-07&${query}`;
async function ask<Answer>(report: string, query: string): Promise<Answer> {
  const answer = await worker.team(tenant, path(report, query));
  expect(answer.status, await answer.clone().text()).toBe(200);
  return answer.json();
}
type Performance = { basis: string; totals: Record<string, unknown> };
type Ltv = {
  basis: string;
  totals: { payback_day: number | null; days: Record<string, Record<string, unknown>> };
};

const PAID = { installs: 2, revenue: 40, roas: 0.5, roas_d0: 0.5, cpi: 20, profit: 20, profit_d0: -10 };
it.each([
  ['', 'paid', PAID],
  ['&attribution=all', 'blended', { ...PAID, roas: 2, roas_d0: 2, cpi: 10, profit_d0: 20 }],
  ['&attribution=paid', 'paid', { ...PAID, installs: 1, revenue: 10, profit: -10 }],
  [
    '&attribution=organic',
    'paid',
    { ...PAID, installs: 1, revenue: 30, roas: null, roas_d0: null, cpi: null, profit: 30, profit_d0: 0 },
  ],
])('performance with “%s” is %s', async (attribution, basis, expected) => {
  const metrics = Object.keys(PAID).join(',');
  for (const group of ['month', 'day']) {
    const answer = await ask<Performance>(
      'performance',
      `group_by=${group}&metrics=${metrics}${attribution}`,
    );
    expect([answer.basis, answer.totals]).toEqual([basis, expect.objectContaining(expected)]);
  }
});

it.each([
  ['', 'paid', 0.5, null],
  ['&attribution=paid', 'paid', 0.5, null],
  ['&attribution=all', 'blended', 2, 0],
])('LTV with “%s” is %s', async (attribution, basis, roas, payback_day) => {
  const answer = await ask<Ltv>('ltv', `days=0${attribution}`);
  const earned = attribution === '&attribution=paid' ? 10 : 20;
  expect([answer.basis, answer.totals.days['0']?.roas, answer.totals.days['0']?.ltv]).toEqual([
    basis,
    roas,
    earned,
  ]);
  expect(answer.totals.payback_day).toBe(payback_day);
});

it('names a file after whose figures it has', async () => {
  const nameOf = async (query: string) =>
    (await worker.team(tenant, path('performance', `format=csv${query}`))).headers;
  expect((await nameOf('')).get('Content-Disposition')).not.toContain('all');
  const blended = await nameOf('&attribution=all');
  expect(blended.get('Content-Disposition')).toMatch(/-all-2026-03-01/);
  expect(blended.get('X-Basis')).toBe('blended');
});

it('refuses another word', async () => {
  const answer = await worker.team(tenant, path('performance', 'attribution=blended'));
  expect([answer.status, await answer.text()]).toEqual([
    400,
    expect.stringContaining('attribution must be paid, organic or all'),
  ]);
});

it('is one choice that pages keep, and that their heads name', async () => {
  const browser = await signedIn(worker, tenant.team, 'viewer');
  const open = async (page: string, query: string) =>
    pageOf(
      await browser.get(
        `${page}?app=${tenant.application.id}&from=2026-03-01&to=2026-03-07&compare=none${query}`,
      ),
    );
  const unitsOf = (page: Awaited<ReturnType<typeof open>>) =>
    page.all('thead [data-unit]').map((head) => `${head.text} ${head.getAttribute('data-unit')}`);
  const plain = await open('/breakdown', '&by=campaign');
  expect(unitsOf(plain)).toEqual(
    expect.arrayContaining(['ROAS paid, cohort', 'Profit USD, period', 'CPI USD, paid']),
  );
  const all = await open('/breakdown', '&by=campaign&attribution=all');
  expect(unitsOf(all)).toEqual(expect.arrayContaining(['ROAS blended, cohort', 'CPI USD, blended']));
  expect(all.query('Paid').attribution).toBe('paid');
  expect(all.query('LTV and ROAS').attribution).toBe('all');
  const ltv = await open('/ltv', '&attribution=all');
  expect(ltv.text).toContain('Blended: what all devices have earned');
});
