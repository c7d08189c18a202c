import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { database, shareLinks } from '#db';
import { inReportSlot } from '#http';
import { sha256Hex } from '#lib/crypto';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// Whatever reads reports takes a slot of its team, so that none of it can be asked for without end.

const worker = startWorker();

afterEach(() => vi.restoreAllMocks());

/** Occupies all slots of a team until `end` is called. */
async function occupySlots({ team }: Tenant) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const running = [1, 2].map(() => inReportSlot(team.id, () => promise));
  return async () => {
    resolve();
    await Promise.all(running);
  };
}

/** Moves the clock ahead at each reading, so that a wait of 10 s takes some 20 of them. */
function hurryClock() {
  const start = Date.now();
  let readings = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => start + readings++ * 500);
}

async function shareOf({ team, application }: Tenant): Promise<string> {
  const secret = crypto.randomUUID().replaceAll('-', '').slice(0, 32);
  await database(env.DB)
    .insert(shareLinks)
    .values({
      ...{
        hash: await sha256Hex(secret),
        teamId: team.id,
        note: 'Ann',
        createdBy: 'test',
        path: '/breakdown',
      },
      ...{ query: `app=${application.id}`, createdAt: Date.now(), expiresAt: Date.now() + 86_400_000 },
    });
  return secret;
}

const period = 'from=2026-01-01&to=2026-01-02';
type Reader = (tenant: Tenant) => Promise<Response>;
const READERS: [string, Reader][] = [
  [
    'a CSV export',
    (tenant) =>
      worker.team(
        tenant,
        `/v1/reports/performance?application_id=${tenant.application.id}&${period}&format=csv`,
      ),
  ],
  ['a list of events', (tenant) => worker.team(tenant, `/v1/events?application_id=${tenant.application.id}`)],
  [
    'a preview of an alert',
    (tenant) =>
      worker.team(tenant, '/v1/alerts/preview', {
        method: 'POST',
        body: {
          ...{ application_id: tenant.application.id, kind: 'metric', metric: 'revenue' },
          ...{ condition: 'below', threshold: 1, days: 1, preview_days: 1 },
        },
      }),
  ],
  ['a share link', async (tenant) => worker.request(`/shared/${await shareOf(tenant)}`)],
];

it.each(READERS)('lets %s wait for a slot of its team', async (_, read) => {
  const [tenant, other] = [await createTenant(), await createTenant()];
  const end = await occupySlots(tenant);
  expect((await read(other)).status).toBe(200);
  hurryClock();
  expect((await read(tenant)).status).toBeGreaterThanOrEqual(429);
  vi.restoreAllMocks();
  await end();
  expect((await read(tenant)).status).toBe(200);
});
