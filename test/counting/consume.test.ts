import { createMessageBatch } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { type Counter, consumeDeadLetters, consumeEvents } from '#counting';
import { newId } from '#lib/ids';
import * as tally from '../../src/rollup/device/device-state.ts';
import { deliver } from '../helpers/counted-history.ts';
import { clickOf, eventOf, newDevice, rollupOf, startCounter } from '../helpers/counter.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { parkedOf } from '../helpers/parked.ts';
import { WatchedCounters } from '../helpers/watched-counters.ts';

async function start() {
  const counter = startCounter();
  const created = await counter.createDevice();
  if (created.outcome === 'moved') throw new Error('a new counter has one shard');
  const { device } = created;
  const ad = (value = 2_000_000) =>
    eventOf(counter.applicationId, device, 'custom.ad', { value_nanos: value, day: '2026-03-02' });
  return { ...counter, device, ad };
}

const message = (events: unknown[], id = crypto.randomUUID()) => ({ id, body: { v: 1, events } });

describe('a message that cannot be read', () => {
  it('is parked whole, once, while the valid ones around it count', async () => {
    const { applicationId, ad, stub } = await start();
    const poison = { id: newId('evt'), body: { v: 3, events: [{ application_id: applicationId }] } };
    const good = [message([ad()]), message([ad()])];
    const result = await deliver([...good.slice(0, 1), poison, ...good.slice(1)]);
    expect(result.explicitAcks).toHaveLength(3);
    await deliver([poison]);
    const [row, ...more] = await parkedOf(applicationId);
    expect(more).toEqual([]);
    expect(row?.reason).toMatch(
      /^A store has a newer format: a queue message has format 3, and this release knows 2/,
    );
    expect(JSON.parse(row?.body ?? '')).toEqual(poison.body);
    await stub().settle();
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 2 });
  });

  it('is parked for its one bad event only, which can be replayed once corrected', async () => {
    const { applicationId, ad, stub } = await start();
    const [good, bad] = [ad(), ad()];
    await deliver([message([{ ...bad, value_nanos: -5 }, good], 'm-1')]);
    await deliver([message([{ ...bad, value_nanos: -5 }, good], 'm-1')]);
    const rows = await parkedOf(applicationId);
    expect(rows.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^not an event of this version: value_nanos /),
    ]);
    await stub().settle();
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 1 });
    await deliver([message([bad], 'm-2')]);
    await stub().settle();
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 2 });
  });
});

it('parks the broken events and the broken clicks of one message', async () => {
  const { applicationId, ad } = await start();
  const broken = [
    { ...ad(), value_nanos: -5 },
    { ...ad(), value_nanos: -6 },
  ];
  const clicks = [{ application_id: applicationId }, { application_id: applicationId, id: 'clk_1' }];
  for (let delivery = 0; delivery < 2; delivery++)
    await deliver([{ id: 'both', body: { v: 1, events: broken, clicks } }]);
  const bodies = (await parkedOf(applicationId)).map(({ body }) => JSON.parse(body));
  expect(bodies.flatMap((body) => body.events.map((event: { id: string }) => event.id)).sort()).toEqual(
    broken.map(({ id }) => id).sort(),
  );
  expect(bodies.flatMap((body) => body.clicks ?? [])).toEqual(expect.arrayContaining(clicks));
  expect(bodies).toHaveLength(4);
});

it('sends events to the counters of their shards, and click counts to the first', async () => {
  const first = await start();
  const { applicationId } = first;
  const second = startCounter(applicationId, 1);
  const device = newDevice();
  await second.createDevice(device);
  const click = clickOf(applicationId, { occurred_at: 1, received_at: 1 });
  const record = {
    application_id: applicationId,
    id: newId('clk'),
    creative_id: click.creative_id,
    os_family: 'ios',
  };
  const body = {
    v: 1,
    events: [first.ad(), eventOf(applicationId, device, 'custom.ad', { shard: 1 }), click],
    clicks: [record],
  };
  await deliver([{ id: 'm', body }]);
  expect((await first.stub().health()).hotEvents).toBe(3);
  expect((await second.stub().health()).hotEvents).toBe(2);
  await first.stub().settle();
  await second.stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 2 });
  const clicks = await env.DB.prepare('SELECT sum(clicks) AS n FROM rollup_daily WHERE application_id = ?')
    .bind(applicationId)
    .first<number>('n');
  expect(clicks).toBe(1);
  const row = await env.DB.prepare('SELECT creative_id FROM clicks WHERE application_id = ?')
    .bind(applicationId)
    .first();
  expect(row).toEqual({ creative_id: click.creative_id });
});

