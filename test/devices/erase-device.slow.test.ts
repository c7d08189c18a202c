import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LoggedEvent } from '#catalogue';
import { type Counter, counterOf, packEvents } from '#counting';
import { listRejections } from '#ingestion';
import { newId } from '#lib/ids';
import { ANDROID_AGENT, ANDROID_METRICS, follow, STORES } from '../helpers/clicks.ts';
import { rollupOf } from '../helpers/counter.ts';
import { createCreative } from '../helpers/creatives.ts';
import { meterRows, WatchedD1 } from '../helpers/d1.ts';
import { envelope } from '../helpers/envelopes.ts';
import { eventsInFiles, objectsOf } from '../helpers/lake.ts';
import { settleAll } from '../helpers/settle.ts';
import { claimsOf, counterRows, loggedEvents, storedDevice } from '../helpers/stored.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { WatchedCounters } from '../helpers/watched-counters.ts';
import { fetchToken, startWorker, type TestWorker } from '../helpers/worker.ts';

// An isolate of its own: one that refused requests a short while ago notes the next ones later.
vi.hoisted(() => vi.resetModules());

const worker = startWorker();

afterEach(() => {
  vi.useRealTimers();
});

const erase = (tenant: Tenant, token: string, on: TestWorker = worker) =>
  on.team(tenant, `/v1/devices/${token}`, { method: 'DELETE' });

async function send(tenant: Tenant, body: unknown): Promise<string> {
  const answer = await worker.post(tenant, '/webhook', body);
  const { event_id }: { event_id: string } = await answer.json();
  return event_id;
}

const deliver = async () => worker.deliver(worker.queue.take());

async function purchases(tenant: Tenant): Promise<number | undefined> {
  await settleAll(tenant.application.id);
  return (await rollupOf(tenant.application.id)).purchases;
}

const audited = async (tenant: Tenant) =>
  (
    await env.DB.prepare(
      "SELECT actor, subject FROM audit_log WHERE action = 'device.erased' AND team_id = ?",
    )
      .bind(tenant.team.id)
      .all()
  ).results;

it('erases the device and its raw events for good, and keeps the totals', async () => {
  const tenant = await createTenant();
  const applicationId = tenant.application.id;
  const data = { device_id: 'a-person', device_name: 'Jane’s phone' };
  const [token, kept] = [await fetchToken(worker, tenant, { data }), await fetchToken(worker, tenant)];
  await fetchToken(worker, tenant, { data });
  const [{ deviceId }, { deviceId: keptId }] = [await claimsOf(token), await claimsOf(kept)];
  await send(tenant, envelope.purchase(token, { device_name: 'Jane’s phone' }));
  await send(tenant, envelope.retention(token, {}, { session_id: 's1' }));
  const stays = await send(tenant, envelope.purchase(kept));
  const messages = worker.queue.take();
  await worker.deliver(messages);

  const answer = await erase(tenant, token);
  expect([answer.status, await answer.json()]).toEqual([
    200,
    { erased: true, tokens: 2, events: 3, files: 'done' },
  ]);
  expect(await purchases(tenant)).toBe(2);
  for (const table of ['devices', 'aliases', 'log', 'outbox']) {
    const text = JSON.stringify(await counterRows(applicationId, table));
    expect(text, table).not.toContain('Jane');
    expect(text, table).not.toContain(deviceId);
  }
  expect(await counterRows(applicationId, 'devices')).toMatchObject([{ id: keptId }]);
  expect((await worker.post(tenant, '/verify-token', { token })).status).toBe(400);
  expect((await worker.post(tenant, '/verify-token', { token: kept })).status).toBe(200);
  expect(await audited(tenant)).toEqual([
    { actor: expect.stringMatching(/^access token tkn_/), subject: `${deviceId} of ${applicationId}` },
  ]);

  await worker.deliver(messages);
  await send(tenant, envelope.purchase(token, {}, { tr_id: 'later' }));
  await deliver();
  expect(await purchases(tenant)).toBe(2);
  expect((await loggedEvents(applicationId)).map(({ id }) => id)).toContain(stays);
  // What came after the erasure goes with the next one; then there is nothing left, which each further one says.
  const again = { erased: true, tokens: 0, files: 'done' };
  expect(await (await erase(tenant, token)).json()).toEqual({ ...again, events: 1 });
  expect(await (await erase(tenant, token)).json()).toEqual({ ...again, events: 0 });
  expect(await audited(tenant)).toHaveLength(1);
  // The same person is another device from now on.
  const anew = await claimsOf(await fetchToken(worker, tenant, { data }));
  expect(anew.deviceId).not.toBe(deviceId);
});

