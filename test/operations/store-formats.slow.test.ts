import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { writeSnapshot } from '#backup';
import { type Counter, counterOf } from '#counting';
import { readEvents, writeFiles } from '#lake';
import { loadParquet } from '#lib/encoding/parquet';
import { STORE_FORMATS, type Store } from '#lib/encoding/store-formats';
import service from '../../src/index.ts';
import { PartFile, writePart } from '../../src/rollup/cube/part-file.ts';
import { sumColumnsOf } from '../../src/rollup/tables.ts';
import { askRestore, beginRestore, exportAll, loseAllButBucket } from '../helpers/backup.ts';
import { rollupOf } from '../helpers/counter.ts';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { inMinuteOf } from '../helpers/minutes.ts';
import { settleAll, settleOnce } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';
import { MemoryBucket } from '../lake/memory-bucket.ts';
import { APPLICATION_ID, makeSlices } from '../lake/workload.ts';

// A store that a newer release wrote is refused whole: nothing in it changes, nothing that was taken is lost, and Health says which it is.

const worker = startWorker();
const NEWER = 99;
const MINUTE = 61_000;

beforeEach(async () => {
  vi.spyOn(console, 'warn').mockReturnValue();
  vi.spyOn(console, 'error').mockReturnValue();
  await loseAllButBucket(() => new Map());
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const refusal = (store: Store) =>
  `A store has a newer format: ${STORE_FORMATS[store].name} has format ${NEWER}, and this release knows ${STORE_FORMATS[store].number}.`;
const RUNBOOK = 'docs/operations.md#roll-back';

const healthOf = async (tenant: Tenant) => {
  const answer = await worker.team(tenant, '/v1/health');
  return { status: answer.status, text: await answer.text() };
};

async function start() {
  const [tenant, other] = [await createTenant(), await createTenant()];
  const devices = [await fetchToken(worker, tenant), await fetchToken(worker, other)] as const;
  return { tenant, other, devices };
}

const send = async (tenant: Tenant, token: string) =>
  expect((await worker.post(tenant, '/webhook', envelope.ad(token))).status).toBe(200);

const impressionsOf = async (tenant: Tenant) => (await rollupOf(tenant.application.id)).impressions ?? 0;

/** Raises the format in the Parquet metadata of a file: the one digit behind its key. */
function raised(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice();
  const key = Buffer.from(copy).lastIndexOf('format');
  const digit = copy.indexOf('1'.charCodeAt(0), key);
  expect(digit - key).toBeLessThan(12);
  copy[digit] = '9'.charCodeAt(0);
  return copy;
}

it('database: nothing is written, events wait, and every answer says what to do', async () => {
  const { tenant, devices } = await start();
  await send(tenant, devices[0]);
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
  expect(await impressionsOf(tenant)).toBe(1);
  const creative = await createCreative(worker, tenant, { campaign: 'Spring', creative: 'Cat' });
  await env.DB.prepare("INSERT INTO store_formats VALUES ('database', ?)").bind(NEWER).run();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + MINUTE });

  await send(tenant, devices[0]);
  await worker.request(`/t/${creative.token}`, {
    headers: { 'User-Agent': 'Mozilla/5.0 (Linux; Android 16)' },
  });
  const { explicitAcks, retryMessages } = await worker.deliver(worker.queue.take());
  // The event is in its counter, whose store is known; the click waits in the queue.
  expect([explicitAcks.length, retryMessages.length]).toEqual([1, 1]);
  expect(await settleOnce(tenant.application.id)).toBe(false);
  expect(await impressionsOf(tenant)).toBe(1);
  const counter = await counterOf(env, tenant.application.id, 0).health();
  expect(counter.flushError).toContain(refusal('database'));
  const refused = await worker.team(tenant, `/v1/applications/${tenant.application.id}`);
  expect([refused.status, await refused.text()]).toEqual([500, expect.stringContaining(refusal('database'))]);
  const { status, text } = await healthOf(tenant);
  expect([status, text]).toEqual([503, expect.stringContaining(refusal('database'))]);
  expect(JSON.parse(text).runbooks[0]).toBe(RUNBOOK);
  const token = await worker.post(tenant, '/fetch-token', {
    type: 'device-metrics',
    created_at: new Date().toISOString(),
    data: { device_name: 'a', device_model: 'b', os_system: 'c', timezone: 'UTC' },
  });
  expect(token.status).toBe(500);
  await expect(service.scheduled(inMinuteOf('chores'), worker.bindings)).rejects.toThrow('Failed chores: ');
  expect(await env.DB.prepare('SELECT count(*) AS n FROM clicks').first('n')).toBe(0);

  await env.DB.prepare("UPDATE store_formats SET number = 1 WHERE store = 'database'").run();
  expect(await settleOnce(tenant.application.id)).toBe(true);
  expect(await impressionsOf(tenant)).toBe(2);
  expect((await worker.team(tenant, '/v1/health')).status).toBe(200);
});

