import { runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { counterOf } from '#counting';
import { sendHeldNotifications } from '#stores';
import { WatchedD1 } from '../helpers/d1.ts';
import { nameInShard } from '../helpers/device-names.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { eventsIn, startWorker } from '../helpers/worker.ts';

// What stores tell an application with several counters: whichever order it arrives in, it counts once.

const worker = startWorker();
const AUTHORIZATION = 'Bearer rc_0123456789abcdef';
const SHARDS = 8;
const DAY_MS = 86_400_000;
let tenant: Tenant;
let path: string;
let made = 0;

beforeEach(async () => {
  tenant = await createTenant({ revenuecat_authorization: AUTHORIZATION });
  await setShards(SHARDS);
  const answer = await worker.team(tenant, `/v1/applications/${tenant.application.id}/intake-secret`, {
    method: 'POST',
    body: {},
  });
  path = `/stores/revenuecat/${(await answer.json<{ intake_secret: string }>()).intake_secret}`;
  vi.setSystemTime(Date.parse('2026-03-03T10:00:00Z'));
});
afterEach(() => {
  vi.useRealTimers();
});

const EVENT = {
  ...{
    id: 'rc1',
    type: 'INITIAL_PURCHASE',
    environment: 'PRODUCTION',
    period_type: 'NORMAL',
    product_id: 'gold',
  },
  ...{ purchased_at_ms: Date.parse('2026-03-02T10:00:00Z'), transaction_id: 't1', currency: 'USD' },
  price_in_purchased_currency: 5,
};
const REFUND = {
  ...{ id: 'refund', type: 'CANCELLATION', cancel_reason: 'CUSTOMER_SUPPORT' },
  price_in_purchased_currency: -5,
};
async function tell(more: object = {}) {
  const answer = await worker.request(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: AUTHORIZATION },
    body: JSON.stringify({ event: { ...EVENT, ...more } }),
  });
  expect(answer.status).toBe(200);
  return answer.json<{ event_id: string | null; reason: string | null }>();
}
const WAITS = { event_id: null, reason: expect.stringMatching(/^waits: no device or purchase is known/) };
const SENT = { event_id: expect.stringMatching(/^evt_/), reason: null };

async function newDevice(device_id: string): Promise<string> {
  const data = { device_name: 'Pixel', device_model: 'Pixel 9', os_system: 'Android 16', timezone: 'UTC' };
  const body = { type: 'device-metrics', created_at: '2026-03-01T10:00:00Z', data: { ...data, device_id } };
  return (await (await worker.post(tenant, '/fetch-token', body)).json<{ token: string }>()).token;
}

/** A device, of any counter if it is not named, which sends a purchase. */
async function purchase(tr_id: string, value: number, device = `d${++made}`) {
  const token = await newDevice(device);
  const payload = { item_id: 'gold', value, currency: 'usd', status: 'completed', tr_id };
  const event = {
    type: 'custom.purchase',
    created_at: '2026-03-02T10:00:00Z',
    creativeToken: token,
    payload,
  };
  expect((await worker.post(tenant, '/webhook', event)).status).toBe(200);
  return token;
}

async function figures() {
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
  const row = await env.DB.prepare(
    `SELECT sum(purchases) AS purchases, sum(purchase_revenue) / 1e9 AS revenue, sum(refunds) AS refunds,
       sum(returned_revenue) / 1e9 AS returned FROM rollup_daily WHERE application_id = ?`,
  )
    .bind(tenant.application.id)
    .first<Record<string, number>>();
  return Object.values(row ?? {}).map(Number);
}
/** What counts for devices: revenue, and what was returned of it. */
async function ofDevices() {
  const row = await env.DB.prepare(
    `SELECT sum(purchase_revenue) / 1e9 AS revenue, sum(returned_revenue) / 1e9 AS returned
     FROM cohort_revenue WHERE application_id = ?1`,
  )
    .bind(tenant.application.id)
    .first<Record<string, number>>();
  return Object.values(row ?? {}).map(Number);
}

/** Rings the counters' alarms, with which they tell each other of transactions. */
async function counted() {
  for (let shard = 0; shard < SHARDS; shard++)
    await runDurableObjectAlarm(counterOf(env, tenant.application.id, shard));
}