it('erases the samples of refused requests, which may be the device’s', async () => {
  const [tenant, other] = [await createTenant(), await createTenant()];
  const token = await fetchToken(worker, tenant);
  for (const { team, ...one } of [tenant, other]) {
    const theirs = team.id === tenant.team.id ? token : await fetchToken(worker, other);
    const answer = await worker.post(one, '/webhook', envelope.purchase(theirs, {}, { status: 'Jane' }));
    expect(answer.status).toBe(400);
  }
  const samples = async ({ application }: Tenant) =>
    JSON.stringify(
      (await listRejections(env.DB, application.id)).map(({ count, sample }) => [count, sample]),
    );
  for (const one of [tenant, other]) expect(await samples(one)).toContain('Jane');
  expect((await erase(tenant, token)).status).toBe(200);
  expect(JSON.parse(await samples(tenant))).toEqual([[1, { request_id: expect.any(String), values: [] }]]);
  expect(await samples(other)).toContain('Jane');
});

it('first counts what arrived before', async () => {
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant);
  await send(tenant, envelope.purchase(token));
  await deliver();
  expect(await (await erase(tenant, token)).json()).toMatchObject({ events: 2 });
  expect(await purchases(tenant)).toBe(1);
});

/** A device of another counter than the first, and the click that led to it, whose raw event is in the first. */
async function deviceElsewhere(tenant: Tenant) {
  const applicationId = tenant.application.id;
  await env.DB.prepare('UPDATE applications SET shards = 64 WHERE id = ?').bind(applicationId).run();
  const { path } = await createCreative(worker, tenant);
  for (;;) {
    const { publicId, messages } = await follow(worker, path, ANDROID_AGENT);
    await worker.deliver(messages);
    const token = await fetchToken(worker, tenant, { data: { click_id: publicId } });
    const { shard } = await claimsOf(token);
    if (shard !== 0) return { token, shard };
    expect((await erase(tenant, token)).status).toBe(200);
  }
}

it('erases a device of another counter than the first, with its click’s raw event in the first', async () => {
  const tenant = await createTenant(STORES);
  const applicationId = tenant.application.id;
  const { token, shard } = await deviceElsewhere(tenant);
  await send(tenant, envelope.purchase(token));
  await deliver();
  expect(await loggedEvents(applicationId, shard)).toHaveLength(2);
  const { events }: { events: number } = await (await erase(tenant, token)).json();
  expect(events).toBe(3);
  expect(await storedDevice(await claimsOf(token))).toBeNull();
  expect(await loggedEvents(applicationId, shard)).toEqual([]);
  expect((await loggedEvents(applicationId)).filter(({ type }) => type === 'click')).toEqual([]);
});

/** The first counter of an application, whose alarm rings only when the test says so. */
async function quietCounter(applicationId: string) {
  const counter = counterOf(env, applicationId, 0);
  await runInDurableObject(counter, (_, state) => {
    vi.spyOn(state.storage, 'setAlarm').mockResolvedValue();
  });
  const alarm = () => runInDurableObject(counter, (instance: Counter) => instance.alarm());
  const exportLog = async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 3_600_000 });
    await counter.settle();
    await alarm();
    expect(await loggedEvents(applicationId)).toEqual([]);
  };
  return { counter, alarm, exportLog };
}

