import { env } from 'cloudflare:workers';
import { eq, inArray } from 'drizzle-orm';
import { afterEach, expect, it, vi } from 'vitest';
import { composeDigests, createAlert, createChannel, NewChannel, watchAlerts } from '#alerts';
import { alerts, channels, database, notices, shareLinks } from '#db';
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

const db = database(env.DB);
const callerOf = ({ team }: Tenant) => ({ db, team, actor: 'someone@team.test', now: Date.now() });

async function addDigest(tenant: Tenant): Promise<void> {
  const target = 'https://hooks.example.com/x';
  const channel = NewChannel.parse({ kind: 'webhook', target, digest: 'daily' });
  const secret = env.KEY_ENCRYPTION_SECRET;
  await createChannel(callerOf(tenant), tenant.application, channel, 'https://dash.test', secret);
}

const WORK_OF_CRONS: [string, (tenant: Tenant) => Promise<unknown>, (now: number) => Promise<void>][] = [
  ['a digest', addDigest, (now) => composeDigests(env, now)],
  [
    'the check of an alert',
    (tenant) => createAlert(callerOf(tenant), tenant.application, { kind: 'no_events', threshold: 1 }),
    (now) => watchAlerts(env, now),
  ],
];

it.each(WORK_OF_CRONS)('lets %s wait for a slot of its team', async (_, add, work) => {
  await db.batch([db.delete(alerts), db.delete(channels), db.delete(notices)]);
  const [tenant, other] = [await createTenant(), await createTenant()];
  for (const one of [tenant, other]) await add(one);
  const done = async ({ application: { id } }: Tenant) => {
    const own = db.select({ id: channels.id }).from(channels).where(eq(channels.applicationId, id));
    const checked = await db.select().from(alerts).where(eq(alerts.applicationId, id));
    const digests = await db.$count(notices, inArray(notices.channelId, own));
    return digests + checked.filter(({ finding }) => finding !== null).length;
  };
  const tomorrow = Date.now() + 2 * 86_400_000;
  const end = await occupySlots(tenant);
  hurryClock();
  await work(tomorrow);
  vi.restoreAllMocks();
  expect([await done(tenant), await done(other)]).toEqual([0, 1]);
  await end();
  // What failed is tried again.
  await work(tomorrow + 11 * 60_000);
  expect(await done(tenant)).toBe(1);
});