/** Counters for which some calls fail. */
function flakyCounters(fails: (applicationId: string, ids: number) => Error | null): Env {
  const counters = {
    getByName: (name: string) => {
      const stub = env.COUNTERS.getByName(name);
      return {
        append: async (batch: Parameters<Counter['append']>[0]) => {
          const error = fails(
            batch.applicationId,
            batch.rows.reduce((sum, { count }) => sum + count, 0),
          );
          if (error) throw error;
          return await stub.append(batch);
        },
      };
    },
  };
  return { ...env, COUNTERS: counters as unknown as Env['COUNTERS'] };
}

describe('a message', () => {
  const acked = (messages: { id: string; body: unknown }[], bindings: Env) => {
    const acks: string[] = [];
    const batch = {
      queue: 'attribution-events',
      messages: messages.map((one) => ({
        ...one,
        timestamp: new Date(),
        attempts: 2,
        ack: () => acks.push(one.id),
        retry: () => undefined,
      })),
    } as unknown as MessageBatch;
    return { acks, done: consumeEvents(batch, bindings) };
  };

  it('is acknowledged only once its counter has it', async () => {
    const { ad, applicationId } = await start();
    const [called, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const counters = new WatchedCounters(() => {
      called.resolve();
      return answered.promise.then(() => ({ appended: 1, pending: 1 }));
    });
    const { acks, done } = acked([message([ad()], 'm')], { ...env, COUNTERS: counters.asBinding() });
    await called.promise;
    await env.DB.prepare('SELECT 1').run();
    expect(acks).toEqual([]);
    answered.resolve();
    await done;
    expect(acks).toEqual(['m']);
    expect(counters.calls).toEqual([{ name: `${applicationId}:0`, method: 'append' }]);
  });

  it('acknowledges an impression without an address, which is counted and not stored', async () => {
    const { ad, applicationId } = await start();
    const impression = {
      application_id: applicationId,
      id: newId('imp'),
      creative_id: newId('crt'),
      os_family: 'ios',
    };
    const { acks, done } = acked([{ id: 'm', body: { v: 1, events: [ad()], clicks: [impression] } }], env);
    await done;
    expect(acks).toEqual(['m']);
  });

  it.each(['clicks', 'parked_messages', 'delayed_messages'])(
    'is acknowledged only once D1 has its %s',
    async (table) => {
      const { ad, applicationId } = await start();
      const click = {
        application_id: applicationId,
        id: newId('clk'),
        creative_id: newId('crt'),
        os_family: 'ios',
      };
      const bodies = {
        clicks: { v: 1, events: [ad()], clicks: [click] },
        parked_messages: { v: 1, events: [ad(), { application_id: applicationId }] },
        delayed_messages: { v: 1, events: [ad()] },
      };
      const [called, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const db = new WatchedD1(env.DB);
      db.holdOn((sql) => sql.includes(`"${table}"`), called.resolve, answered.promise);
      const body = bodies[table as keyof typeof bodies];
      const { acks, done } = acked([{ id: 'm', body }], { ...env, DB: db.asBinding() });
      await called.promise;
      await env.DB.prepare('SELECT 1').run();
      expect(acks).toEqual([]);
      answered.resolve();
      await done;
      expect(acks).toEqual(['m']);
    },
  );
});

describe('a counter that fails', () => {
  it('has only its own messages redelivered', async () => {
    const [well, ill] = [await start(), await start()];
    let failures = 1;
    const own = flakyCounters((id) =>
      id === ill.applicationId && failures-- > 0
        ? Object.assign(new Error('Network connection lost.'), { retryable: true })
        : null,
    );
    const messages = [message([well.ad()]), message([ill.ad()]), message([well.ad(), ill.ad()])];
    const result = await deliver(messages, own);
    expect(result.explicitAcks).toEqual([messages[0]?.id]);
    expect(result.retryMessages.map(({ msgId }) => msgId)).toEqual([messages[1]?.id, messages[2]?.id]);
    await deliver(messages, own);
    for (const { stub, applicationId } of [well, ill]) {
      await stub().settle();
      expect(await rollupOf(applicationId)).toMatchObject({ impressions: 2 });
    }
  });

  it('parks the message that causes a permanent failure, among valid ones', async () => {
    const { applicationId, ad, stub } = await start();
    const poison = message([ad(), ad(), ad()]);
    const own = flakyCounters((_, events) =>
      events >= 3 ? new Error('string or blob too big: SQLITE_TOOBIG') : null,
    );
    const result = await deliver([message([ad()]), message([ad()]), poison, message([ad()])], own);
    expect(result.retryMessages).toEqual([]);
    expect(result.explicitAcks).toHaveLength(4);
    const rows = await parkedOf(applicationId);
    expect(rows.map(({ body, reason }) => [JSON.parse(body), reason])).toEqual([
      [poison.body, 'could not be written to the log'],
    ]);
    await stub().settle();
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 3 });
  });

  it.each([
    [1, 2],
    [5, 32],
    [8, 256],
    [9, 300],
    [50, 300],
  ])('is retried after attempt %i in %i s', async (attempts, delaySeconds) => {
    const { ad } = await start();
    const [ack, retry] = [vi.fn(), vi.fn()];
    const one = { ...message([ad()]), timestamp: new Date(), attempts, ack, retry };
    const batch = { queue: 'attribution-events', messages: [one] } as unknown as MessageBatch;
    await consumeEvents(
      batch,
      flakyCounters(() => Object.assign(new Error('Durable Object is overloaded.'), { overloaded: true })),
    );
    expect(ack).not.toHaveBeenCalled();
    expect(retry.mock.calls).toEqual([[{ delaySeconds }]]);
  });
});

