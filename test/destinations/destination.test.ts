import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { newId } from '#lib/ids';
import { createCreative } from '../helpers/creatives.ts';
import { call, item, partOf, type ShownDestination, setUp } from '../helpers/destination.ts';
import { answerFetch } from '../helpers/strict-fetch.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

afterEach(() => vi.useRealTimers());

const worker = startWorker();

it('sends each event once, in the order of its parts, and logs what was answered', async () => {
  const { tenant, receiver, object, deliveries } = await setUp();
  const items = Array.from({ length: 3 }, () => item(tenant.application.id));
  const part = partOf(items);
  receiver.answer = () => new Response('x'.repeat(2_000), { status: 201 });
  await object.inside((own) => own.accept([part]));
  await object.work();
  // As after an answer that was lost.
  await object.inside((own) => own.accept([part]));
  await object.work();
  expect(receiver.ids).toEqual(items.map(({ event }) => event.id));
  const [newest] = await deliveries();
  expect(newest).toMatchObject({
    event_id: items[2]?.event.id,
    status: 'delivered',
    attempts: [{ status: 201, answer: 'x'.repeat(1_000) }],
  });
  expect(JSON.parse(newest?.attempts[0]?.request.body ?? '')).toMatchObject({
    type: 'purchase',
    data: { currency: 'usd', value: 4.99 },
  });
});

it('tells of a free purchase that its value is 0, and of no other 0', async () => {
  const { tenant, receiver, object, deliveries } = await setUp();
  const told = { purchase: { value: 0, currency: 'usd' }, refund: { value: null, currency: null } };
  const items = Object.keys({ ...told, ad: null }).map((type) => {
    const own = item(tenant.application.id);
    return { ...own, type, event: { ...own.event, value_nanos: 0, currency: 'usd' } } as typeof own;
  });
  receiver.answer = () => new Response();
  await object.inside((own) => own.accept([partOf(items)]));
  await object.work();
  const sent = (await deliveries()).map(({ attempts }) => JSON.parse(attempts[0]?.request.body ?? ''));
  const byType = Object.fromEntries(sent.map(({ type, data }) => [type, data]));
  expect(byType).toMatchObject({ ...told, ad: told.refund });
});

const NOW = Date.parse('2026-11-23T12:00:00Z');
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Sets the clock that the objects read. */
const setClock = (at: number) => vi.useFakeTimers({ toFake: ['Date'], now: at });

it('tries again for 76 hours, at the times of the schedule, and then gives up', async () => {
  setClock(NOW);
  const { tenant, receiver, object, deliveries } = await setUp();
  const refused = item(tenant.application.id);
  receiver.answer = ({ id }) => new Response('', { status: id === refused.event.id ? 500 : 200 });
  await object.inside((own) => own.accept([partOf([refused])]));
  await object.work();
  const attempts = () => receiver.ids.filter((id) => id === refused.event.id).length;
  const waits = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)];
  for (const wait of waits) {
    const before = attempts();
    vi.setSystemTime(Date.now() + wait * 0.89);
    // Without a success, it would be switched off after three days.
    await object.inside((own) => own.accept([partOf([item(tenant.application.id)])]));
    await object.work();
    expect(attempts()).toBe(before);
    vi.setSystemTime(Date.now() + wait * 0.22);
    await object.work();
    expect(attempts()).toBe(before + 1);
  }
  const [delivery] = await deliveries(`event_id=${refused.event.id}`);
  expect(delivery).toMatchObject({ status: 'failed', reason: 'Answered 500', next_attempt_at: null });
  expect(delivery?.attempts).toHaveLength(10);
});

it('gives an event that is sent again by hand all its attempts again', async () => {
  setClock(NOW);
  const { tenant, receiver, object, deliveries, path } = await setUp();
  const [refused, other] = [item(tenant.application.id), item(tenant.application.id)];
  receiver.answer = () => new Response('', { status: 500 });
  await object.inside((own) => own.accept([partOf([refused, other])]));
  await object.work();
  // All but the last attempt: the next one that fails would be the end.
  for (let attempt = 1; attempt < 9; attempt++) {
    vi.setSystemTime(Date.now() + 27 * HOUR);
    receiver.answer = ({ id }) => new Response('', { status: id === refused.event.id ? 500 : 200 });
    await object.inside((own) => own.accept([partOf([item(tenant.application.id)])]));
    await object.work();
  }
  const before = await deliveries(`event_id=${other.event.id}`);
  await call(tenant, 'POST', `${path}/replay`, { event_id: refused.event.id });
  await object.work();
  const [delivery] = await deliveries(`event_id=${refused.event.id}`);
  expect(delivery).toMatchObject({ status: 'pending', reason: 'Answered 500' });
  // The wait is the first one of the schedule again.
  const wait = Date.parse(delivery?.next_attempt_at ?? '') - Date.now();
  expect(wait).toBeLessThanOrEqual(1.1 * 5 * SECOND);
  expect(await deliveries(`event_id=${other.event.id}`)).toEqual(before);
});

