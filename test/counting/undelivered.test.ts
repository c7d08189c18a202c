import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { consumeDeadLetters, consumeEvents, countUndelivered, parkUndelivered } from '#counting';
import { database, delayedMessages, parkedMessages } from '#db';
import { newId } from '#lib/ids';
import { readBacklog } from '../../src/counting/queue/delayed.ts';
import { FILED_FROM_ATTEMPT } from '../../src/counting/queue/retry-schedule.ts';
import { eventOf, newDevice } from '../helpers/counter.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { WatchedCounters } from '../helpers/watched-counters.ts';

// What becomes of messages that counters or the database refuse.

beforeEach(() => {
  vi.spyOn(console, 'log').mockReturnValue();
});

const adOf = (applicationId: string) => eventOf(applicationId, newDevice(), 'custom.ad');
const messageOf = (events: unknown[], clicks: unknown[] = []) => ({
  id: crypto.randomUUID(),
  body: { v: 1, events, clicks },
});

type Sent = ReturnType<typeof messageOf> | { id: string; body: unknown };
async function deliver(
  messages: Sent[],
  { attempts = 1, bindings = env, consume = consumeEvents } = {},
): Promise<{ acked: string[]; retried: string[] }> {
  const [acked, retried]: [string[], string[]] = [[], []];
  const batch = {
    queue: 'attribution-events',
    messages: messages.map((message) => ({
      ...message,
      timestamp: new Date(),
      attempts,
      ack: () => acked.push(message.id),
      retry: () => retried.push(message.id),
    })),
  };
  await consume(batch as unknown as MessageBatch, bindings);
  return { acked, retried };
}

/** Bindings with these counters. */
const withCounters = (counters: WatchedCounters) => ({ ...env, COUNTERS: counters.asBinding() });

/** A database that accepts nothing, or nothing in one table. */
function brokenD1(table = '') {
  const db = new WatchedD1(env.DB);
  db.failWhen((sql) => sql.includes(table), 'D1_ERROR: Exceeded maximum DB size.');
  return db.asBinding();
}

const parkedAt = async (applicationId: string) => {
  const rows = await database(env.DB).select().from(parkedMessages);
  return rows.filter((row) => row.applicationId === applicationId).map((row) => row.parkedAt);
};

describe('a filed message', () => {
  it('is parked as of when it was filed', async () => {
    const applicationId = newId('app');
    const [letter, before] = [messageOf([adOf(applicationId)]), Date.now()];
    const bindings = { ...env, DB: brokenD1() };
    await deliver([letter], { attempts: FILED_FROM_ATTEMPT, bindings, consume: consumeDeadLetters });
    const after = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: after + 86_400_000 });
    await parkUndelivered(env);
    vi.useRealTimers();
    const [at = 0] = await parkedAt(applicationId);
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(after + 1_000);
  });

  it('counts for its application, or for none if it names none', async () => {
    const applicationId = newId('app');
    const letters = [
      messageOf([adOf(applicationId)]),
      messageOf([adOf(applicationId)]),
      { id: 'x', body: 'broken' },
    ];
    const bindings = { ...env, DB: brokenD1() };
    await deliver(letters, { attempts: FILED_FROM_ATTEMPT, bindings, consume: consumeDeadLetters });
    const counts = await countUndelivered(env.RAW_EVENTS);
    expect([counts.get(applicationId), counts.get('')]).toEqual([2, 1]);
    await parkUndelivered(env);
    expect((await countUndelivered(env.RAW_EVENTS)).size).toBe(0);
  });
});

describe('the backlog of an application', () => {
  it.each(['parked', 'filed'])('has nothing of a message that is %s in the end', async (end) => {
    const applicationId = newId('app');
    const message = messageOf([adOf(applicationId), adOf(applicationId)]);
    const down = new WatchedCounters(() =>
      Promise.reject(Object.assign(new Error('down'), { retryable: true })),
    );
    const backlog = () => readBacklog(env.DB, applicationId);
    expect(await deliver([message], { bindings: withCounters(down) })).toEqual({
      acked: [],
      retried: [message.id],
    });
    expect(await backlog()).toMatchObject({ events: 2 });
    const bindings = end === 'filed' ? { ...env, DB: brokenD1() } : env;
    await deliver([message], { attempts: FILED_FROM_ATTEMPT, bindings, consume: consumeDeadLetters });
    if (end === 'filed') await parkUndelivered(env);
    expect(await parkedAt(applicationId)).toHaveLength(1);
    expect(await backlog()).toEqual({ events: 0, oldestAt: null });
    expect(await database(env.DB).select().from(delayedMessages)).toEqual([]);
  });
});

describe('a counter that refuses one of several messages', () => {
  const applicationId = newId('app');
  /** Refuses the second message, and all of them together. */
  const refuse = (error: Error) => {
    let calls = 0;
    return new WatchedCounters(() =>
      ++calls === 2 ? Promise.resolve({ appended: 1, pending: 1 }) : Promise.reject(error),
    );
  };
  const messages = () => [messageOf([adOf(applicationId)]), messageOf([adOf(applicationId)])];

  it('is sent all of them again if it is only overloaded', async () => {
    const [first, second] = messages();
    if (!first || !second) throw new Error('two messages');
    const overloaded = refuse(Object.assign(new Error('busy'), { overloaded: true }));
    const { acked, retried } = await deliver([first, second], { bindings: withCounters(overloaded) });
    expect([acked, retried]).toEqual([[], [first.id, second.id]]);
    expect(await parkedAt(applicationId)).toEqual([]);
  });

  it('is sent it again as long as it cannot be parked either', async () => {
    const [first, second] = messages();
    if (!first || !second) throw new Error('two messages');
    const bindings = { ...withCounters(refuse(new Error('too big'))), DB: brokenD1('"parked_messages"') };
    const { acked, retried } = await deliver([first, second], { bindings });
    expect([acked, retried]).toEqual([[first.id], [second.id]]);
  });
});

it('stores every click of a delivery, however many there are', async () => {
  const applicationId = newId('app');
  const click = () => ({
    application_id: applicationId,
    id: newId('clk'),
    creative_id: newId('crt'),
    os_family: 'ios',
  });
  const messages = Array.from({ length: 23 }, () => messageOf([], Array.from({ length: 50 }, click)));
  expect((await deliver(messages)).acked).toHaveLength(23);
  const stored = await env.DB.prepare('SELECT count(*) AS n FROM clicks WHERE application_id = ?')
    .bind(applicationId)
    .first<number>('n');
  expect(stored).toBe(1_150);
});
