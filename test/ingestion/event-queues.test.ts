import { env } from 'cloudflare:workers';
import { beforeEach, expect, it, vi } from 'vitest';
import type { DeviceEvent } from '#catalogue';
import { signToken } from '#devices';
import { queueIndex } from '#lib/event-queues';
import { newId } from '#lib/ids';
import { ANDROID_AGENT } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { startWithQueues } from '../helpers/event-queues.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { eventsIn, JournalQueue, startWorker } from '../helpers/worker.ts';

// Events of a deployment with several queues.

let queues: JournalQueue[];
let tenant: Tenant;
beforeEach(async () => {
  queues = Array.from({ length: 3 }, () => new JournalQueue());
  tenant = await createTenant();
  vi.spyOn(console, 'warn').mockReturnValue();
});

/** A device's token. Nobody asks whether its counter knows it. */
const tokenIn = (shard: number) =>
  signToken(
    {
      ...{ tokenId: newId('tok'), applicationId: tenant.application.id, deviceId: newId('dev'), shard },
      ...{ creativeId: null, acquiredDay: '2026-03-01', createdAt: Date.now(), expiresAt: Date.now() + 1e6 },
    },
    env.TOKEN_SECRET,
  );

type Sent = DeviceEvent & { shard?: number };
const shardsIn = (queue: JournalQueue | undefined) =>
  queue?.messages.flatMap(({ body }) => eventsIn<Sent>(body).map(({ shard }) => shard ?? 0));
const own = (shard: number, number = 3) => queueIndex(tenant.application.id, shard, number);

type BatchAnswer = { accepted: number; results: { index: number; event_id?: string; error?: string }[] };
const SHARDS = [0, 1, 2, 3, 0, 1, 2, 3, 3];

async function postBatch(worker: ReturnType<typeof startWorker>, headers: HeadersInit = {}) {
  const events = [];
  for (const shard of SHARDS) events.push(envelope.ad(tokens[shard] ?? '', {}, { ad_id: `of ${shard}` }));
  const response = await worker.post(tenant, '/webhook/batch', { events }, headers);
  return { status: response.status, body: (await response.json()) as BatchAnswer };
}
let tokens: string[];
beforeEach(async () => {
  tokens = await Promise.all([0, 1, 2, 3].map(tokenIn));
});

it('sends each event to the queue of its shard', async () => {
  const worker = startWithQueues(queues, 3);
  for (const [shard, token] of tokens.entries()) {
    expect((await worker.post(tenant, '/webhook', envelope.ad(token))).status).toBe(200);
    expect(shardsIn(queues[own(shard)])).toContain(shard);
  }
  expect(queues.map(({ messages }) => messages.length).sort()).toEqual([1, 1, 2]);
});

it('sends clicks to the queue of the first shard, which counts them', async () => {
  const { path } = await createCreative(startWorker(), tenant);
  await startWithQueues(queues, 3).request(path, {
    redirect: 'manual',
    headers: { 'User-Agent': ANDROID_AGENT },
  });
  expect(queues.map(({ messages }) => messages.length)).toEqual(
    [0, 1, 2].map((number) => Number(number === own(0))),
  );
});

it('sends a batch in one call per queue, and answers in its order', async () => {
  const calls = queues.map((queue) => vi.spyOn(queue, 'sendBatch'));
  const { body } = await postBatch(startWithQueues(queues, 3));
  expect(calls.map((call) => call.mock.calls.length)).toEqual([1, 1, 1]);
  for (const [number, queue] of queues.entries()) {
    expect(shardsIn(queue)).toEqual(SHARDS.filter((shard) => own(shard) === number));
  }
  expect(body.accepted).toBe(SHARDS.length);
  const sent = new Map(
    queues
      .flatMap((queue) => queue.messages)
      .flatMap(({ body: text }) => eventsIn<Sent>(text))
      .map((event) => [event.id, event.shard ?? 0]),
  );
  expect(body.results.map(({ event_id }) => sent.get(event_id ?? ''))).toEqual(SHARDS);
});

it('uses one queue as long as the number is 1, whatever is bound', async () => {
  await postBatch(startWithQueues(queues, 1));
  expect(queues.map(({ messages }) => messages.length)).toEqual([1, 0, 0]);
});

it('acknowledges nothing that its queue did not accept, and gives what is sent again the same key', async () => {
  const broken = queues[own(1)];
  if (!broken) throw new Error('there is no such queue');
  const worker = startWithQueues(queues, 3);
  broken.failures = Number.POSITIVE_INFINITY;
  expect((await worker.post(tenant, '/webhook', envelope.ad(tokens[1] ?? ''))).status).toBe(500);
  const first = await postBatch(worker, { 'Idempotency-Key': 'batch' });
  expect(first.status).toBe(200);
  for (const { index, error } of first.body.results) {
    const isBroken = queues[own(SHARDS[index] ?? 0)] === broken;
    expect(error).toBe(isBroken ? 'Temporarily unavailable; retry this event' : undefined);
  }
  broken.failures = 0;
  expect((await postBatch(worker, { 'Idempotency-Key': 'batch' })).body.accepted).toBe(SHARDS.length);
  const keys = queues
    .flatMap((queue) => queue.messages)
    .flatMap(({ body }) => eventsIn<Sent>(body))
    .map(({ keys: sent }) => String(sent));
  expect(new Set(keys).size).toBe(SHARDS.length);
  expect(keys.length).toBe(SHARDS.length + first.body.accepted);
});

it('refuses a batch as a whole only if every queue refuses it', async () => {
  for (const queue of queues) queue.failures = Number.POSITIVE_INFINITY;
  expect((await postBatch(startWithQueues(queues, 3))).status).toBe(500);
});

it('spreads events over the queues that are bound if the number is larger', async () => {
  const bound = queues.slice(0, 2);
  const { body } = await postBatch(startWithQueues(bound, 3));
  expect(body.accepted).toBe(SHARDS.length);
  for (const [number, queue] of bound.entries()) {
    expect(shardsIn(queue)).toEqual(SHARDS.filter((shard) => own(shard, 2) === number));
  }
});

it.each(['0', '1.5', 'three', '65'])('accepts no event with the number %s', async (EVENT_QUEUES) => {
  const logged = vi.spyOn(console, 'error').mockReturnValue();
  const worker = startWorker({ EVENT_QUEUES });
  expect((await worker.post(tenant, '/webhook', envelope.ad(tokens[0] ?? ''))).status).toBe(500);
  expect(JSON.stringify(logged.mock.calls)).toContain('EVENT_QUEUES');
  expect(worker.queue.messages).toEqual([]);
});
