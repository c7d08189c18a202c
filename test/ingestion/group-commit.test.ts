import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { counterOf } from '#counting';
import { signToken } from '#devices';
import { newId } from '#lib/ids';
import { ANDROID_AGENT, IPHONE_AGENT, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { startWithQueues } from '../helpers/event-queues.ts';
import { GatedQueue } from '../helpers/gated-queue.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { clicksIn, eventsIn, fetchToken, messageIn, startWorker } from '../helpers/worker.ts';

// Requests that arrive while a message is on its way share the next one. What becomes of them when their sender's client goes, or its
// isolate: test/chaos/group-commit.slow.test.ts.

const MAX_BYTES = 128_000;
const PATIENCE_MS = 2_000;
const LINGER_MS = 777;
const version = (id: string) => ({ CF_VERSION_METADATA: { id, tag: '', timestamp: '' } });

let [tenant, other]: Tenant[] = [];
let [token, otherToken]: string[] = [];
beforeAll(async () => {
  [tenant, other] = [await createTenant(STORES), await createTenant()];
  [token, otherToken] = [await fetchToken(startWorker(), tenant), await fetchToken(startWorker(), other)];
});

let queue: GatedQueue;
/** The timers of requests that wait for others, or for company. They end when the test says so: no test depends on the machine's speed. */
let patient: (() => void)[];
let lingering: (() => void)[];
beforeEach(() => {
  queue = new GatedQueue();
  [patient, lingering] = [[], []];
  const { setTimeout } = globalThis;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, milliseconds = 0) => {
    const own = { [PATIENCE_MS]: patient, [LINGER_MS]: lingering }[milliseconds];
    if (!own) return setTimeout(work, milliseconds);
    own.push(work);
    return 0;
  }) as typeof setTimeout);
  vi.spyOn(console, 'warn').mockReturnValue();
  vi.spyOn(console, 'error').mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const start = (overrides: Partial<Env> = {}) => startWithQueues([queue], 1, overrides);

type Send = { name: string; tenant?: Tenant | undefined; token?: string | undefined; params?: object };

/** Sends an event, and notes when it is answered. */
function send(
  worker: ReturnType<typeof start>,
  { name, params = {}, ...from }: Send,
  answered: string[] = [],
) {
  const body = envelope.custom(from.token ?? token ?? '', {}, { event_name: name, params });
  const sent = worker.post(from.tenant ?? (tenant as Tenant), '/webhook', body);
  return sent.then((response) => {
    answered.push(`${name} ${response.status}`);
    return response;
  });
}

type Named = { id: string; event_name: string; application_id: string };
const namesIn = (body: unknown) => eventsIn<Named>(body).map(({ event_name }) => event_name);
const sentNames = () => queue.messages.map(({ body }) => namesIn(body));
const held = (count: number) => expect.poll(() => queue.held.length).toBe(count);

/** How many requests have been sent or wait for their turn. */
const arrived = () => queue.sends + patient.length;

/** Sends the first event, and then others while it is on its way, each once the one before has arrived. */
async function sendBehind(worker: ReturnType<typeof start>, others: Send[], answered: string[] = []) {
  const sent: Promise<Response>[] = [];
  for (const one of [{ name: 'first' }, ...others]) {
    const before = arrived();
    sent.push(send(worker, one, answered));
    await expect.poll(arrived, { interval: 1, timeout: 10_000 }).toBe(before + 1);
  }
  return sent;
}

it('sends a request alone at once, and answers it when its message is taken', async () => {
  const worker = start();
  const answered: string[] = [];
  const sent = send(worker, { name: 'alone' }, answered);
  await held(1);
  expect(patient).toEqual([]);
  expect(answered).toEqual([]);
  queue.open();
  await sent;
  expect([answered, sentNames()]).toEqual([['alone 200'], [['alone']]]);
});