async function setShards(shards: number) {
  await env.DB.prepare('UPDATE applications SET shards = ? WHERE id = ?')
    .bind(shards, tenant.application.id)
    .run();
}

const after = (days: number) => vi.setSystemTime(Date.now() + days * DAY_MS);
const send = (on: Env = worker.bindings) => sendHeldNotifications(on, Date.now());
const held = async () =>
  await env.DB.prepare('SELECT count(*) AS held FROM store_notifications WHERE held IS NOT NULL').first(
    'held',
  );

it('counts a payment that the store told before the client once, with the store’s amount and the client’s device', async () => {
  expect(await tell()).toMatchObject(WAITS);
  expect(await figures()).toEqual([0, 0, 0, 0]);
  await send();
  expect([await figures(), await held()]).toEqual([[0, 0, 0, 0], 1]);
  // A copy in between.
  expect(await tell()).toMatchObject(WAITS);
  const owner = await signedIn(worker, tenant.team, 'owner');
  const page = await pageOf(await owner.get('/debugger'));
  expect(page.cells('Newest notifications of stores', 'Verification')).toEqual([
    [expect.stringMatching(/^Verified, waits: .*; arrived once more$/)],
  ]);
  await purchase('t1', 10);
  expect(await figures()).toEqual([1, 10, 0, 0]);
  await send();
  expect([await figures(), await held()]).toEqual([[1, 5, 0, 0], 0]);
  expect(await tell()).toMatchObject(SENT);
  after(4);
  await send();
  expect(await figures()).toEqual([1, 5, 0, 0]);
});

it('counts a payment without a device after 3 days, and what follows it in the same counter', async () => {
  await tell();
  after(2.9);
  await send();
  expect(await figures()).toEqual([0, 0, 0, 0]);
  after(0.2);
  await send();
  await send();
  expect([await figures(), await held()]).toEqual([[1, 5, 0, 0], 0]);
  expect(await tell()).toMatchObject(SENT);
  const renewal = { id: 'rc2', type: 'RENEWAL', transaction_id: 't2', original_transaction_id: 't1' };
  expect(await tell({ ...renewal, price_in_purchased_currency: 3 })).toMatchObject(SENT);
  expect(await figures()).toEqual([2, 8, 0, 0]);
  expect(await tell(REFUND)).toMatchObject(SENT);
  expect(await figures()).toEqual([2, 8, 1, 5]);
});

it('counts a payment once whose client tells of it after that, for the client’s device', async () => {
  await tell();
  await tell({ id: 'other', transaction_id: 't2' });
  after(4);
  await send();
  expect(await figures()).toEqual([2, 10, 0, 0]);
  expect(await tell({ ...REFUND, transaction_id: 't2' })).toMatchObject(SENT);
  for (const tr_id of ['t1', 't2']) await purchase(tr_id, 10);
  await figures();
  await counted();
  expect(await figures()).toEqual([2, 10, 1, 5]);
  expect(await ofDevices()).toEqual([10, 5]);
  // What follows counts where either is.
  after(1);
  expect(await tell({ ...REFUND, id: 'another' })).toMatchObject(SENT);
  await figures();
  await counted();
  expect([await figures(), await ofDevices()]).toEqual([
    [2, 10, 2, 10],
    [10, 10],
  ]);
});

it('counts a payment once that the store told while the application had one counter', async () => {
  await setShards(1);
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const name of names) expect(await tell({ id: name, transaction_id: name })).toMatchObject(SENT);
  expect(await figures()).toEqual([6, 30, 0, 0]);
  await setShards(3);
  for (const name of names) await purchase(name, 10);
  await figures();
  await counted();
  expect([await figures(), await ofDevices()]).toEqual([
    [6, 30, 0, 0],
    [30, 0],
  ]);
});

it('holds a refund until its purchase is counted, for as long as that takes', async () => {
  expect(await tell(REFUND)).toMatchObject(WAITS);
  after(30);
  await send();
  expect([await figures(), await held()]).toEqual([[0, 0, 0, 0], 1]);
  await purchase('t1', 5);
  await purchase('other', 7);
  expect(await figures()).toEqual([2, 12, 0, 0]);
  await send();
  await send();
  expect(await figures()).toEqual([2, 12, 1, 5]);
  expect(await tell(REFUND)).toMatchObject(SENT);
  expect(await figures()).toEqual([2, 12, 1, 5]);
});