it('counter: its messages come back, the other applications count, and all is counted later', async () => {
  const { tenant, other, devices } = await start();
  const stub = counterOf(env, tenant.application.id, 0) as unknown as DurableObjectStub<undefined>;
  const setFormat = (number: number) =>
    runInDurableObject(
      stub,
      (_, { storage }) => void storage.sql.exec('UPDATE progress SET format = ?', number),
    );
  const dump = () =>
    runInDurableObject(stub, (_, { storage }) =>
      ['log', 'progress', 'devices'].map((table) => storage.sql.exec(`SELECT * FROM ${table}`).toArray()),
    );
  await setFormat(NEWER);
  await evictDurableObject(stub);
  const before = await dump();
  await send(tenant, devices[0]);
  await send(other, devices[1]);
  const messages = worker.queue.take();
  const { explicitAcks, retryMessages } = await worker.deliver(messages);
  expect([explicitAcks.length, retryMessages.length]).toEqual([1, 1]);
  await settleOnce(other.application.id);
  expect(await impressionsOf(other)).toBe(1);
  const { text } = await healthOf(tenant);
  expect(text).toContain(refusal('counter'));
  expect(text).toContain(RUNBOOK);
  expect((await healthOf(other)).text).not.toContain('newer format');
  expect(await dump()).toEqual(before);

  await setFormat(1);
  await evictDurableObject(stub);
  await worker.deliver(messages.filter(({ id }) => retryMessages.some(({ msgId }) => msgId === id)));
  expect(await settleOnce(tenant.application.id)).toBe(true);
  expect(await impressionsOf(tenant)).toBe(1);
});

it('destination: it sends nothing, and events wait in the counter', async () => {
  const { tenant, devices } = await start();
  const made = await worker.team(tenant, '/v1/destinations', {
    method: 'POST',
    body: {
      ...{ application_id: tenant.application.id, kind: 'webhook', url: 'https://hooks.example.com/in' },
      events: ['ad'],
    },
  });
  const { id } = await made.json<{ id: string }>();
  const stub = env.DESTINATIONS.getByName(id) as unknown as DurableObjectStub<undefined>;
  await env.DESTINATIONS.getByName(id).health();
  const setFormat = (number: number) =>
    runInDurableObject(
      stub,
      (_, { storage }) => void storage.sql.exec('UPDATE state SET format = ?', number),
    );
  await setFormat(NEWER);
  await evictDurableObject(stub);
  await send(tenant, devices[0]);
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
  const counter = counterOf(env, tenant.application.id, 0);
  await runInDurableObject(counter as unknown as DurableObjectStub<Counter>, (object) => object.alarm());
  await counter.fed();
  const waiting = () =>
    runInDurableObject(counter as unknown as DurableObjectStub<undefined>, (_, { storage }) =>
      storage.sql.exec('SELECT count(*) AS n FROM outbound_parts').one(),
    );
  expect(await waiting()).toEqual({ n: 1 });
  const { text } = await healthOf(tenant);
  expect(text).toContain(refusal('destination'));
  expect(text).toContain(RUNBOOK);
  await setFormat(1);
  await evictDurableObject(stub);
  expect(await env.DESTINATIONS.getByName(id).health()).toMatchObject({ pending: 0 });
});

it('raw_file: its events are not guessed', async () => {
  const bucket = new MemoryBucket();
  const entries = await writeFiles(bucket, { applicationId: APPLICATION_ID, shard: 0 }, [
    ...makeSlices({ events: 20, devices: 3, seed: 1 }),
  ]);
  const page = { limit: 100, cursor: '' };
  expect((await readEvents(bucket, entries, {}, page)).events).toHaveLength(20);
  for (const [key, bytes] of bucket.objects) bucket.objects.set(key, raised(bytes));
  await expect(readEvents(bucket, entries, {}, page)).rejects.toThrow('a raw event file has format 9');
});