it('sends what arrives meanwhile in one message, in the order of arrival, and answers each with its own', async () => {
  const worker = start();
  const answered: string[] = [];
  const names = Array.from({ length: 20 }, (_, index) => `event ${index}`);
  const sent = await sendBehind(
    worker,
    names.map((name) => ({ name })),
    answered,
  );
  queue.held.shift()?.release();
  await held(1);
  await expect.poll(() => answered).toEqual(['first 200']);
  expect(queue.held.map(({ bodies }) => bodies.map(namesIn))).toEqual([[names]]);
  const late = send(worker, { name: 'late' }, answered);
  queue.open();
  await Promise.all([...sent, late]);
  expect(sentNames()).toEqual([['first'], names, ['late']]);
  expect(new Set(answered)).toEqual(new Set(['first', ...names, 'late'].map((name) => `${name} 200`)));
  // Nothing is left behind: the next one is alone again.
  await send(worker, { name: 'next' }, answered);
  expect(sentNames().at(-1)).toEqual(['next']);
});

describe('a request whose sender does not come back', () => {
  it('sends its event by itself, and the next one goes on for those that wait', async () => {
    const worker = start();
    const answered: string[] = [];
    const [first, ...members] = await sendBehind(worker, [{ name: 'a' }, { name: 'b' }], answered);
    queue.held.shift()?.release();
    await first;
    // The sender of these two hangs, and a third one waits for it.
    await held(1);
    const third = send(worker, { name: 'c' }, answered);
    await expect.poll(() => patient.length).toBe(3);
    patient[1]?.();
    await held(2);
    expect(queue.held[1]?.bodies.map(namesIn)).toEqual([['b']]);
    queue.held.pop()?.release();
    await held(2);
    expect(queue.held[1]?.bodies.map(namesIn)).toEqual([['c']]);
    queue.held.pop()?.release();
    await third;
    expect(answered.sort()).toEqual(['b 200', 'c 200', 'first 200']);
    queue.open();
    await Promise.all(members);
    // The copy is a repeat, because its event has the same id.
    expect(sentNames()).toEqual([['first'], ['b'], ['c'], ['a', 'b']]);
    const ids = queue.messages.flatMap(({ body }) => eventsIn<Named>(body));
    expect(new Set(ids.map(({ id }) => id)).size).toBe(4);
  });

  it('takes over for all that wait', async () => {
    const worker = start();
    const sent = await sendBehind(worker, [{ name: 'a' }, { name: 'b' }]);
    patient[0]?.();
    await held(2);
    expect(queue.held[1]?.bodies.map(namesIn)).toEqual([['a', 'b']]);
    queue.held.pop()?.release();
    await Promise.all(sent.slice(1));
    queue.open();
    await sent[0];
    expect(sentNames()).toEqual([['a', 'b'], ['first']]);
    expect((await send(worker, { name: 'next' })).status).toBe(200);
  });
});

describe('a send that fails', () => {
  it('once is repeated, and all are answered', async () => {
    const worker = start();
    const sent = await sendBehind(worker, [{ name: 'a' }, { name: 'b' }]);
    queue.held.shift()?.fail();
    await held(1);
    queue.held.shift()?.release();
    await held(1);
    queue.held.shift()?.fail();
    await held(1);
    queue.open();
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(sentNames()).toEqual([['first'], ['a', 'b']]);
  });

  it('always is answered with 500 to each of its requests, and to no other', async () => {
    const worker = start();
    const sent = await sendBehind(worker, [{ name: 'a' }, { name: 'b' }]);
    queue.held.shift()?.release();
    await held(1);
    for (let attempt = 0; attempt < 3; attempt++) {
      await held(1);
      queue.held.shift()?.fail();
    }
    const answers = await Promise.all(sent);
    expect(answers.map(({ status }) => status)).toEqual([200, 500, 500]);
    for (const answer of answers.slice(1)) {
      expect(answer.headers.get('Retry-After')).toMatch(/^\d+$/);
      expect(await answer.json()).toEqual({ success: false, error: 'Unexpected error' });
    }
    queue.open();
    expect((await send(worker, { name: 'next' })).status).toBe(200);
    expect(sentNames()).toEqual([['first'], ['next']]);
  });
});

it('splits what waits at the size of a message, in order', async () => {
  const worker = start();
  // The size of a message is in bytes, of which each of these characters has three.
  const text = '€'.repeat(700);
  const params = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`${index}`, { text }]));
  const names = Array.from({ length: 16 }, (_, index) => `large ${index}`);
  const sent = await sendBehind(
    worker,
    names.map((name) => ({ name, params })),
  );
  queue.open();
  expect((await Promise.all(sent)).every(({ status }) => status === 200)).toBe(true);
  const bodies = queue.messages.map(({ body }) => String(body));
  const sizes = bodies.map((body) => new TextEncoder().encode(body).length);
  expect(Math.max(...sizes)).toBeLessThan(MAX_BYTES);
  expect(bodies.flatMap(namesIn)).toEqual(['first', ...names]);
  // The first, and four of five events each, in two calls.
  expect([bodies.length, queue.sends]).toEqual([5, 3]);
});

