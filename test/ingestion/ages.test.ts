import { env } from 'cloudflare:workers';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { newId } from '#lib/ids';
import { addDays, DAY_MS } from '#lib/time';
import { signToken } from '../../src/devices/token.ts';
import { testBounds } from '../helpers/bounds.ts';
import { envelope } from '../helpers/envelopes.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { eventsIn, fetchToken, startWorker } from '../helpers/worker.ts';

// The age of a device at an event, also at one before its acquisition, and the end of its token.

const worker = startWorker();
const ZONE = 'America/New_York';
const NOW = Date.UTC(2026, 10, 20, 12);
/** Midnight of the day on which the device is acquired. */
const MIDNIGHT = Date.UTC(2026, 10, 10, 5);
let tenant: Tenant;
let token: string;

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  tenant = await createTenant({ timezone: ZONE });
  token = await fetchToken(worker, tenant, { created_at: new Date(MIDNIGHT + 3_600_000).toISOString() });
  worker.queue.take();
});
afterAll(() => {
  vi.useRealTimers();
});

const ageAt =
  (way: 'alone' | 'in a batch', reported?: number) =>
  async (at: number): Promise<unknown> => {
    const body = envelope.retention(
      token,
      { created_at: new Date(at).toISOString() },
      { retentionDay: reported, backfillDay: undefined },
    );
    const answer =
      way === 'alone'
        ? await worker.post(tenant, '/webhook', body)
        : await worker.post(tenant, '/webhook/batch', { events: [body] });
    expect(answer.status).toBe(200);
    return worker.queue
      .take()
      .flatMap(({ body: message }) => eventsIn<never>(message).map(({ age }) => age))[0];
  };

testBounds(
  'the age of a device at an event',
  (['alone', 'in a batch'] as const).flatMap((way) => [
    {
      name: `acquired that day, sent ${way}`,
      at: MIDNIGHT,
      step: 1_000,
      ask: ageAt(way),
      ...{ below: 0, exact: 0, above: 0 },
    },
    {
      name: `a day later, sent ${way}`,
      at: MIDNIGHT + DAY_MS,
      step: 1_000,
      ask: ageAt(way),
      ...{ below: 0, exact: 1, above: 1 },
    },
    {
      name: `a week before, sent ${way}`,
      at: MIDNIGHT - 7 * DAY_MS,
      step: 1_000,
      ask: ageAt(way),
      ...{ below: 0, exact: 0, above: 0 },
    },
    {
      name: `in the future, sent ${way}`,
      at: NOW + DAY_MS,
      step: 1_000,
      ask: ageAt(way),
      ...{ below: 10, exact: 10, above: 10 },
    },
    // Before the acquisition, the day that a client says is compared with day 0.
    {
      name: `a week before, as day 1, sent ${way}`,
      at: MIDNIGHT - 7 * DAY_MS,
      step: 1_000,
      ask: ageAt(way, 1),
      ...{ below: 1, exact: 1, above: 1 },
    },
    {
      name: `a week before, as day 7, sent ${way}`,
      at: MIDNIGHT - 7 * DAY_MS,
      step: 1_000,
      ask: ageAt(way, 7),
      ...{ below: 0, exact: 0, above: 0 },
    },
  ]),
);

it('counts an event before the acquisition', async () => {
  for (const days of [1, 2, 40]) {
    await worker.post(
      tenant,
      '/webhook',
      envelope.ad(token, { created_at: new Date(MIDNIGHT - days * DAY_MS).toISOString() }),
    );
  }
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
  const health = await worker.team(tenant, `/v1/parked?application_id=${tenant.application.id}`);
  if (health.status === 200) expect(await health.json()).toMatchObject({ data: [] });
  const from = addDays('2026-11-10', -60);
  const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=${from}&to=2026-11-20`;
  const { totals } = await (await worker.team(tenant, path)).json<{ totals: { impressions: number } }>();
  expect(totals.impressions).toBe(3);
});

/** The status of an event at a time, with a token that lasts for ten days until `NOW`. */
async function statusAt(at: number): Promise<number> {
  const claims = {
    ...{
      tokenId: newId('tok'),
      applicationId: tenant.application.id,
      deviceId: newId('dev'),
      creativeId: null,
    },
    ...{ acquiredDay: '2026-11-10', shard: 0, createdAt: NOW - 10 * DAY_MS, expiresAt: NOW },
  };
  vi.setSystemTime(at);
  const answer = await worker.post(
    tenant,
    '/webhook',
    envelope.ad(await signToken(claims, env.TOKEN_SECRET), { created_at: '2026-11-15T00:00:00Z' }),
  );
  vi.setSystemTime(NOW);
  const [event] = worker.queue.take().flatMap(({ body }) => eventsIn<{ token_expired?: boolean }>(body));
  return answer.status === 200 && event?.token_expired ? 201 : answer.status;
}

testBounds('a token takes events', [
  // 201 stands for an event whose token is marked as expired.
  { name: 'until it expires', at: NOW, ask: statusAt, ...{ below: 200, exact: 201, above: 201 } },
  {
    name: 'for as long again',
    at: NOW + 10 * DAY_MS,
    ask: statusAt,
    ...{ below: 201, exact: 400, above: 400 },
  },
]);