it('raw_file: Health names it once a request has met it, and no other store', async () => {
  const { tenant, devices } = await start();
  await send(tenant, devices[0]);
  await worker.deliver(worker.queue.take());
  await exportAll(tenant.application.id, 1);
  const { objects } = await env.RAW_EVENTS.list({ prefix: 'events/' });
  const own = objects.filter(({ key }) => key.includes(tenant.application.id));
  expect(own.length).toBeGreaterThan(0);
  for (const { key } of own) {
    const bytes = await (await env.RAW_EVENTS.get(key))?.bytes();
    await env.RAW_EVENTS.put(key, raised(bytes ?? new Uint8Array()));
  }
  const fault = 'A store has a newer format: a raw event file has format 9';
  expect((await healthOf(tenant)).text).not.toContain(fault);
  const list = () => worker.team(tenant, `/v1/events?application_id=${tenant.application.id}`);
  const listed = await list();
  expect([listed.status, await listed.text()]).toEqual([500, expect.stringContaining(fault)]);
  const { text } = await healthOf(tenant);
  expect(text).toContain(fault);
  expect(text).toContain(RUNBOOK);
  await list();
  const { results } = await env.DB.prepare('SELECT * FROM store_formats').all();
  expect(results).toEqual([{ store: 'raw_file', number: 9 }]);
});

it('cube_part: its sums are not guessed', async () => {
  await loadParquet();
  const texts = new Map([
    ['day', ['2026-03-01']],
    ['creative_id', ['crt_1']],
    ['currency', ['usd']],
  ]);
  const sums = sumColumnsOf('rollup_daily').map((name) => (name === 'installs' ? [3] : []));
  const part = writePart('rollup_daily', 'creative', { texts, sums });
  expect((await PartFile.open(part)).size).toBe(1);
  const newer = Buffer.from(raised(Buffer.from(part, 'base64'))).toString('base64');
  await expect(PartFile.open(newer)).rejects.toThrow('a part of the cube has format 9');
});

it('snapshot: nothing is restored, not even an older one, and none is deleted', async () => {
  const { tenant, devices } = await start();
  await send(tenant, devices[0]);
  await worker.deliver(worker.queue.take());
  await exportAll(tenant.application.id, 1);
  await writeSnapshot(env, Date.now());
  const key = `snapshots/${new Date().toISOString().slice(0, 10)}/manifest.json`;
  const manifest = await (await env.RAW_EVENTS.get(key))?.json<Record<string, unknown>>();
  await env.RAW_EVENTS.put(key, JSON.stringify({ ...manifest, version: NEWER, settings: 'in another form' }));
  await expect(writeSnapshot(env, Date.now())).rejects.toThrow(refusal('snapshot'));
  await loseAllButBucket();
  const { secret } = await beginRestore();
  const answer = await askRestore(worker, secret);
  expect([answer.status, await answer.text()]).toEqual([409, expect.stringContaining(refusal('snapshot'))]);
  expect(await env.DB.prepare('SELECT count(*) AS n FROM applications').first('n')).toBe(0);
});

it('message: it is parked with what to do', async () => {
  const { tenant, devices } = await start();
  await send(tenant, devices[0]);
  const [message] = worker.queue.take();
  if (!message) throw new Error('nothing was sent');
  const body = String(message.body).replace('{"v":1', `{"v":${NEWER}`);
  expect(body).not.toBe(message.body);
  const { explicitAcks } = await worker.deliver([{ ...message, body }]);
  expect(explicitAcks).toHaveLength(1);
  const { data } = await (await worker.team(tenant, '/v1/parked')).json<{ data: { reason: string }[] }>();
  expect(data).toEqual([expect.objectContaining({ reason: expect.stringContaining(refusal('message')) })]);
  expect(data[0]?.reason).toMatch(/Deploy the release that wrote it, or a later one, then replay it$/);
});

it('has a test for each store', async () => {
  const { default: text } = await import('./store-formats.slow.test.ts?raw');
  for (const store of Object.keys(STORE_FORMATS)) expect(text).toContain(`it('${store}: `);
});
