import { env } from 'cloudflare:workers';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { envelope } from '../helpers/envelopes.ts';
import { addFigures } from '../helpers/figures.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Reports by hour where clocks are set back, and how far back they go. Every figure is checked in test/oracle/hours.slow.test.ts.

const worker = startWorker();
let tenant: Tenant;

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-10-26T12:00:00+01:00') });
  tenant = await createTenant({ timezone: 'Europe/Berlin' });
  const token = await fetchToken(worker, tenant, { created_at: '2026-10-24T22:10:00Z' });
  // Berlin's clocks go from 02:59:59 back to 02:00 at 01:00 UTC.
  const times = ['2026-10-25 00:30:00', '2026-10-25 01:10:00', '2026-10-25 01:50:00', '2026-10-25 02:10:00'];
  const events = times.map((created_at) => envelope.custom(token, { created_at }));
  await worker.post(tenant, '/webhook/batch', { events });
  await worker.deliver(worker.queue.take());
});
afterAll(() => {
  vi.useRealTimers();
});

async function report(query: string, of = tenant) {
  const path = `/v1/reports/performance?application_id=${of.application.id}&${query}`;
  const answer = await worker.team(of, path);
  const body = (await answer.json()) as { data: Record<string, unknown>[]; message?: string };
  return { status: answer.status, ...body };
}

it('has two rows for a repeated hour, the earlier first', async () => {
  const { data } = await report('from=2026-10-25&to=2026-10-25&group_by=hour');
  expect(data.map(({ hour, installs, events }) => [hour, installs, events])).toEqual([
    ['2026-10-25T00:00:00+02:00', 1, 0],
    ['2026-10-25T02:00:00+02:00', 0, 1],
    ['2026-10-25T02:00:00+01:00', 0, 2],
    ['2026-10-25T03:00:00+01:00', 0, 1],
  ]);
});

it('counts both until the following hour', async () => {
  const until = async (hour: number) =>
    (await report(`from=2026-10-25&to=2026-10-25&until_hour=${hour}`)).data[0]?.events;
  expect([await until(2), await until(3), await until(4)]).toEqual([0, 3, 4]);
});

it('returns CSV with unformatted hours', async () => {
  const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-10-25&to=2026-10-25&group_by=hour&format=csv`;
  const [head, first] = (await (await worker.team(tenant, path)).text()).split('\r\n');
  expect(head).toMatch(/^hour,clicks,installs,/);
  expect(first).toMatch(/^2026-10-25T00:00:00\+02:00,0,1,/);
});

it('covers 32 days, and refuses earlier ones with a reason', async () => {
  const message = 'must not be before 2026-09-24: figures by hour are kept for 32 days';
  expect((await report('from=2026-09-24&to=2026-10-25&group_by=hour')).status).toBe(200);
  expect(await report('from=2026-09-23&to=2026-10-25&group_by=hour')).toEqual({
    status: 400,
    message: `from ${message}`,
  });
  // Only the last day needs hours there.
  expect((await report('from=2026-01-01&to=2026-09-24&until_hour=9')).status).toBe(200);
  expect(await report('from=2026-01-01&to=2026-09-23&until_hour=9')).toEqual({
    status: 400,
    message: `to ${message}`,
  });
});

it('has the latest `limit` hours, and the rest in one row', async () => {
  const { data } = await report('from=2026-10-25&to=2026-10-25&group_by=hour&limit=2');
  expect(data.map(({ hour, events, is_other }) => [hour, events, is_other])).toEqual([
    ['2026-10-25T02:00:00+01:00', 2, undefined],
    ['2026-10-25T03:00:00+01:00', 1, undefined],
    ['other', 1, true],
  ]);
});

it('adds up many creatives and currencies, each once', async () => {
  const other = await createTenant({ timezone: 'UTC' });
  const days = ['2026-10-24', '2026-10-25'];
  const rows = days.flatMap((day) =>
    Array.from({ length: 2_100 }, (_, index) => ({
      day,
      creative_id: `crt_${String(Math.floor(index / 3)).padStart(5, '0')}`,
      currency: ['eur', 'jpy', 'usd'][index % 3] ?? '',
      hour: `${day}T${index % 2 === 0 ? '09' : '10'}:00:00+00:00`,
      purchases: 1,
      purchase_revenue: 1_000_000_000,
    })),
  );
  await addFigures(env.DB, other.application.id, 'rollup_hours', rows);
  await addFigures(
    env.DB,
    other.application.id,
    'rollup_daily',
    rows.map(({ hour: _, ...row }) => row),
  );
  const read = async (query: string, metric: string) =>
    (await report(`from=2026-10-24&to=2026-10-25&${query}`, other)).data.map((row) => row[metric]);
  expect(await read('group_by=hour', 'purchases')).toEqual([1_050, 1_050, 1_050, 1_050]);
  expect(await read('group_by=hour', 'purchase_revenue')).toEqual([350, 350, 350, 350]);
  expect(await read('group_by=day&until_hour=10', 'purchases')).toEqual([2_100, 1_050]);
  expect(await read('group_by=currency&until_hour=10', 'purchases')).toEqual([1_050, 1_050, 1_050]);
  expect(await read('group_by=hour&attribution=organic', 'purchases')).toEqual([]);
});
