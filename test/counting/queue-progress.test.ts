import { env } from 'cloudflare:workers';
import { beforeEach, expect, it, vi } from 'vitest';
import { settleCounters } from '#counting';
import { database, delayedMessages } from '#db';
import { envelope } from '../helpers/envelopes.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker, type TestWorker } from '../helpers/worker.ts';

// Through when a report counts, while the queue still has events that no counter has seen.

const USUAL_DELIVERY_MS = 15_000;
const db = database(env.DB);

beforeEach(() => db.delete(delayedMessages));

async function countedThrough(worker: TestWorker, { application, teamToken }: Tenant): Promise<number> {
  const path = `/v1/reports/performance?application_id=${application.id}&from=2026-03-01&to=2026-03-31`;
  const answer = await worker.team({ teamToken }, path);
  return Date.parse(((await answer.json()) as { counted_through: string }).counted_through);
}

async function withEventInQueue() {
  const worker = startWorker();
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant);
  await worker.deliver(worker.queue.take());
  expect((await worker.post(tenant, '/webhook', envelope.ad(token))).status).toBe(200);
  return { worker, tenant, sentAt: worker.queue.messages[0]?.sentAt ?? Number.NaN };
}

it('never passes an event that waits in the queue, and does once it is counted', async () => {
  const { worker, tenant, sentAt } = await withEventInQueue();
  expect(await countedThrough(worker, tenant)).toBe(sentAt - 1);
  const health: { applications: { counted_through: string }[] } = await (
    await worker.team(tenant, '/v1/health')
  ).json();
  expect(Date.parse(health.applications[0]?.counted_through ?? '')).toBe(sentAt - 1);
  await worker.deliver(worker.queue.take());
  expect(await countedThrough(worker, tenant)).toBeGreaterThanOrEqual(sentAt);
});

it.each([
  ['the oldest', 0],
  ['an older', 1],
])(
  'is not held back by %s message if that is another application’s, delivered again and again',
  async (_, ms) => {
    const { worker, tenant, sentAt } = await withEventInQueue();
    const other = { applicationId: 'app_other', messageId: 'm', events: 1, receivedAt: sentAt - ms };
    await db.insert(delayedMessages).values(other);
    const before = Date.now();
    const through = await countedThrough(worker, tenant);
    expect(through).toBeGreaterThanOrEqual(before - USUAL_DELIVERY_MS);
    expect(through).toBeLessThanOrEqual(Date.now() - USUAL_DELIVERY_MS);
  },
);

it('assumes the usual time of a delivery if the queue does not answer', async () => {
  const { application } = await createTenant();
  vi.spyOn(console, 'warn').mockReturnValue();
  const EVENTS = { metrics: () => Promise.reject(new Error('no metrics')) } as unknown as Queue;
  const before = Date.now();
  const { countedThrough: through } = await settleCounters({ ...env, EVENTS }, application);
  expect(through).toBeGreaterThanOrEqual(before - USUAL_DELIVERY_MS);
  expect(through).toBeLessThanOrEqual(Date.now() - USUAL_DELIVERY_MS);
  vi.restoreAllMocks();
});