it('finds the counters of several payments at once, and asks about each transaction', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const name of names) {
    await tell({ id: `p-${name}`, transaction_id: name });
    await tell({ ...REFUND, id: `r-${name}`, transaction_id: name });
  }
  expect(await held()).toBe(12);
  const application = { id: tenant.application.id, shards: SHARDS };
  for (const [shard, name] of names.slice(0, 4).entries())
    await purchase(name, 10, await nameInShard(application, shard));
  await figures();
  await send();
  expect([await figures(), await held()]).toEqual([[4, 20, 4, 20], 4]);
  const knownTo = async (shard: number) =>
    (await counterOf(env, tenant.application.id, shard).knownPurchases(names)).length;
  const known = await Promise.all(Array.from({ length: SHARDS }, (_, shard) => knownTo(shard)));
  expect(known).toEqual([1, 1, 1, 1, 0, 0, 0, 0]);
  after(4);
  await send();
  await figures();
  // The refunds of payments without a device find them at the next run.
  await send();
  expect([await figures(), await held()]).toEqual([[6, 30, 6, 30], 0]);
});

it.each(['the queue refuses it', 'it cannot be noted that it was sent'])(
  'sends it again, and counts it once, if %s',
  async (what) => {
    await purchase('t1', 10);
    await figures();
    await tell({ id: 'late', transaction_id: 't9' });
    await purchase('t9', 10);
    await figures();
    const d1 = new WatchedD1(env.DB);
    const failing = { ...worker.bindings, DB: d1.asBinding() };
    if (what === 'the queue refuses it') worker.queue.failures = 3;
    else d1.failWhen((sql) => sql.includes('SET held = NULL'), 'Exceeded maximum DB size');
    await expect(send(failing)).rejects.toThrow();
    expect(await held()).toBe(1);
    // A copy that the store sends meanwhile has the same event.
    await tell({ id: 'late', transaction_id: 't9' });
    await figures();
    await send();
    expect([await figures(), await held()]).toEqual([[2, 15, 0, 0], 0]);
  },
);

it('sends one event if two runs decide at the same time', async () => {
  for (let told = 0; told < 30; told++) await tell({ id: `p${told}`, transaction_id: `t${told}` });
  after(4);
  await Promise.all([send(), send()]);
  const sent = worker.queue.take();
  const ids = sent.flatMap(({ body }) => eventsIn(body).map(({ id }) => id));
  expect([new Set(ids).size, await held()]).toEqual([30, 0]);
  await worker.deliver(sent);
  expect(await figures()).toEqual([30, 150, 0, 0]);
});

it('sends a copy to the counter of the first one, although a device of another one is known by now', async () => {
  const copies = ['a', 'b', 'c', 'd', 'e'].map((name) => ({
    id: name,
    transaction_id: name,
    app_user_id: name,
  }));
  for (const copy of copies) await tell(copy);
  after(3.1);
  await send();
  expect(await figures()).toEqual([5, 25, 0, 0]);
  for (const { app_user_id: name } of copies) await newDevice(name);
  for (const copy of copies) expect(await tell(copy)).toMatchObject(SENT);
  expect(await figures()).toEqual([5, 25, 0, 0]);
});

it('erases with a device what the store told another counter of its payment', async () => {
  await tell();
  after(4);
  await send();
  await figures();
  const token = await purchase('t1', 10);
  await figures();
  await counted();
  expect(await figures()).toEqual([1, 5, 0, 0]);
  const events = async () => {
    const { id } = tenant.application;
    const page = await worker.team(tenant, `/v1/events?application_id=${id}&from=2026-03-01&to=2026-03-10`);
    return (await page.json<{ data: { type: string }[] }>()).data.map(({ type }) => type).sort();
  };
  // What a counter took over is no further event.
  expect(await events()).toEqual(['custom.purchase', 'install', 'store']);
  expect((await worker.team(tenant, `/v1/devices/${token}`, { method: 'DELETE' })).status).toBe(200);
  expect(await events()).toEqual([]);
});