/** Breaks off after a part of its body. */
const broken = () =>
  new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('hal'));
        controller.error(new Error('connection reset'));
      },
    }),
  );

const ANSWERS: Record<
  string,
  [answer: () => Response | Promise<Response>, status: string, reason: RegExp | null]
> = {
  'a success': [() => new Response(null, { status: 204 }), 'delivered', null],
  'a redirect': [() => Response.redirect('https://10.0.0.1/', 302), 'pending', /302/],
  'a request that is refused': [() => new Response('', { status: 400 }), 'failed', /400/],
  'too many requests': [() => new Response('', { status: 429 }), 'pending', /429/],
  'a later time': [
    () => new Response('', { status: 404, headers: { 'Retry-After': '60' } }),
    'pending',
    /404/,
  ],
  'an outage': [() => new Response('', { status: 503 }), 'pending', /503/],
  'a closed connection': [
    () => Promise.reject(new Error('connection refused')),
    'pending',
    /connection refused/,
  ],
  'half an answer': [broken, 'pending', /connection reset/],
  'nothing in time': [
    () => Promise.reject(new DOMException('The operation timed out', 'TimeoutError')),
    'pending',
    /within 15 s/,
  ],
};

it('treats each answer as its kind says', async () => {
  const { tenant, receiver, object, deliveries } = await setUp();
  const names = Object.keys(ANSWERS);
  const items = names.map(() => item(tenant.application.id));
  const byId = new Map(items.map(({ event }, index) => [event.id, names[index] ?? '']));
  receiver.answer = ({ id }) => ANSWERS[byId.get(id) ?? '']?.[0]() ?? new Response();
  await object.inside((own) => own.accept([partOf(items)]));
  await object.work();
  const found = new Map((await deliveries()).map((own) => [byId.get(own.event_id), own]));
  for (const [name, [, status, reason]] of Object.entries(ANSWERS)) {
    const { status: shown, reason: why } = found.get(name) ?? {};
    expect({ name, status: shown }).toEqual({ name, status });
    if (reason === null) expect(why).toBeNull();
    else expect(why).toMatch(reason);
  }
});

it('waits as long as it is asked to', async () => {
  setClock(NOW);
  const { tenant, receiver, object, deliveries } = await setUp();
  receiver.answer = () => new Response('', { status: 429, headers: { 'Retry-After': '3600' } });
  await object.inside((own) => own.accept([partOf([item(tenant.application.id)])]));
  await object.work();
  const [delivery] = await deliveries();
  expect(Date.parse(delivery?.next_attempt_at ?? '')).toBe(NOW + HOUR);
});

it('switches off a destination whose receiver is gone, and on again after a test', async () => {
  const { tenant, receiver, object, path, deliveries } = await setUp();
  receiver.answer = () => new Response('', { status: 410 });
  await object.inside((own) => own.accept([partOf([item(tenant.application.id)])]));
  await object.work();
  expect((await call<ShownDestination>(tenant, 'GET', path)).body).toMatchObject({
    enabled: false,
    off_reason: 'Answered 410',
  });
  const later = partOf([item(tenant.application.id)]);
  await object.inside((own) => own.accept([later]));
  await object.work();
  expect(receiver.received).toHaveLength(1);
  receiver.answer = () => new Response('ok');
  expect((await call(tenant, 'POST', `${path}/test`)).body).toMatchObject({ delivered: true, error: null });
  expect((await call<ShownDestination>(tenant, 'GET', path)).body).toMatchObject({
    enabled: true,
    off_reason: null,
  });
  await object.work();
  expect((await deliveries()).map(({ status }) => status)).toEqual(['delivered', 'failed']);
});

