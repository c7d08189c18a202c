import { beforeAll, expect, it } from 'vitest';
import { envelope } from '../helpers/envelopes.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// A purchase of 10,000 under version 2.0, refunded under 3.0, of which 4,000 are put back under 4.0. Every figure is checked in test/oracle.

const worker = startWorker();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await createTenant();
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-01T10:00:00Z', app_version: '1.0' });
  const send = async (day: number, own: { status: string; value?: number }) => {
    const more = { created_at: `2026-03-0${day} 12:00:00`, app_version: `${day}.0` };
    const event = envelope.purchase(token, more, { tr_id: 'GPA.1', value: undefined, ...own });
    expect((await worker.post(tenant, '/webhook', event)).status).toBe(200);
    await worker.deliver(worker.queue.take());
    await settleAll(tenant.application.id);
  };
  await send(2, { status: 'completed', value: 10_000 });
  await send(3, { status: 'refunded' });
  await send(4, { status: 'refund_reversed', value: 4_000 });
});

async function rows(query: string) {
  const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-05&${query}`;
  const body: { data: Record<string, unknown>[] } = await (await worker.team(tenant, path)).json();
  return body.data
    .map(({ day, app_version, revenue, refunds, refunded_revenue, net_revenue }) => [
      ...[app_version ?? day, revenue, refunds, refunded_revenue, net_revenue],
    ])
    .filter(([, ...figures]) => figures.some((figure) => figure !== 0))
    .sort();
}

it('shows what was put back as negative on its day, and what remains on the day of the purchase', async () => {
  const expected = (name: (day: number) => string) => [
    [name(2), 10_000, 0, 0, 4_000],
    [name(3), 0, 1, 10_000, 0],
    [name(4), 0, 0, -4_000, 0],
  ];
  expect(await rows('group_by=day')).toEqual(expected((day) => `2026-03-0${day}`));
  expect(await rows('group_by=day&attribution=organic')).toEqual(expected((day) => `2026-03-0${day}`));
  expect(await rows('group_by=app_version')).toEqual(expected((day) => `${day}.0`));
});

it.each([
  ['gross', 'days=7', 10_000],
  ['net', 'days=7&net=true', 4_000],
])('shows LTV %s', async (_, query, expected) => {
  expect(await ltv(query)).toEqual({ revenue: expected, ltv: expected });
});

it('takes the fee of stores from net figures only', async () => {
  const path = `/v1/applications/${tenant.application.id}`;
  const body = { store_fee: 0.15 };
  expect((await worker.team(tenant, path, { method: 'PATCH', body })).status).toBe(200);
  expect(await rows('group_by=day')).toContainEqual(['2026-03-02', 10_000, 0, 0, 3_400]);
  expect(await ltv('days=7&net=true')).toEqual({ revenue: 3_400, ltv: 3_400 });
  expect(await ltv('days=7')).toEqual({ revenue: 10_000, ltv: 10_000 });
  expect((await worker.team(tenant, path, { method: 'PATCH', body: { store_fee: 0.12345 } })).status).toBe(
    400,
  );
});

it('takes refunds and the fee from comparisons, predictions and the metrics by day since the install', async () => {
  const get = async (name: string, query: string) => {
    const path = `/v1/reports/${name}?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-01&${query}`;
    return (await worker.team(tenant, path)).json<{ data: Record<string, unknown>[] }>();
  };
  const sides = 'by=period&b_from=2026-02-01&b_to=2026-02-02&days=7';
  const arpu = async (query: string) =>
    (await get('compare', `${sides}&${query}`)).data.find(({ metric }) => metric === 'arpu')?.a;
  expect([await arpu(''), await arpu('net=true')]).toEqual([10_000, 3_400]);
  const predicted = await get('predicted-ltv', 'net=true');
  expect(predicted).toMatchObject({ net: true, data: [{ purchase_revenue: 3_400, revenue: 3_400 }] });
  const columns = await get('performance', 'metrics=ltv_d7,ltv_net_d7,revenue,profit_net,arpdau_net');
  expect(columns.data).toMatchObject([{ ltv_d7: 10_000, ltv_net_d7: 3_400 }]);
});

async function ltv(query: string) {
  const path = `/v1/reports/ltv?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-01&${query}`;
  const body: { data: { days: Record<string, { revenue: number; ltv: number }> }[] } = await (
    await worker.team(tenant, path)
  ).json();
  const { revenue, ltv: value } = body.data[0]?.days['7'] ?? {};
  return { revenue, ltv: value };
}

it('counts a refund that finds nothing left to take back', async () => {
  const own = await createTenant();
  const token = await fetchToken(worker, own, { created_at: '2026-03-01T10:00:00Z' });
  const steps = [
    ['completed', '2026-03-02 12:00:00'],
    ['refunded', '2026-03-03 12:00:00'],
    ['refunded', '2026-03-03 13:00:00'],
  ] as const;
  for (const [status, created_at] of steps) {
    const value = status === 'completed' ? 10 : undefined;
    await worker.post(
      own,
      '/webhook',
      envelope.purchase(token, { created_at }, { tr_id: 'GPA.2', value, status }),
    );
  }
  await worker.deliver(worker.queue.take());
  await settleAll(own.application.id);
  const path = `/v1/reports/performance?application_id=${own.application.id}&from=2026-03-01&to=2026-03-05&group_by=month`;
  const { totals } = await (await worker.team(own, path)).json<{ totals: Record<string, unknown> }>();
  expect([totals.refunds, totals.refunded_revenue, totals.net_revenue]).toEqual([2, 10, 0]);
});