it('says that it is done only once the click’s raw event is erased, too', async () => {
  const tenant = await createTenant(STORES);
  const { counter, alarm, exportLog } = await quietCounter(tenant.application.id);
  const { token } = await deviceElsewhere(tenant);
  const { deviceId } = await claimsOf(token);
  await exportLog();
  const stored = async () =>
    eventsInFiles((await counter.listFiles({}, { before: null, after: null })).files);
  const hasClick = (await stored()).some(({ type }) => type === 'click');
  expect([hasClick, await counter.filesToRewrite([deviceId])]).toEqual([true, 0]);
  for (const _ of ['the first call', 'a repeat'])
    expect(await (await erase(tenant, token)).json()).toMatchObject({ files: 'pending' });
  await alarm();
  expect((await stored()).some(({ type }) => type === 'click')).toBe(false);
  expect(await (await erase(tenant, token)).json()).toMatchObject({ files: 'done' });
});

it('erases exported raw events in the background, and reports when it is done', async () => {
  const tenant = await createTenant(STORES);
  const applicationId = tenant.application.id;
  const { counter, alarm, exportLog } = await quietCounter(applicationId);
  const { path } = await createCreative(worker, tenant);
  const click = await follow(worker, `${path}?email=jane%40example.com`, ANDROID_AGENT);
  await worker.deliver(click.messages);
  const token = await fetchToken(worker, tenant, { data: { click_id: click.publicId } });
  const { deviceId } = await claimsOf(token);
  const kept = await fetchToken(worker, tenant);
  await send(tenant, envelope.purchase(token));
  const stays = await send(tenant, envelope.purchase(kept));
  await deliver();
  await exportLog();
  const list = async () => {
    const answer = await worker.team(tenant, `/v1/events?application_id=${applicationId}`);
    return ((await answer.json()) as { data: Record<string, unknown>[] }).data;
  };
  expect(await list()).toHaveLength(5);

  const answer = { erased: true, events: 0 };
  expect(await (await erase(tenant, token)).json()).toEqual({ ...answer, tokens: 1, files: 'pending' });
  expect(await (await erase(tenant, token)).json()).toEqual({ ...answer, tokens: 0, files: 'pending' });
  // They are not shown meanwhile.
  const shown = await list();
  expect(shown.map(({ type }) => type).sort()).toEqual(['custom.purchase', 'install']);
  expect(JSON.stringify(shown)).not.toContain(deviceId);
  await alarm();
  expect(await (await erase(tenant, token)).json()).toEqual({ ...answer, tokens: 0, files: 'done' });
  const files = (await counter.listFiles({}, { before: null, after: null })).files;
  const stored = await eventsInFiles(files);
  expect(stored.map(({ id }) => id)).toContain(stays);
  expect(stored).toHaveLength(2);
  expect(JSON.stringify(stored)).not.toMatch(new RegExp(`${deviceId}|jane`));
  expect(await objectsOf(applicationId)).toEqual(files.map(({ key }) => key));
});

