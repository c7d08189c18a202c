import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { bundleWorker } from '../../src/cli/bundle.ts';
import { ROOT } from '../../src/cli/local-state.ts';
import { esModules, migrate } from '../helpers/workerd.ts';
import type { Tenant } from './client.ts';

// Requests that share messages, in workerd, each with a connection of its own: their clients go, their sender dies or hangs, their isolate
// is thrown away. Whatever happens, an event that was acknowledged is counted once.

type Gate = { when: 'before' | 'after'; body: string; pass: (isGood: boolean) => void };
/** What waits at the gate, and whether something has to. */
const held: Gate[] = [];
let holds: (gate: Omit<Gate, 'pass'>) => boolean = () => false;

/** Lets go everything. */
function open(): void {
  holds = () => false;
  for (const { pass } of held.splice(0)) pass(true);
}

async function guard(request: { url: string; text: () => Promise<string> }): Promise<Response> {
  const when = request.url.endsWith('/before') ? ('before' as const) : ('after' as const);
  const gate = { when, body: await request.text() };
  if (!holds(gate)) return new Response();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  held.push({ ...gate, pass: resolve });
  return new Response(null, { status: (await promise) ? 200 : 503 });
}

let folder: string;
let miniflare: Miniflare;
let options: Parameters<Miniflare['setOptions']>[0];
let url: string;
let tenant: Tenant;
let token: string;

const ask = async <Answer>(at: string) => (await (await fetch(`${url}${at}`)).json()) as Answer;
const findUrl = async () => String(await miniflare.unsafeGetDirectURL('gate')).replace(/\/$/, '');

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gate-'));
  const modules = await bundleWorker(path.join(ROOT, 'test/chaos/gate-worker.ts'), folder);
  options = convertV4MiniflareOptions({
    workers: [
      {
        name: 'gate',
        ...esModules(modules),
        compatibilityDate: '2026-10-01',
        compatibilityFlags: ['nodejs_compat'],
        bindings: {
          TOKEN_SECRET: 'a-token-secret-of-the-gate-test-000000000000',
          KEY_ENCRYPTION_SECRET: 'a-key-encryption-secret-of-the-gate-test-00',
          SESSION_SECRET: 'a-session-secret-of-the-gate-test-000000000',
        },
        d1Databases: { DB: 'gate' },
        r2Buckets: { RAW_EVENTS: 'gate' },
        versionMetadata: 'CF_VERSION_METADATA',
        durableObjects: { COUNTERS: { className: 'Counter', useSQLite: true } },
        serviceBindings: { GATE: guard as never },
        queueProducers: { EVENTS: { queueName: 'events' } },
        queueConsumers: { events: { maxBatchSize: 20, maxBatchTimeout: 0.1 } },
        unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
      },
    ],
  });
  miniflare = new Miniflare(options);
  await migrate(await miniflare.getD1Database('DB', 'gate'));
  url = await findUrl();
});
afterAll(async () => {
  open();
  await miniflare.dispose();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  open();
  tenant = await ask<Tenant>('/tenant');
  const data = { device_name: 'a', device_model: 'b', os_system: 'Android 16', timezone: 'UTC' };
  const body = { type: 'device-metrics', created_at: '2026-03-01T00:00:00.000Z', data };
  ({ token } = (await (await post('/fetch-token', body)).json()) as { token: string });
  await post('/webhook', eventOf('warm'));
});

const post = (at: string, body: unknown, signal: AbortSignal | null = null, isMortal = false) =>
  fetch(`${url}${at}`, {
    method: 'POST',
    headers: {
      'service-api-key': tenant.apiKey,
      'Content-Type': 'application/json',
      ...(isMortal ? { Mortal: '1' } : {}),
    },
    body: JSON.stringify(body),
    signal,
  });

const eventOf = (name: string) => ({
  ...{ type: 'custom', created_at: '2026-03-01 12:00:00', creativeToken: token },
  ...{ event_id: `id of ${name}`, payload: { event_name: name } },
});

/** The status of the answer; null if there was none. */
const send = (name: string, signal: AbortSignal | null = null, isMortal = false) =>
  post('/webhook', eventOf(name), signal, isMortal).then(
    ({ status }) => status,
    () => null,
  );

const names = (count: number) => Array.from({ length: count }, (_, index) => `event ${index}`);
const atGate = (count: number) => expect.poll(() => held.length, { timeout: 20_000 }).toBe(count);

