import { beforeAll, expect, it } from 'vitest';
import { envelope } from '../helpers/envelopes.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Two purchases and two refunds, all in one second and of one amount. Of each, one is sent twice.

const worker = startWorker();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await createTenant();
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-01T10:00:00Z' });
  const send = async (event_id: string, own: { status: string; tr_id: string; value: number }) => {
    const event = envelope.purchase(token, { created_at: '2026-03-01 12:00:00', event_id }, own);
    expect((await worker.post(tenant, '/webhook', event)).status).toBe(200);
    await worker.deliver(worker.queue.take());
  };
  for (const event_id of ['first', 'first', 'second']) {
    await send(event_id, { status: 'completed', tr_id: event_id, value: 10 });
  }
  for (const event_id of ['part', 'part', 'equal part']) {
    await send(event_id, { status: 'refunded', tr_id: 'first', value: 3 });
  }
  await settleAll(tenant.application.id);
});

async function ask<Body>(report: string, query = ''): Promise<Body> {
  const period = 'from=2026-03-01&to=2026-03-01';
  const path = `/v1/reports/${report}?application_id=${tenant.application.id}&${period}${query}`;
  const answer = await worker.team(tenant, path);
  expect(answer.status).toBe(200);
  return await answer.json();
}

it('are steps of a funnel each, and those sent twice are one', async () => {
  const { data } = await ask<{ data: { step: string; devices: number }[] }>(
    'funnel',
    '&steps=install,purchase,purchase,purchase',
  );
  expect(data.map(({ devices }) => devices)).toEqual([1, 1, 1, 0]);
});

it('take back what each refund names', async () => {
  const { totals } = await ask<{ totals: object }>('performance');
  expect(totals).toMatchObject({ purchases: 2, refunds: 2, refunded_revenue: 6, net_revenue: 14 });
});