it('erases what stores told of its transactions, and nothing of another’s', async () => {
  const tenant = await createTenant();
  const applicationId = tenant.application.id;
  const { counter, alarm, exportLog } = await quietCounter(applicationId);
  const [token, other] = [await fetchToken(worker, tenant), await fetchToken(worker, tenant)];
  await send(tenant, envelope.purchase(token, {}, { tr_id: 'mine' }));
  await send(tenant, envelope.purchase(other, {}, { tr_id: 'theirs' }));
  await deliver();
  const told = async (status: string, tr_id: string, more = {}) => {
    const [id, at] = [newId('evt'), Date.now()];
    const event = {
      ...{ type: 'store', id, application_id: applicationId, status, tr_id, store: 'apple', ...more },
      ...{ value_nanos: 1e9, currency: 'usd', creative_id: null },
      ...{ day: new Date(at).toISOString().slice(0, 10), occurred_at: at, received_at: at },
    } as LoggedEvent;
    await counter.append(packEvents(applicationId, [event]));
    return id;
  };
  const mine = [
    await told('refunded', 'mine'),
    await told('renewal', 'mine-2', { original_tr_id: 'mine' }),
    await told('refunded', 'mine-2'),
  ];
  const theirs = await told('refunded', 'theirs');
  await exportLog();
  const late = await told('refund_reversed', 'mine');

  // The late one is in the log, the others are in files.
  expect(await (await erase(tenant, token)).json()).toMatchObject({ events: 1, files: 'pending' });
  expect(await (await erase(tenant, token)).json()).toMatchObject({ events: 0, files: 'pending' });
  await alarm();
  expect(await (await erase(tenant, token)).json()).toMatchObject({ files: 'done' });
  const stored = await eventsInFiles((await counter.listFiles({}, { before: null, after: null })).files);
  const left = [...stored, ...(await loggedEvents(applicationId))].map(({ id }) => id);
  expect(left).toContain(theirs);
  for (const id of [...mine, late]) expect(left).not.toContain(id);
});

it('erases parked events of the device, and none of another', async () => {
  const tenant = await createTenant();
  const [token, other] = [await fetchToken(worker, tenant), await fetchToken(worker, tenant)];
  for (const [name, of] of [
    ['mine', token],
    ['other', other],
  ] as const) {
    await send(tenant, envelope.purchase(of, { device_name: name }));
    await worker.deliver(worker.queue.take(), 'attribution-events-dead');
  }
  const parked = async () => {
    const { results } = await env.DB.prepare('SELECT body FROM parked_messages WHERE application_id = ?')
      .bind(tenant.application.id)
      .all<{ body: string }>();
    return results.map(({ body }) => /"device_name":"(\w+)"/.exec(body)?.[1]).sort();
  };
  expect(await parked()).toEqual(['mine', 'other']);
  expect((await erase(tenant, token)).status).toBe(200);
  expect(await parked()).toEqual(['other']);
});

