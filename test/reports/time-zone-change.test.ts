import { afterEach, expect, it, vi } from 'vitest';
import { envelope } from '../helpers/envelopes.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

afterEach(() => {
  vi.useRealTimers();
});

it('changes the days of later events, but of no earlier one and of no device', async () => {
  const worker = startWorker();
  const tenant = await createTenant({ timezone: 'UTC' });
  // 23:30 in UTC, and the next day in Tokyo.
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-01T23:30:00Z' });
  const send = async (created_at: string, event_id: string) => {
    await worker.post(tenant, '/webhook', envelope.ad(token, { created_at, event_id }, { value: 1 }));
    await worker.deliver(worker.queue.take());
    await settleAll(tenant.application.id);
  };
  await send('2026-03-01 23:40:00', 'before');
  const path = `/v1/applications/${tenant.application.id}`;
  const body = { timezone: 'Asia/Tokyo' };
  expect((await worker.team(tenant, path, { method: 'PATCH', body })).status).toBe(200);
  vi.setSystemTime(Date.now() + 61_000);
  await send('2026-03-01 23:50:00', 'after');
  const ask = async (report: string) => {
    const query = `application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-02`;
    const answer = await worker.team(tenant, `/v1/reports/${report}&${query}`);
    expect(answer.status).toBe(200);
    return answer.json<{ data: Record<string, unknown>[] }>();
  };
  const byDay = (await ask('performance?group_by=day')).data;
  expect(byDay.map((row) => [row.day, row.installs, row.impressions])).toEqual([
    ['2026-03-01', 1, 1],
    ['2026-03-02', 0, 1],
  ]);
  const cohorts = (await ask('ltv?cohort=day&days=0,1')).data;
  expect(cohorts.map((row) => [row.cohort_from, row.size])).toEqual([['2026-03-01', 1]]);
  expect(cohorts[0]).toMatchObject({ days: { 0: { revenue: 1 }, 1: { revenue: 2 } } });
});
