import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { database, delayedMessages } from '#db';
import { queueIndex } from '#lib/event-queues';
import { newId } from '#lib/ids';
import { expectTotals, makeDevices, postHistory } from '../helpers/counted-history.ts';
import { eventOf, newDevice } from '../helpers/counter.ts';
import { envelope } from '../helpers/envelopes.ts';
import { nameOf, startWithQueues } from '../helpers/event-queues.ts';
import { seededRandom, shuffled } from '../helpers/random.ts';
import { createTenant } from '../helpers/tenant.ts';
import { WatchedCounters } from '../helpers/watched-counters.ts';
import { fetchToken, JournalQueue } from '../helpers/worker.ts';

// A deployment with several event queues, and one whose number of queues changes.

const SHARDS = 4;
const db = database(env.DB);
let queues: JournalQueue[];
beforeEach(async () => {
  vi.spyOn(console, 'log').mockReturnValue();
  queues = Array.from({ length: 3 }, () => new JournalQueue());
  await db.delete(delayedMessages);
});

async function startHistory(seed: number) {
  const random = seededRandom(seed);
  const tenant = await createTenant();
  await env.DB.prepare('UPDATE applications SET shards = ?2 WHERE id = ?1')
    .bind(tenant.application.id, SHARDS)
    .run();
  const devices = await makeDevices(tenant, random, 20, (index) => index % SHARDS);
  return { random, tenant, devices };
}

it('counts each event once over three queues', async () => {
  const { random, tenant, devices } = await startHistory(1);
  const worker = startWithQueues(queues, 3);
  const journal = await postHistory(worker, tenant, devices, random);
  for (const [number, queue] of queues.entries()) {
    expect(queue.messages.length).toBeGreaterThan(20);
    expect((await worker.deliver(queue.take(), nameOf(number))).retryMessages).toEqual([]);
  }
  await expectTotals(worker, tenant, journal, devices, SHARDS);
});

it.each([1, 2, 3])('loses and doubles nothing when the number changes under load (seed %i)', async (seed) => {
  const { random, tenant, devices } = await startHistory(seed);
  const journal: Awaited<ReturnType<typeof postHistory>> = [];
  /** Delivers some of what each queue holds, in any order, and keeps the rest in it; some messages stay, as after a lost acknowledgement. */
  const deliverSome = async (all: boolean) => {
    for (const [number, queue] of queues.entries()) {
      const waiting = shuffled(random, queue.messages.splice(0));
      const now = waiting.filter(() => all || random() < 0.6);
      const left = waiting.filter((message) => !now.includes(message) || (!all && random() < 0.3));
      queue.messages.push(...left);
      if (now.length === 0) continue;
      expect((await startWithQueues(queues, 1).deliver(now, nameOf(number))).retryMessages).toEqual([]);
    }
  };
  // While the number changes, isolates of the version before still send to as many queues as it did.
  for (const [round, versions] of [[1], [1, 3], [3], [3, 2], [2]].entries()) {
    const histories = versions.map((sentTo, index) =>
      postHistory(startWithQueues(queues, sentTo), tenant, devices, random, round * 1_000 + index * 500),
    );
    journal.push(...(await Promise.all(histories)).flat());
    if (round < 3) expect((queues[2]?.messages.length ?? 0) > 0).toBe(round > 0);
    await deliverSome(false);
  }
  await deliverSome(true);
  await expectTotals(startWithQueues(queues, 2), tenant, journal, devices, SHARDS);
});

describe('a queue that does not deliver', () => {
  const readThrough = async (
    worker: ReturnType<typeof startWithQueues>,
    tenant: { teamToken: string; application: { id: string } },
  ) => {
    const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-31`;
    const report: { counted_through: string } = await (await worker.team(tenant, path)).json();
    const health: {
      applications: { counted_through: string }[];
      queued_messages: number;
      problems: string[];
    } = await (await worker.team(tenant, '/v1/health')).json();
    expect(health.applications[0]?.counted_through.slice(0, 16)).toBe(report.counted_through.slice(0, 16));
    return { through: Date.parse(report.counted_through), health };
  };

  const [STUCK, OTHER] = [1, 2];

  /** An application whose events go to the queue `STUCK`, with one that was sent there so many minutes ago. */
  async function stick(minutes: number) {
    const worker = startWithQueues(queues, 3);
    let tenant = await createTenant();
    while (queueIndex(tenant.application.id, 0, 3) !== STUCK) tenant = await createTenant();
    const token = await fetchToken(worker, tenant);
    for (const [number, queue] of queues.entries()) await worker.deliver(queue.take(), nameOf(number));
    await worker.post(tenant, '/webhook', envelope.ad(token));
    const message = queues[STUCK]?.messages[0];
    if (!message) throw new Error('the event is in another queue');
    message.sentAt -= minutes * 60_000;
    return { tenant, sentAt: message.sentAt };
  }

  it('holds back what reports count through, also when it is no longer sent to', async () => {
    const { tenant, sentAt } = await stick(2);
    for (const sentTo of [3, 1]) {
      const worker = startWithQueues(queues, sentTo);
      const { through, health } = await readThrough(worker, tenant);
      expect(through).toBe(sentAt - 1);
      expect(health).toMatchObject({ queued_messages: 1, problems: [] });
    }
    const worker = startWithQueues(queues, 1);
    await worker.deliver(queues[STUCK]?.take() ?? [], nameOf(STUCK));
    const { through, health } = await readThrough(worker, tenant);
    expect(through).toBeGreaterThan(sentAt);
    expect(health.queued_messages).toBe(0);
  });

  it('holds it back also while another queue delivers an older message again and again', async () => {
    const { tenant, sentAt } = await stick(2);
    const receivedAt = sentAt - 60_000;
    const event = eventOf(newId('app'), newDevice(), 'custom.ad', { received_at: receivedAt });
    const message = { id: 'refused', body: { v: 1, events: [event] } };
    queues[OTHER]?.messages.push({ ...message, sentAt: receivedAt });
    const down = new WatchedCounters(() =>
      Promise.reject(Object.assign(new Error('down'), { retryable: true })),
    );
    const worker = startWithQueues(queues, 3, { COUNTERS: down.asBinding() });
    expect((await worker.deliver([message], nameOf(OTHER))).retryMessages).toHaveLength(1);
    expect((await readThrough(startWithQueues(queues, 3), tenant)).through).toBe(sentAt - 1);
  });

  it('is a problem of the deployment after five minutes', async () => {
    const { tenant } = await stick(6);
    const { health } = await readThrough(startWithQueues(queues, 3), tenant);
    expect(health.problems).toEqual(['Events have waited for 6 min in the queue EVENTS_1 to be delivered.']);
  });
});

it('says in Health which queues are not bound', async () => {
  const tenant = await createTenant();
  const health = await (await startWithQueues(queues.slice(0, 1), 2).team(tenant, '/v1/health')).json();
  expect(health).toMatchObject({
    status: 'degraded',
    problems: [
      'EVENT_QUEUES includes queues that are not bound: EVENTS_1. The others take their events. Run `npm run org -- deploy`.',
    ],
  });
});