it('never puts events of two applications into one message, and neither waits for the other', async () => {
  const worker = start();
  const sent = await sendBehind(worker, [
    { name: 'second' },
    { name: 'other first', tenant: other, token: otherToken },
    { name: 'other second', tenant: other, token: otherToken },
  ]);
  await held(2);
  queue.open();
  await Promise.all(sent);
  const messages = queue.messages.map(({ body }) => [messageIn(body).application_id, namesIn(body)]);
  expect(new Set(messages.map((one) => JSON.stringify(one)))).toEqual(
    new Set(
      [
        [tenant?.application.id, ['first']],
        [tenant?.application.id, ['second']],
        [other?.application.id, ['other first']],
        [other?.application.id, ['other second']],
      ].map((one) => JSON.stringify(one)),
    ),
  );
});

it('never says of an event of another version of the Worker that this one has validated it', async () => {
  const [older, newer] = [start(version('older')), start(version('newer'))];
  const sent = [
    ...(await sendBehind(older, [{ name: 'older' }])),
    send(newer, { name: 'newer first' }),
    send(newer, { name: 'newer' }),
  ];
  await held(2);
  queue.open();
  await Promise.all(sent);
  const messages = queue.messages.map(({ body }) => {
    const { checked_by } = JSON.parse(String(body).split('\n')[0] ?? '');
    return [checked_by, ...namesIn(body)].join(': ');
  });
  expect(messages.sort()).toEqual(['newer: newer', 'newer: newer first', 'older: first', 'older: older']);
  // Each is counted by a consumer of either version.
  const before = await loggedOf(tenant);
  const ours = queue.take();
  for (const consumer of [older, newer]) expect((await consumer.deliver(ours)).retryMessages).toEqual([]);
  expect((await loggedOf(tenant)) - before).toBe(4);
});

const loggedOf = async (own: Tenant | undefined) =>
  (await counterOf(env, own?.application.id ?? '', 0).health()).hotEvents;

it('sends an event whose credit is open in a message of its own', async () => {
  const open = await signToken(
    {
      ...{ tokenId: newId('tok'), applicationId: tenant?.application.id ?? '', deviceId: newId('dev') },
      ...{ creativeId: null, acquiredDay: '2026-03-01', shard: 0, creditOpen: true },
      ...{ createdAt: Date.now(), expiresAt: Date.now() + 1e6 },
    },
    env.TOKEN_SECRET,
  );
  const worker = start();
  const sent = await sendBehind(worker, [
    { name: 'settled' },
    { name: 'open 1', token: open },
    { name: 'open 2', token: open },
  ]);
  await held(2);
  queue.open();
  await Promise.all(sent);
  const messages = queue.messages.map(({ body }) => `${messageIn(body).v}: ${namesIn(body)}`);
  expect(messages.sort()).toEqual(['1: first', '1: settled', '2: open 1', '2: open 2']);
});

it.each([
  ['settled', false],
  ['open', true],
])(
  'counts an event once that comes in two messages, with others, while its credit is %s',
  async (_, creditOpen) => {
    const worker = start();
    const own = await createTenant();
    const device = { ...(await deviceOf(own)), creditOpen };
    const before = await loggedOf(own);
    const sent = [1, 2, 3].map((number) => ({
      name: `event ${number}`,
      tenant: own,
      token: '',
    }));
    for (const one of sent) one.token = await signToken(device, env.TOKEN_SECRET);
    queue.open();
    await Promise.all(sent.map((one) => send(worker, one)));
    const bodies = queue.take().map(({ body }) => String(body));
    const [head = ''] = bodies[0]?.split('\n') ?? [];
    const lines = bodies.flatMap((body) => body.split('\n').slice(1));
    expect(lines).toHaveLength(3);
    // The copies of one that lost patience: alone, and among others; in one delivery and in several.
    const message = (...own: (string | undefined)[]) => ({
      id: crypto.randomUUID(),
      body: [head, ...own].join('\n'),
    });
    await worker.deliver([message(...lines), message(lines[1])]);
    await worker.deliver([message(lines[2], lines[0])]);
    expect((await loggedOf(own)) - before).toBe(3);
  },
);

