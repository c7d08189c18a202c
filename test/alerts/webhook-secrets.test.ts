import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createChannel, listChannels, NewChannel, sendNotices, sendTestMessage } from '#alerts';
import { writeSnapshot } from '#backup';
import { channels, database } from '#db';
import { newId } from '#lib/ids';
import { revealApiKey } from '#teams';
import { runSchedule } from '../../src/schedule.ts';
import { loseAllButBucket, readBucket, restoreAll } from '../helpers/backup.ts';
import { answerFetch } from '../helpers/strict-fetch.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// A webhook's URL is a credential: it is stored encrypted only, and survives a rotation of the secret.

const worker = startWorker();
const db = database(env.DB);
const SECRET_PATH = 'T0001/B0001/a-secret-path';
const HOOK = `https://hooks.example.com/services/${SECRET_PATH}`;
const HOUR_MS = 3_600_000;
const NEW = 'a-new-key-secret-of-the-tests-000000000';

const during: Env = { ...env, KEY_ENCRYPTION_SECRET: `${NEW} ${env.KEY_ENCRYPTION_SECRET}` };
const after: Env = { ...env, KEY_ENCRYPTION_SECRET: NEW };

let posted: string[];

beforeEach(async () => {
  await loseAllButBucket(() => new Map());
  posted = [];
  answerFetch(async (url) => {
    posted.push(String(url));
    return new Response('ok');
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function addWebhook({ team, application }: Tenant, target = HOOK): Promise<void> {
  const caller = { db, team, actor: 'someone@team.test', now: Date.now() };
  const channel = NewChannel.parse({ kind: 'webhook', target, digest: 'never' });
  await createChannel(caller, application, channel, 'https://dash.test', env.KEY_ENCRYPTION_SECRET);
}

/** Sends a test message to each of an application's channels; returns the addresses that were called. */
async function sendAll({ application }: Tenant, bindings = env): Promise<string[]> {
  posted = [];
  const now = Date.now();
  for (const { id } of await listChannels(db, application.id))
    await sendTestMessage(db, application, id, now);
  await sendNotices(bindings, now);
  return posted.sort();
}

/** Runs what the cron does each hour. */
async function runHour(bindings = env): Promise<void> {
  vi.useFakeTimers({ toFake: ['Date'], now: Math.ceil(Date.now() / HOUR_MS) * HOUR_MS });
  await runSchedule(Date.now(), bindings);
  vi.useRealTimers();
}

const stored = async () => JSON.stringify(await db.select().from(channels));

it('is encrypted in the database and in snapshots, and restored', async () => {
  const tenant = await createTenant();
  await addWebhook(tenant);
  expect(await stored()).not.toContain(SECRET_PATH);
  expect(await stored()).not.toContain('T0001');
  expect(await sendAll(tenant)).toEqual([HOOK]);
  await writeSnapshot(env, Date.now());
  const copies = [...(await readBucket())].map(([, bytes]) => new TextDecoder().decode(bytes));
  expect(copies.join()).toContain('hooks.example.com');
  expect(copies.join()).not.toContain('T0001');
  await loseAllButBucket();
  await restoreAll(worker);
  expect(await sendAll(tenant)).toEqual([HOOK]);
});

it('is encrypted within an hour where an earlier version stored it as it is', async () => {
  const tenant = await createTenant();
  await addWebhook(tenant);
  const [made] = await db.select().from(channels);
  if (!made) throw new Error('no channel');
  await db.delete(channels);
  const mail = { ...made, id: newId('chn'), kind: 'mail' as const, target: 'boss@team.test' };
  await db.insert(channels).values([
    { ...made, target: HOOK, encryptedTarget: null },
    { ...mail, encryptedTarget: null },
  ]);
  expect(await sendAll(tenant)).toEqual([HOOK]);
  await runHour();
  expect(await stored()).not.toContain('T0001');
  expect(await sendAll(tenant)).toEqual([HOOK]);
  const rows = await db.select().from(channels);
  expect(rows.find(({ kind }) => kind === 'mail')).toMatchObject({
    target: 'boss@team.test',
    encryptedTarget: null,
  });
});

it('is encrypted again while the secret is rotated, as API keys are, so that the former secret can end', async () => {
  const tenant = await createTenant();
  await addWebhook(tenant);
  const other = `${HOOK}-2`;
  await addWebhook(tenant, other);
  expect(await sendAll(tenant, during)).toEqual([HOOK, other]);
  await runHour(during);
  expect(await sendAll(tenant, during)).toEqual([HOOK, other]);
  expect(await sendAll(tenant, after)).toEqual([HOOK, other]);
  const caller = { db, team: tenant.team, actor: 'me', now: Date.now() };
  expect(await revealApiKey(caller, tenant.application, NEW)).toBe(tenant.apiKey);
});

it('says why nothing is sent if the secret was exchanged without an overlap', async () => {
  const tenant = await createTenant();
  await addWebhook(tenant);
  expect(await sendAll(tenant, after)).toEqual([]);
  expect((await listChannels(db, tenant.application.id))[0]?.failure).toBe(
    'The address was encrypted under another secret. Remove the channel and add it again',
  );
});