/** How many events count, each of which has a name of its own; none of them twice. */
async function counted(): Promise<number> {
  const query = `application_id=${tenant.applicationId}&from=2026-03-01&to=2026-03-01&group_by=event_name`;
  const answer = await fetch(`${url}/v1/reports/performance?${query}`, {
    headers: { 'Service-Token': tenant.teamToken },
  });
  const { data } = (await answer.json()) as { data: { event_name: string | null; events: number }[] };
  const own = data.filter(({ event_name }) => event_name !== null && event_name !== 'warm');
  expect(own.filter(({ events }) => events > 1)).toEqual([]);
  return own.filter(({ events }) => events === 1).length;
}
const expectCounted = (count: number) => expect.poll(counted, { timeout: 60_000 }).toBe(count);

/** Requests behind one that is held at the gate, which arrive while it is. */
async function behind(first: Promise<number | null>, count: number, signals: AbortSignal[] = []) {
  await atGate(1);
  const others = names(count).map((name, index) => send(name, signals[index] ?? null));
  return { first, others };
}

it('answers those behind a sender whose client has gone, and counts its event, too', async () => {
  holds = ({ when, body }) => when === 'before' && body.includes('"first"');
  const client = new AbortController();
  const { first, others } = await behind(send('first', client.signal), 20);
  client.abort();
  expect(await first).toBeNull();
  open();
  expect(await Promise.all(others)).toEqual(others.map(() => 200));
  await expectCounted(21);
});

it('lets those act by themselves whose sender died, and those behind it', async () => {
  holds = ({ when, body }) => when === 'before' && body.includes('"first"');
  const first = send('first');
  await atGate(1);
  // Of those that wait, the one that arrived first sends. It dies with its client while their message is on its way.
  const clients = new Map(names(10).map((name) => [name, new AbortController()]));
  const members = new Map([...clients].map(([name, { signal }]) => [name, send(name, signal, true)]));
  const isMany = (body: string) => body.split('\n').length > 3;
  holds = ({ when, body }) => when === 'before' && isMany(body);
  held.shift()?.pass(true);
  expect(await first).toBe(200);
  await atGate(1);
  const [, line = '{}'] = held[0]?.body.split('\n') ?? [];
  const { event_name: dead } = JSON.parse(line) as { event_name: string };
  const late = send('late');
  clients.get(dead)?.abort();
  expect(await members.get(dead)).toBeNull();
  members.delete(dead);
  expect(await Promise.all([...members.values(), late])).toEqual([...members, late].map(() => 200));
  open();
  expect(await send(dead)).toBe(200);
  await expectCounted(12);
});

it('answers those behind a send that hangs within the time of a send, and its sender with 500', async () => {
  holds = ({ when, body }) => when === 'before' && body.includes('"first"');
  const started = performance.now();
  const hanging = post('/webhook', eventOf('first'));
  await atGate(1);
  const others = names(20).map((name) => send(name));
  expect(await Promise.all(others)).toEqual(others.map(() => 200));
  const answer = await hanging;
  expect([answer.status, answer.headers.get('Retry-After')]).toEqual([500, expect.stringMatching(/^\d+$/)]);
  expect(performance.now() - started).toBeLessThan(30_000);
  expect(await send('next')).toBe(200);
  await expectCounted(21);
  // What hung arrives at last, after its client has sent it again.
  holds = () => false;
  expect(await send('first')).toBe(200);
  open();
  await expectCounted(22);
});

it('answers all of 300 requests whose clients stay, a third of which have gone', async () => {
  holds = ({ when }) => when === 'before';
  const clients = names(300).map(() => new AbortController());
  const sent = names(300).map((name, index) => send(name, clients[index]?.signal ?? null));
  await atGate(1);
  const isGone = (index: number) => index % 3 === 0;
  for (const [index, client] of clients.entries()) if (isGone(index)) client.abort();
  open();
  const statuses = await Promise.all(sent);
  expect(statuses.filter((_, index) => !isGone(index))).toEqual(Array.from({ length: 200 }, () => 200));
  // Those of clients that have gone count, if they had arrived, and no event counts twice.
  await expect.poll(counted, { timeout: 60_000 }).toBeGreaterThanOrEqual(200);
  for (const status of await Promise.all(names(300).map((name) => send(name)))) expect(status).toBe(200);
  await expectCounted(300);
});

it.each(['before', 'after'] as const)(
  'acknowledges nothing when its isolate is thrown away %s the queue took the message, and counts each once that is sent again',
  async (when) => {
    holds = (gate) => gate.when === when;
    const { first, others } = await behind(send('first'), 20);
    const restarted = miniflare.setOptions(options);
    expect(await Promise.all([first, ...others])).toEqual([first, ...others].map(() => null));
    open();
    await restarted;
    url = await findUrl();
    const again = ['first', ...names(20)].map((name) => send(name));
    expect(await Promise.all(again)).toEqual(again.map(() => 200));
    await expectCounted(21);
  },
);
