import { beforeAll, expect, it } from 'vitest';
import { envelope } from '../helpers/envelopes.ts';
import { putCosts } from '../helpers/money.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchTokenBatch, startWorker } from '../helpers/worker.ts';

// Three organic devices of 1 March. The first comes back on the 28th, the second on the 29th, and pays; the third never does. test/oracle has every
// grouping, and payers of attributed devices.

const worker = startWorker();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await createTenant();
  const created_at = '2026-03-01T09:00:00Z';
  const tokens = await fetchTokenBatch(
    worker,
    tenant,
    Array.from({ length: 3 }, () => ({ created_at, app_version: '1.0' })),
  );
  const events = [
    envelope.ad(tokens[0] ?? '', { created_at: '2026-03-28 10:00:00', event_id: 'a' }),
    envelope.purchase(tokens[1] ?? '', { created_at: '2026-03-29 10:00:00', event_id: 'b' }, { value: 5 }),
  ];
  expect((await worker.post(tenant, '/webhook/batch', { events })).status).toBe(200);
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
  await putCosts(worker, tenant, [{ date: '2026-03-01', campaign: 'Any', amount: 10 }]);
});

const METRICS = ['mau', 'stickiness', 'payer_rate', 'cost_per_payer'];

async function ask(query: string, period = 'from=2026-03-01&to=2026-03-30') {
  const path = `/v1/reports/performance?application_id=${tenant.application.id}&${period}&${query}`;
  const answer = await worker.team(tenant, path);
  expect(answer.status).toBe(200);
  return answer;
}
type Answer = { data: Record<string, unknown>[]; totals: Record<string, unknown> };
const asked = async (query: string, period?: string): Promise<Answer> =>
  (await ask(`metrics=${METRICS}&${query}`, period)).json();

it('count the devices of 28 days, the last one included', async () => {
  const { data } = await asked('group_by=day');
  // On the 28th, 1 March is the first of the days; on the 29th it is none of them.
  expect(data.map((row) => [row.day, row.mau, row.stickiness, row.payer_rate])).toEqual([
    ['2026-03-01', 3, 1, 0],
    ['2026-03-28', 3, 1 / 3, 0],
    ['2026-03-29', 2, 1 / 2, 1],
  ]);
  const { totals } = await asked('group_by=day', 'from=2026-03-29&to=2026-03-30');
  expect(totals).toEqual({ mau: 2, stickiness: 1 / 4, payer_rate: 1, cost_per_payer: null });
  expect((await asked('group_by=day', 'from=2026-03-01&to=2026-03-28')).totals.mau).toBe(3);
});

it('know no cost of payers where none of them is attributed', async () => {
  const { totals } = await asked('group_by=day');
  expect(totals).toMatchObject({ payer_rate: 1 / 3, cost_per_payer: null });
  const spend = await (await ask('group_by=day&metrics=spend')).json<Answer>();
  expect(spend.totals.spend).toBe(10);
});

it.each([
  ['by version', 'group_by=app_version'],
  ['by day and version', 'group_by=day,app_version'],
  ['of a version', 'group_by=day&app_version=1.0'],
  ['by day and creative', 'group_by=day,creative'],
  ['by ad format', 'group_by=source'],
])('are unknown %s', async (_, query) => {
  const { data } = await (await ask(`${query}&metrics=${METRICS},installs,impressions`)).json<Answer>();
  expect(data.length).toBeGreaterThan(0);
  for (const row of data) for (const name of METRICS) expect(row[name]).toBeNull();
});

it('are unknown in the row of other days, whose devices may be in other rows', async () => {
  const { data } = await asked('group_by=day&limit=1');
  const other = data.find((row) => row.is_other);
  expect(other).toMatchObject({ mau: null, stickiness: null, payer_rate: null, cost_per_payer: null });
});

it('are in an answer only if they are asked for, and then in its file too', async () => {
  const { totals } = await (await ask('group_by=day')).json<Answer>();
  expect(Object.keys(totals)).not.toEqual(expect.arrayContaining(['mau']));
  const csv = await (await ask(`group_by=month&format=csv&metrics=${METRICS}`)).text();
  expect(csv.trim().split('\r\n').at(-1)).toMatch(/^2026-03,2,/);
});