describe('the click that brought the device', () => {
  /** Clicks whose parameters are stored in rows and in raw events, and which of them may be seen. */
  async function storedClicks(tenant: Tenant) {
    const rows = await env.DB.prepare('SELECT params FROM clicks WHERE application_id = ?')
      .bind(tenant.application.id)
      .all<{ params: string }>();
    const log = await counterRows(tenant.application.id, 'log');
    const text = JSON.stringify([rows.results, log.map(({ events }) => events)]);
    const events = await loggedEvents(tenant.application.id);
    return {
      rows: rows.results.length,
      jane: text.includes('jane@example.com'),
      john: text.includes('john@example.com'),
      listed: events.filter(({ type }) => type === 'click').length,
    };
  }

  async function twoClicks(tenant: Tenant) {
    const { path } = await createCreative(worker, tenant);
    const jane = await follow(worker, `${path}?email=jane%40example.com`, ANDROID_AGENT);
    const john = await follow(worker, `${path}?email=john%40example.com`, ANDROID_AGENT);
    await worker.deliver([...jane.messages, ...john.messages]);
    const install = async (click_id: string) =>
      fetchToken(worker, tenant, { data: { ...ANDROID_METRICS, click_id } });
    return { jane: jane.publicId, john: john.publicId, install };
  }

  it('is erased with its parameters and raw event, and no other click is', async () => {
    const tenant = await createTenant(STORES);
    const { jane, john, install } = await twoClicks(tenant);
    const [token, other] = [await install(jane), await install(john)];
    const again = await install(jane);
    expect(await storedClicks(tenant)).toEqual({ rows: 2, jane: true, john: true, listed: 2 });
    // The click is the first device's, not that of a second one which only named it.
    expect((await erase(tenant, again)).status).toBe(200);
    expect(await storedClicks(tenant)).toEqual({ rows: 2, jane: true, john: true, listed: 2 });
    expect(await (await erase(tenant, token)).json()).toMatchObject({ events: 2 });
    expect(await storedClicks(tenant)).toEqual({ rows: 1, jane: false, john: true, listed: 1 });
    await env.DB.prepare('DELETE FROM clicks WHERE application_id = ?').bind(tenant.application.id).run();
    expect((await erase(tenant, other)).status).toBe(200);
    expect(await storedClicks(tenant)).toEqual({ rows: 0, jane: false, john: false, listed: 0 });
  });

  it.each([
    ['the database fails', (db: WatchedD1) => db.failOn(/delete from "tokens"/, 'D1_ERROR: disk I/O error')],
    [
      'the database’s answer is lost',
      (db: WatchedD1) => db.failOn(/delete from "tokens"/, 'D1_ERROR: disk I/O error', { when: 'after' }),
    ],
    ...(['readDevice', 'settle', 'eraseEvents', 'eraseDevice', 'filesToRewrite'] as const).flatMap((call) =>
      (['before', 'after'] as const).map(
        (when): [string, (db: WatchedD1, counters: WatchedCounters) => void] => [
          `${call} fails ${when} it ran`,
          (_, counters) => counters.failOn(call, when),
        ],
      ),
    ),
  ])('is erased by a repeat although %s', async (_, fail) => {
    const tenant = await createTenant(STORES);
    const { jane, install } = await twoClicks(tenant);
    const token = await install(jane);
    const [db, counters] = [new WatchedD1(env.DB), new WatchedCounters()];
    const failing = startWorker({ DB: db.asBinding(), COUNTERS: counters.asBinding() });
    fail(db, counters);
    expect((await erase(tenant, token, failing)).status).toBe(500);
    expect(db.faultsLeft + counters.faultsLeft).toBe(0);
    expect((await erase(tenant, token)).status).toBe(200);
    expect(await storedClicks(tenant)).toEqual({ rows: 1, jane: false, john: true, listed: 1 });
    expect(await storedDevice(await claimsOf(token))).toBeNull();
    expect((await worker.post(tenant, '/verify-token', { token })).status).toBe(400);
    expect(await audited(tenant)).not.toEqual([]);
  });
});

it('answers to another team’s device as to a forged one, and erases nothing', async () => {
  const [tenant, other] = [await createTenant(), await createTenant()];
  const token = await fetchToken(worker, other);
  const [theirs, forged] = [await erase(tenant, token), await erase(tenant, 'forged')];
  expect([theirs.status, await theirs.json()]).toEqual([404, { message: 'Device not found' }]);
  expect([forged.status, await forged.json()]).toEqual([404, { message: 'Device not found' }]);
  expect((await worker.post(other, '/verify-token', { token })).status).toBe(200);
  expect(await storedDevice(await claimsOf(token))).not.toBeNull();
});

it('does not read other devices’ rows, however many there are', async () => {
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant);
  const { applicationId } = await claimsOf(token);
  const rows = JSON.stringify(Array.from({ length: 2_000 }, (_, index) => index));
  await env.DB.prepare(
    `INSERT INTO tokens (id, application_id, device_id, created_at, expires_at)
     SELECT 'tok_' || value, ?1, 'dev_' || value, 0, 0 FROM json_each(?2)`,
  )
    .bind(applicationId, rows)
    .run();
  const { db, rowsRead } = meterRows(env.DB);
  expect((await erase(tenant, token, startWorker({ DB: db }))).status).toBe(200);
  const read = rowsRead.reduce((sum, rows) => sum + rows, 0);
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(20);
  await runInDurableObject(counterOf(env, applicationId, 0), (_, state) =>
    expect(state.storage.sql.exec('SELECT * FROM devices').toArray()).toEqual([]),
  );
});
