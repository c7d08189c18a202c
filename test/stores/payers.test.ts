import { beforeAll, expect, it } from 'vitest';
import { envelope } from '../helpers/envelopes.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Eight devices. Four pay 8 each: two tell of it themselves, of two only the store does. Of two further payments, the client and the store tell, in both
// orders; and one payment is of nobody that is known.

const AUTHORIZATION = 'Bearer rc_0123456789abcdef';
const worker = startWorker();
let tenant: Tenant;

async function deliver(): Promise<void> {
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
}

beforeAll(async () => {
  tenant = await createTenant({ revenuecat_authorization: AUTHORIZATION });
  const made = await worker.team(tenant, `/v1/applications/${tenant.application.id}/intake-secret`, {
    method: 'POST',
    body: {},
  });
  const { intake_secret: secret } = await made.json<{ intake_secret: string }>();
  const tokens: string[] = [];
  for (let index = 0; index < 8; index++) {
    const data = { device_id: `phone_${index}` };
    tokens.push(
      await fetchToken(worker, tenant, { created_at: '2026-03-01T09:00:00Z', app_version: '1.0', data }),
    );
  }
  await deliver();
  const visit = (index: number) =>
    worker.post(
      tenant,
      '/webhook',
      envelope.ad(tokens[index] ?? '', { created_at: '2026-03-02 09:00:00', app_version: '2.0' }),
    );
  for (let index = 0; index < 8; index++) await visit(index);
  await deliver();
  const store = async (index: number | null, second: string, more: object = {}) => {
    const event = {
      ...{
        id: `notice_${index}`,
        type: 'INITIAL_PURCHASE',
        environment: 'PRODUCTION',
        period_type: 'NORMAL',
      },
      ...{ purchased_at_ms: Date.parse(`2026-03-03T10:00:${second}Z`), transaction_id: `t${index}` },
      ...{ product_id: 'gold', price: 8, price_in_purchased_currency: 8, currency: 'USD' },
      ...{ app_user_id: index === null ? 'nobody' : `phone_${index}`, ...more },
    };
    const answer = await worker.request(`/stores/revenuecat/${secret}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: AUTHORIZATION },
      body: JSON.stringify({ api_version: '1.0', event }),
    });
    expect(answer.status).toBe(200);
    await deliver();
  };
  const client = async (index: number) => {
    const more = { created_at: '2026-03-03 10:00:00', app_version: '2.0' };
    const purchase = envelope.purchase(tokens[index] ?? '', more, { value: 8, tr_id: `t${index}` });
    expect((await worker.post(tenant, '/webhook', purchase)).status).toBe(200);
    await deliver();
  };
  await client(0);
  await client(1);
  await store(2, '07');
  await store(3, '07');
  await client(4);
  await store(4, '05');
  await store(5, '05');
  await client(5);
  await store(null, '07');
});

async function ask<Body>(report: string, query = ''): Promise<Body> {
  const period = 'from=2026-03-01&to=2026-03-05';
  const path = `/v1/reports/${report}?application_id=${tenant.application.id}&${period}${query}`;
  const answer = await worker.team(tenant, path);
  expect(answer.status).toBe(200);
  return await answer.json();
}
type Rows = { data: Record<string, unknown>[] };

it('make their devices payers, under the version of the time', async () => {
  const { totals } = await ask<{ totals: object }>('performance', '&group_by=app_version');
  expect(totals).toMatchObject({ payers: 6, purchases: 7, purchase_revenue: 56 });
  const { data } = await ask<Rows>('performance', '&group_by=day,app_version');
  const paid = data.filter(({ purchases }) => Number(purchases) > 0);
  expect(paid.map((row) => [row.day, row.app_version, row.payers, row.purchase_revenue])).toEqual([
    ['2026-03-03', null, 0, 8],
    ['2026-03-03', '2.0', 6, 48],
  ]);
});

it('are in the cohort of their device', async () => {
  const { data } = await ask<Rows>('ltv', '&group_by=app_version&days=2');
  expect(data.map((row) => [row.app_version, row.size, row.days])).toEqual([
    ['1.0', 8, { 2: expect.objectContaining({ eligible: 8, revenue: expect.closeTo(48.016, 9) }) }],
  ]);
});

it('are one purchase each in funnels, whoever tells of them first', async () => {
  const { data } = await ask<Rows>('funnel', '&steps=install,purchase,purchase');
  expect(data.map(({ devices }) => devices)).toEqual([8, 6, 0]);
});

it('are conversions', async () => {
  const { data } = await ask<Rows>('compare', '&by=period&b_from=2026-03-01&b_to=2026-03-01&days=1,2');
  const conversions = data.filter(({ metric }) => metric === 'conversion');
  expect(conversions.map(({ day, a_devices, a_count }) => [day, a_devices, a_count])).toEqual([
    [1, 8, 0],
    [2, 8, 6],
  ]);
});

it('are in what predictions know', async () => {
  const { data } = await ask<Rows>('predicted-ltv');
  expect(data).toEqual([expect.objectContaining({ size: 8, payers: 6, purchase_revenue: 48 })]);
});