it('retries a message that cannot even be parked', async () => {
  const db = new WatchedD1(env.DB);
  db.failOn(/INSERT INTO "parked_messages"/, 'D1_ERROR: overloaded', { times: 6 });
  const result = await deliver([{ id: 'p', body: 'broken' }], { ...env, DB: db.asBinding() });
  expect(result.retryMessages.map(({ msgId }) => msgId)).toEqual(['p']);
  const retry = vi.fn();
  const dead = createMessageBatch('attribution-events-dead', [
    { id: 'd', timestamp: new Date(), attempts: 1, body: 'dead' },
  ]);
  vi.spyOn(dead.messages[0] as Message, 'retry').mockImplementation(retry);
  await consumeDeadLetters(dead, { ...env, DB: db.asBinding() });
  expect(retry).toHaveBeenCalledOnce();
});

it('parks dead letters once, and counts them when they are replayed', async () => {
  const { applicationId, ad, stub } = await start();
  const letter = { ...message([ad()]), timestamp: new Date(), attempts: 1 };
  for (let round = 0; round < 2; round++) {
    await consumeDeadLetters(createMessageBatch('attribution-events-dead', [letter]), env);
  }
  const [row, ...more] = await parkedOf(applicationId);
  expect(more).toEqual([]);
  expect(row?.reason).toBe('could not be delivered to the log: every attempt failed');
  await deliver([{ id: 'replay', body: JSON.parse(row?.body ?? '') }]);
  await deliver([{ id: 'replay', body: JSON.parse(row?.body ?? '') }]);
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 1 });
});

it('parks all events that cannot be counted in one run, so that they can be replayed', async () => {
  const { applicationId, ad, append, stub } = await start();
  const poison = [ad(7), ad(7)];
  const reach = tally.RunningDevice.prototype.reach;
  vi.spyOn(tally.RunningDevice.prototype, 'reach').mockImplementation(function (
    this: tally.RunningDevice,
    step,
    at,
  ) {
    if (at === 7) throw new Error('a defect');
    reach.call(this, step, at);
  });
  for (const event of poison) event.occurred_at = 7;
  await append([ad(), ...poison.slice(0, 1), ad(), ...poison.slice(1), ad()]);
  expect(await stub().settle()).toMatchObject({ settled: true });
  vi.restoreAllMocks();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 3, ad_revenue: 6_000_000 });
  const rows = await parkedOf(applicationId);
  expect(rows.map(({ id }) => id).sort()).toEqual(poison.map(({ id }) => id.replace('evt_', 'prk_')).sort());
  expect(rows.map(({ reason }) => reason)).toEqual(['could not be counted', 'could not be counted']);
  expect((await stub().eventStatus(poison[0]?.id ?? ''))?.status).toBe('parked');
  for (const { body } of rows) await deliver([{ id: 'replay', body: JSON.parse(body) }]);
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 5, ad_revenue: 6_000_014 });
});

it('reports that it is not settled while D1 fails, and catches up later', async () => {
  const { applicationId, ad, append, stub, inside } = await start();
  await stub().settle();
  await append([ad()]);
  const before = Date.now();
  const db = new WatchedD1(env.DB);
  db.failOn(/INSERT INTO "counter_flushes"/, 'D1_ERROR: overloaded', { times: 3 });
  await inside((counter) => {
    counter.db = db.asBinding();
  });
  const answer = await stub().settle();
  expect(answer.settled).toBe(false);
  expect(answer.countedThrough).toBeLessThanOrEqual(before);
  expect(await stub().health()).toMatchObject({ outbox: 1, flushError: expect.any(String) });
  // D1 takes it, but its answer never comes.
  const batch = async (statements: D1PreparedStatement[]) => {
    await env.DB.batch(statements);
    return new Promise<never>(() => undefined);
  };
  await inside((counter) => {
    counter.flushTimeoutMs = 300;
    counter.db = { prepare: env.DB.prepare.bind(env.DB), batch } as unknown as D1Database;
  });
  expect((await stub().settle(50)).settled).toBe(false);
  await inside((counter) => {
    counter.db = env.DB;
  });
  await expect.poll(async () => (await stub().settle()).settled, { timeout: 10_000 }).toBe(true);
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 1, installs: 1 });
  expect(await stub().health()).toMatchObject({ outbox: 0, flushError: null });
});