it('sends again what failed in a period, or one event, under the same ids', async () => {
  const { tenant, receiver, object, path, deliveries } = await setUp();
  const items = Array.from({ length: 3 }, () => item(tenant.application.id));
  receiver.answer = ({ id }) => new Response('', { status: id === items[0]?.event.id ? 200 : 400 });
  await object.inside((own) => own.accept([partOf(items)]));
  await object.work();
  const failed = async () => (await deliveries('status=failed')).map(({ event_id }) => event_id);
  expect(await failed()).toEqual([items[2]?.event.id, items[1]?.event.id]);
  receiver.answer = () => new Response('ok');
  const day = new Date().toISOString().slice(0, 10);
  const replay = (body: object) => call<{ replayed: number }>(tenant, 'POST', `${path}/replay`, body);
  expect(await replay({ event_id: items[1]?.event.id })).toEqual({ status: 200, body: { replayed: 1 } });
  await object.work();
  expect(await failed()).toEqual([items[2]?.event.id]);
  expect((await replay({ from: '2026-01-01', to: '2026-01-02' })).body).toEqual({ replayed: 0 });
  expect((await replay({ from: day, to: day, status: 'failed' })).body).toEqual({ replayed: 1 });
  await object.work();
  expect(await failed()).toEqual([]);
  expect((await replay({ from: day, to: day, status: 'all' })).body).toEqual({ replayed: 3 });
  await object.work();
  const [one] = await deliveries(`event_id=${items[1]?.event.id}`);
  expect(one?.attempts.map(({ status }) => status)).toEqual([400, 200, 200]);
  expect((await replay({ from: day })).body).toEqual({ message: 'to is required without event_id' });
});

it('forgets an erased device, and what waits of it', async () => {
  const { tenant, receiver, object, deliveries } = await setUp();
  const [erased, other] = [newId('dev'), newId('dev')];
  receiver.answer = () => new Response('', { status: 500 });
  await object.inside((own) => own.accept([partOf([item(tenant.application.id, erased)])]));
  await object.work();
  const kept = item(tenant.application.id, other);
  const waiting = partOf([item(tenant.application.id, erased), kept]);
  await object.inside(async (own) => {
    own.deliver = () => new Promise(() => undefined);
    await own.accept([waiting, { id: 'erasure', payload: JSON.stringify({ erased }) }]);
  });
  await object.work();
  expect((await deliveries()).map(({ event_id }) => event_id)).toEqual([kept.event.id]);
  expect(receiver.ids.at(-1)).toBe(kept.event.id);
});

it('refuses to save and to send to what is not public', async () => {
  const { tenant, receiver, object, path, deliveries, id } = await setUp();
  for (const url of [
    'http://example.com/',
    'https://127.0.0.1/',
    'https://a.internal/',
    'https://x.example.com:8443/',
    'https://u:p@example.com/',
  ]) {
    const refused = await call<ShownDestination>(tenant, 'PATCH', path, { url });
    expect(refused.status).toBe(400);
    expect(refused.body.message).toMatch(/^url must /);
  }
  await env.DB.prepare('UPDATE destinations SET settings = ? WHERE id = ?')
    .bind(JSON.stringify({ url: 'https://[::ffff:10.0.0.1]/' }), id)
    .run();
  await object.inside((own) => own.accept([partOf([item(tenant.application.id)])]));
  await object.work();
  expect(receiver.received).toEqual([]);
  expect(await deliveries()).toMatchObject([
    { status: 'skipped', reason: 'The URL must not be a private or local address' },
  ]);
});

it('refuses to save and to send to a name of what is not public', async () => {
  const { tenant, receiver, object, path, deliveries, id } = await setUp();
  const host = `${id.toLowerCase().replaceAll('_', '-')}.example.com`;
  answerFetch(async () => Response.json({ Answer: [{ data: '192.168.1.7' }] }));
  const refused = await call<ShownDestination>(tenant, 'PATCH', path, { url: `https://${host}/hook` });
  vi.restoreAllMocks();
  expect(refused.status).toBe(400);
  expect(refused.body.message).toBe('url must not lead to a private or local address');
  receiver.addresses = ['10.0.0.1'];
  await env.DB.prepare('UPDATE destinations SET settings = ? WHERE id = ?')
    .bind(JSON.stringify({ url: `https://later.${host}/hook` }), id)
    .run();
  await object.inside((own) => own.accept([partOf([item(tenant.application.id)])]));
  await object.work();
  expect(receiver.received).toEqual([]);
  expect(await deliveries()).toMatchObject([
    { status: 'skipped', reason: 'The URL must not lead to a private or local address' },
  ]);
});

