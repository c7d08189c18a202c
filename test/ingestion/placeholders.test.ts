import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { listRejections } from '#ingestion';
import { ANDROID_AGENT, ANDROID_METRICS, follow, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { deviceMetrics, envelope } from '../helpers/envelopes.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { eventsIn, fetchToken, startWorker } from '../helpers/worker.ts';

// An isolate of its own: one that noted placeholders a short while ago notes the next ones later.
vi.hoisted(() => vi.resetModules());

const worker = startWorker();
const WORD = 'says nothing, like null; counted as absent';
const MACRO = 'is a macro that was not replaced; counted as absent';
const SHARED = 'is an id that many devices share; counted as absent';

type Warning = { path: string; message: string };

let tenant: Tenant;
let token: string;
beforeAll(async () => {
  tenant = await createTenant(STORES);
  token = await fetchToken(worker, tenant);
  worker.queue.take();
});

async function register(own: Tenant, data: Record<string, unknown>, more: Record<string, unknown> = {}) {
  const answer = await worker.post(own, '/fetch-token', deviceMetrics(data, more));
  const body = await answer.json<{ token: string }>();
  expect(answer.status, JSON.stringify(body)).toBe(200);
  expect(Object.keys(body)).toEqual(['token']);
  const warnings = JSON.parse(answer.headers.get('X-Warnings') ?? '[]') as Warning[];
  const shown = await worker.team(own, `/v1/devices/${body.token}/attribution`);
  const explained = await shown.json<{
    device_id: string;
    method: string;
    network: string | null;
    candidates: { facts: Record<string, number> }[];
  }>();
  return { warnings, ...explained, deepLink: answer.headers.get('X-Deep-Link') };
}

async function send(body: unknown, headers: Record<string, string> = {}) {
  const answer = await worker.post(tenant, '/webhook', body, headers);
  const { warnings = [], ...rest } = await answer.json<{ warnings?: Warning[] }>();
  expect(answer.status, JSON.stringify(rest)).toBe(200);
  const [event] = worker.queue.take().flatMap((message) => eventsIn(message.body));
  return { warnings, event: event as unknown as Record<string, unknown> };
}

describe('a device', () => {
  it.each([
    ...[
      '00000000-0000-0000-0000-000000000000',
      'null',
      'undefined',
      '[object Object]',
      '0',
      'NaN',
      'None',
    ].map((id) => [id, WORD] as const),
    ['9774d56d682e549c', SHARED],
    ['{device_id}', MACRO],
    ['__GAID__', MACRO],
    [0, WORD],
  ] as const)('with the id %j is a device of its own', async (device_id, message) => {
    const [one, other] = [await register(tenant, { device_id }), await register(tenant, { device_id })];
    expect(one.device_id).not.toBe(other.device_id);
    expect(one.warnings).toEqual([{ path: 'data.device_id', message }]);
  });

  it('with an id that only looks like one keeps it', async () => {
    const data = { device_id: 'none-of-your-business' };
    const [one, other] = [await register(tenant, data), await register(tenant, data)];
    expect([other.device_id, other.warnings]).toEqual([one.device_id, []]);
  });

  it('is known by the identity of its installation that says something', async () => {
    const ids = { asid: '00000000-0000-0000-0000-000000000000', ifv: 'unknown', ga: '{gaid}', aid: 'a1' };
    const [one, other] = [await register(tenant, {}, ids), await register(tenant, {}, ids)];
    expect(other.device_id).toBe(one.device_id);
    expect(one.warnings.map(({ path }) => path)).toEqual(['asid', 'ifv', 'ga']);
  });

  it('keeps all digits of an id that is a number', async () => {
    const bodyWith = (digits: string) =>
      JSON.stringify(deviceMetrics({ device_id: '@' })).replace('"@"', digits);
    const idOf = async (digits: string) => {
      const answer = await worker.request('/fetch-token', {
        method: 'POST',
        headers: { 'service-api-key': tenant.apiKey, 'Content-Type': 'application/json' },
        body: bodyWith(digits),
      });
      const body = await answer.json<{ token: string }>();
      if (answer.status !== 200) return JSON.stringify(body);
      const shown = await worker.team(tenant, `/v1/devices/${body.token}/attribution`);
      return (await shown.json<{ device_id: string }>()).device_id;
    };
    const [one, other] = [await idOf('9007199254740993'), await idOf('9007199254740992')];
    expect(one).not.toBe(other);
    expect((await register(tenant, { device_id: '9007199254740993' })).device_id).toBe(one);
    expect(await idOf('9.007199254740993e15')).toContain('must be sent as text');
  });
});

describe('an event', () => {
  it.each([
    ['purchase', { tr_id: 'null' }, {}, 'payload.tr_id', WORD],
    ['purchase', { tr_id: '{transaction_id}' }, {}, 'payload.tr_id', MACRO],
    ['purchase', {}, { eid: '00000000-0000-0000-0000-000000000000' }, 'eid', WORD],
    ['ad', {}, { event_id: 'undefined' }, 'event_id', WORD],
    ['custom', {}, { dk: '[object Object]' }, 'dk', WORD],
    ['retention', {}, { dedupe_key: 'None' }, 'dedupe_key', WORD],
  ] as const)('of the kind %s with %j %j has no key', async (kind, payload, more, path, message) => {
    const { event, warnings } = await send(envelope[kind](token, more, payload));
    expect([event.keys, warnings]).toEqual([undefined, [{ path, message }]]);
    expect(event.warnings).toEqual(warnings);
  });

  it('has no key by a header that says nothing, alone and in a batch', async () => {
    const warnings = [{ path: 'Idempotency-Key', message: WORD }];
    const single = await send(envelope.ad(token), { 'Idempotency-Key': 'null' });
    expect([single.event.keys, single.warnings]).toEqual([undefined, warnings]);
    const body = { events: [envelope.ad(token)] };
    const answer = await worker.post(tenant, '/webhook/batch', body, { 'Idempotency-Key': 'undefined' });
    const { results } = await answer.json<{ results: { warnings: Warning[] }[] }>();
    expect(results[0]?.warnings).toEqual(warnings);
    const [event] = worker.queue.take().flatMap((message) => eventsIn(message.body));
    expect(event?.keys).toBeUndefined();
  });

  it('has no network, format or item by a name that says nothing', async () => {
    const told = { media_source: '{network}', source: 'None', ad_id: '(not set)' };
    const { event, warnings } = await send(envelope.ad(token, {}, told));
    expect([event.media_source, event.source, event.ad_id]).toEqual([undefined, 'unknown', 'unknown']);
    expect(warnings.map(({ path }) => path).sort()).toEqual([
      ...['payload.ad_id', 'payload.media_source', 'payload.source'],
    ]);
  });

  it('may have any name', async () => {
    const { event, warnings } = await send(envelope.custom(token, {}, { event_name: 'null' }));
    expect([event.event_name, warnings]).toEqual(['null', []]);
  });

  it('says that a refund of no transaction counts nothing', async () => {
    const { warnings } = await send(envelope.purchase(token, {}, { status: 'refunded', tr_id: 'null' }));
    expect(warnings).toEqual([
      { path: 'payload.tr_id', message: 'is required to find the purchase; not counted' },
    ]);
  });

  it('keeps all digits of its ids, also in JSON within JSON', async () => {
    const body = JSON.stringify(envelope.purchase(token, { eid: '@e' }, { tr_id: '@t' }))
      .replace('"@e"', '12345678901234567891')
      .replace('"@t"', '9007199254740993');
    const nested = JSON.stringify({
      ...envelope.purchase(token),
      payload: '{"item_id":"a","value":1,"currency":"usd","status":"success","tr_id":9007199254740993}',
    });
    const keysOf = async (text: string) => {
      const headers = { 'service-api-key': tenant.apiKey, 'Content-Type': 'application/json' };
      expect((await worker.request('/webhook', { method: 'POST', headers, body: text })).status).toBe(200);
      return worker.queue.take().flatMap((message) => eventsIn(message.body))[0]?.keys;
    };
    expect(await keysOf(body)).toEqual(['success:e:12345678901234567891', 'success:t:9007199254740993']);
    expect(await keysOf(nested)).toEqual(['success:t:9007199254740993']);
    const { warnings } = await send(envelope.purchase(token, {}, { tr_id: 2 ** 60 }));
    expect(warnings).toEqual([]);
  });
});

describe('a click id', () => {
  it.each([
    ['gclid=null', WORD],
    ['gclid={gclid}', MACRO],
    ['ttclid=__CLICKID__', MACRO],
    ['fbclid={{fbclid}}', MACRO],
  ])('%s of a referrer is of no network', async (install_referrer, message) => {
    const { method, network, warnings } = await register(tenant, { install_referrer });
    expect([method, network]).toEqual(['organic', null]);
    const [name = ''] = install_referrer.split('=');
    expect(warnings).toEqual([{ path: 'data.install_referrer', message: `${name} ${message}` }]);
  });

  it('that says nothing neither names the network of a link nor is stored with its click', async () => {
    const { path } = await createCreative(worker, tenant);
    const query =
      'gclid={gclid}&fbclid=null&ttclid=E.C.P&campaign_name=%7B%7Bcampaign.name%7D%7D&adset_name=[US]%20x';
    const { messages } = await follow(worker, `${path}?${query}`, ANDROID_AGENT);
    const [event] = messages.flatMap(({ body }) => eventsIn(body)) as unknown as Record<string, unknown>[];
    expect(event).toMatchObject({ network: 'tiktok', params: { ttclid: 'E.C.P', adset_name: '[US] x' } });
    expect(Object.keys(event?.params ?? {})).toEqual(['ttclid', 'adset_name']);
  });
});

it('reads the address of a device however a proxy writes it', async () => {
  const own = await createTenant(STORES);
  const { path } = await createCreative(worker, own);
  for (const [ip, isRead] of [
    ['198.51.100.8:51234', true],
    ['10.0.0.1, 198.51.100.8', true],
    ['"198.51.100.8"', true],
    ['[::ffff:198.51.100.8]:443', true],
    ['somewhere', false],
  ] as const) {
    const { messages } = await follow(worker, path, ANDROID_AGENT, '198.51.100.8');
    await worker.deliver(messages);
    const created_at = new Date().toISOString();
    const { candidates, warnings } = await register(own, { ...ANDROID_METRICS, ip }, { created_at });
    expect([ip, (candidates[0]?.facts.ip ?? 0) > 0]).toEqual([ip, isRead]);
    const message = 'is not an IP address; counted as absent';
    expect(warnings).toEqual(isRead ? [] : [{ path: 'data.ip', message }]);
  }
});

it('opens the link that was just followed, and keeps the credit', async () => {
  const own = await createTenant(STORES);
  const links = [];
  for (const name of ['one', 'other']) {
    const { id, path } = await createCreative(worker, own, { creative: name });
    const deep_link = `game://${name}`;
    await worker.team(own, `/v1/creatives/${id}`, { method: 'PATCH', body: { deep_link } });
    links.push({ id, path });
  }
  const opened: unknown[] = [];
  for (const { path } of [...links, ...links]) {
    const { publicId } = await follow(worker, path, ANDROID_AGENT);
    const data = { device_id: 'phone', install_referrer: `click_id=${publicId}` };
    const answer = await worker.post(
      own,
      '/fetch-token',
      deviceMetrics(data, { created_at: new Date().toISOString() }),
    );
    const { token: issued } = await answer.json<{ token: string }>();
    const verified = await worker.post(own, '/verify-token', { token: issued });
    const { creative } = await verified.json<{ creative: { name: string } | null }>();
    opened.push([answer.headers.get('X-Deep-Link'), creative?.name]);
  }
  expect(opened).toEqual([
    ['game://one', 'one'],
    ['game://other', 'one'],
    ['game://one', 'one'],
    ['game://other', 'one'],
  ]);
});

it('shows on Health how often each field said nothing, by application', async () => {
  const [own, other] = [await createTenant(), await createTenant()];
  const issued = await fetchToken(worker, own, { data: { device_id: 'null' } });
  for (const tr_id of ['null', 'NULL', 'nil'])
    await worker.post(own, '/webhook', envelope.purchase(issued, {}, { tr_id }));
  await worker.post(other, '/webhook/batch', { events: [envelope.custom('x')] });
  const readHealth = async (of: Tenant) => {
    const answer = await worker.team(of, '/v1/health');
    const { applications } = await answer.json<{
      applications: { absent_fields: Record<string, unknown>[] }[];
    }>();
    return applications[0]?.absent_fields.map(({ field, endpoint, count }) => [field, endpoint, count]);
  };
  await vi.waitFor(
    async () =>
      expect(await readHealth(own)).toEqual([
        ['payload.tr_id', 'POST /webhook', 3],
        ['data.device_id', 'POST /fetch-token', 1],
      ]),
    { timeout: 8_000, interval: 200 },
  );
  expect(await readHealth(other)).toEqual([]);
  const admin = await signedIn(worker, own.team, 'admin');
  const page = await pageOf(await admin.get(`/status?app=${own.application.id}`));
  expect(page.cells('Fields with placeholders', 'Field', 'Times')).toEqual([
    ['payload.tr_id', '3'],
    ['data.device_id', '1'],
  ]);
  // The debugger lists refused requests only.
  expect(await listRejections(env.DB, own.application.id)).toEqual([]);
});
