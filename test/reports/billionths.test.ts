import { beforeAll, expect, it } from 'vitest';
import { envelope } from '../helpers/envelopes.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Amounts of more than six places, and the smallest one, in every answer that adds them up: as numbers, and as plain decimals in CSV.

const worker = startWorker();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await createTenant();
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-01T09:00:00Z' });
  const created_at = '2026-03-01 10:00:00';
  const small = await fetchToken(worker, tenant, { created_at: '2026-03-02T09:00:00Z' });
  const events = [
    envelope.ad(token, { created_at, event_id: 'a' }, { value: 0.0061728 }),
    envelope.ad(small, { created_at: '2026-03-02 10:00:00', event_id: 'b' }, { value: 1e-9 }),
  ];
  await worker.post(tenant, '/webhook/batch', { events });
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
});

async function answerOf(path: string): Promise<string> {
  const query = `application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-02`;
  const answer = await worker.team(tenant, `${path}${path.includes('?') ? '&' : '?'}${query}`);
  expect(answer.status).toBe(200);
  return answer.text();
}

it.each([
  '/v1/reports/performance?group_by=day',
  '/v1/reports/performance?group_by=source,media_source',
  '/v1/reports/ads',
  '/v1/reports/ltv?days=0&cohort=day',
])('%s has them to the billionth', async (path) => {
  const isByDay = /group_by=day|cohort|ads/.test(path);
  const json = await answerOf(path);
  const csv = await answerOf(`${path}${path.includes('?') ? '&' : '?'}format=csv`);
  for (const text of [json, csv]) {
    expect(text).toContain(isByDay ? '0.0061728' : '0.006172801');
    expect(text).not.toMatch(/0\.006173\b/);
  }
  if (!isByDay) return;
  expect(json).toMatch(/[:,]1e-9\b/);
  expect(csv).toMatch(/(^|,)0\.000000001(,|$)/m);
});