it('tells the names of the creative and the parameters of the click, and filters by campaign', async () => {
  const { tenant, receiver, object, path, deliveries } = await setUp();
  const creative = await createCreative(worker, tenant, { campaign: 'Spring', adset: 'Young' });
  const clickId = newId('clk');
  await env.DB.prepare(
    "INSERT INTO clicks (application_id, id, creative_id, clicked_at, os_family, params) VALUES (?, ?, ?, 0, 'ios', ?)",
  )
    .bind(tenant.application.id, clickId, creative.id, JSON.stringify({ cid: 'abc' }))
    .run();
  const bare = item(tenant.application.id);
  const attributed = {
    ...bare,
    event: { ...bare.event, creative_id: creative.id },
    device: bare.device && { ...bare.device, attribution: { method: 'click_id', click_id: clickId } },
  } as typeof bare;
  await object.inside((own) => own.accept([partOf([attributed])]));
  await object.work();
  expect(JSON.parse(receiver.received[0]?.body ?? '').data.attribution).toMatchObject({
    campaign: { name: 'Spring' },
    adset: { name: 'Young' },
    creative: { id: creative.id },
    method: 'click_id',
    click: { cid: 'abc' },
  });
  await call(tenant, 'PATCH', path, { filter: { campaign_id: newId('cmp') } });
  const again = { ...attributed, event: { ...attributed.event, id: newId('evt') } };
  await object.inside((own) => own.accept([partOf([item(tenant.application.id), again])]));
  await object.work();
  expect(receiver.received).toHaveLength(1);
  expect(await deliveries()).toHaveLength(1);
});

it('signs with two secrets while they rotate', async () => {
  setClock(NOW);
  const { tenant, receiver, object, path, secret } = await setUp();
  const rotated = await call<{ secret: string }>(tenant, 'POST', `${path}/rotate`);
  expect(rotated.body.secret).not.toBe(secret);
  const signatures = async () => {
    await object.inside((own) => own.accept([partOf([item(tenant.application.id)])]));
    await object.work();
    return receiver.received.at(-1)?.headers['webhook-signature']?.split(' ');
  };
  expect(await signatures()).toHaveLength(2);
  setClock(NOW + 25 * HOUR);
  expect(await signatures()).toHaveLength(1);
});

it('is deleted with what it has, and shows nobody else anything', async () => {
  const { tenant, object, path } = await setUp();
  await object.inside((own) => own.accept([partOf([item(tenant.application.id)])]));
  await object.work();
  const stranger = await createTenant();
  const calls: [method: string, suffix: string, body?: object][] = [
    ['GET', ''],
    ['PATCH', '', { enabled: false }],
    ['DELETE', ''],
    ['POST', '/rotate'],
    ['POST', '/test'],
    ['GET', '/deliveries'],
    ['POST', '/replay', { event_id: newId('evt') }],
  ];
  for (const [method, suffix, body] of calls) {
    expect(await call(stranger, method, path + suffix, body)).toEqual({
      status: 404,
      body: { message: 'Destination not found' },
    });
  }
  expect((await call(tenant, 'DELETE', path)).status).toBe(200);
  const tables = await object.inside((_, { storage }) =>
    storage.sql.exec("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'deliveries'").one(),
  );
  expect(tables).toEqual({ n: 0 });
  expect((await call(tenant, 'GET', path)).status).toBe(404);
});

it('names every field that is wrong', async () => {
  const tenant = await createTenant();
  const add = async (body: object) =>
    (
      await call<ShownDestination>(tenant, 'POST', '/v1/destinations', {
        application_id: tenant.application.id,
        ...body,
      })
    ).body.message;
  const good = { kind: 'webhook', url: 'https://example.com/', events: ['install'] };
  expect(await add({ ...good, kind: 'fax' })).toMatch(/^kind must be one of webhook/);
  expect(await add({ ...good, url: undefined })).toBe('url is required');
  expect(await add({ ...good, events: [] })).toBe('events must have at least one entry');
  expect(await add({ ...good, events: ['installs'] })).toMatch(/^events.0 must be one of install/);
  expect(await add({ ...good, filter: { campaign_id: 'x', country: 'x' } })).toMatch(
    /^filter.campaign_id .*filter.country/,
  );
});