async function deviceOf(own: Tenant) {
  const { readToken } = await import('#devices');
  const claims = await readToken(await fetchToken(startWorker(), own), env.TOKEN_SECRET);
  if (!claims) throw new Error('the token was not issued here');
  return claims;
}

describe('clicks', () => {
  const click = (worker: ReturnType<typeof start>, path: string, agent = ANDROID_AGENT) =>
    worker.request(path, {
      redirect: 'manual',
      headers: { 'User-Agent': agent, 'cf-connecting-ip': '203.0.113.9' },
    });

  it('share a message with their events, and each is counted once with its row', async () => {
    const own = await createTenant(STORES);
    const { path, id } = await createCreative(startWorker(), own);
    const worker = start();
    const sent = Array.from({ length: 12 }, (_, index) =>
      click(worker, `${path}?n=${index}`, index % 2 ? IPHONE_AGENT : ANDROID_AGENT),
    );
    await held(1);
    queue.open();
    for (const { status } of await Promise.all(sent)) expect([200, 302]).toContain(status);
    const messages = queue.take();
    expect(messages.length).toBeLessThan(4);
    expect(messages.flatMap(({ body }) => clicksIn(body))).toHaveLength(12);
    await worker.deliver([...messages, ...messages.map((one) => ({ ...one, id: crypto.randomUUID() }))]);
    const rows = await env.DB.prepare('SELECT count(*) AS n FROM clicks WHERE creative_id = ?')
      .bind(id)
      .first('n');
    expect([rows, await loggedOf(own)]).toEqual([12, 12]);
  });

  it('are read by a Worker of the release before, and theirs by this one', async () => {
    const own = await createTenant(STORES);
    const { path, id } = await createCreative(startWorker(), own);
    const worker = start();
    queue.open();
    await click(worker, path);
    const [message] = queue.take();
    const read = readByReleaseBefore(message?.body);
    expect(read).toMatchObject({ v: 1, events: [{ type: 'click' }], clicks: [{ creative_id: id }] });
    // As an object, which the release before sent.
    const [event] = eventsIn(message?.body);
    const [record] = clicksIn(message?.body);
    await worker.deliver([{ id: 'object', body: { v: 1, events: [event], clicks: [record] } }]);
    expect(await loggedOf(own)).toBe(1);
  });
});

/** How the consumer of the release before read a message: see `readMessage` at commit 9dade982. */
function readByReleaseBefore(body: unknown): Record<string, unknown> {
  const [head = '', ...texts] = String(body).split('\n');
  const { checked_by: _, ...rest } = JSON.parse(head);
  return { ...rest, events: texts.map((text) => JSON.parse(text)) };
}

describe('INGEST_LINGER_MS', () => {
  it('makes even the first request wait for company', async () => {
    const worker = start({ INGEST_LINGER_MS: String(LINGER_MS) });
    queue.isOpen = true;
    const sent: Promise<Response>[] = [];
    for (const name of ['a', 'b', 'c']) {
      sent.push(send(worker, { name }));
      await expect.poll(() => lingering.length).toBe(sent.length);
    }
    expect(queue.sends).toBe(0);
    lingering[0]?.();
    await Promise.all(sent);
    expect(sentNames()).toEqual([['a', 'b', 'c']]);
    // Nothing is left behind: the next one lingers again.
    const next = send(worker, { name: 'next' });
    await expect.poll(() => lingering.length).toBe(4);
    expect(queue.sends).toBe(1);
    lingering[3]?.();
    await next;
    expect(sentNames()).toEqual([['a', 'b', 'c'], ['next']]);
  });

  it.each(['-1', '1001', '0.5', 'soon'])(
    'is as if it were absent when it is %s',
    async (INGEST_LINGER_MS) => {
      queue.isOpen = true;
      expect((await send(start({ INGEST_LINGER_MS }), { name: 'a' })).status).toBe(200);
      expect([sentNames(), patient]).toEqual([[['a']], []]);
    },
  );
});
