import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { inspect } from '#operations';
import { call, item, partOf, type ShownDestination, setUp, watchNotices } from '../helpers/destination.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-23T12:00:00Z') }));
afterEach(() => vi.useRealTimers());

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

async function setUpOutage(status: number) {
  const own = await setUp();
  const { tenant, receiver, object, path } = own;
  receiver.answer = () => new Response('', { status });
  const messages = await watchNotices(tenant.application.id);
  return {
    ...own,
    accept: () => object.inside((inner) => inner.accept([partOf([item(tenant.application.id)])])),
    workAfter: (ms: number) => {
      vi.setSystemTime(Date.now() + ms);
      return object.work();
    },
    told: async () => (await messages()).map(({ sentences: [sentence = ''] }) => sentence),
    problems: async () =>
      (await inspect(env, [{ id: tenant.application.id, shards: 1 }], Date.now())).applications[0]?.problems,
    shown: async () => (await call<ShownDestination>(tenant, 'GET', path)).body,
  };
}

it('tells of an outage after an hour and each day, and switches off after 3 days', async () => {
  const own = await setUpOutage(503);
  await own.accept();
  await own.workAfter(0);
  await own.workAfter(10 * 60_000);
  expect(await own.problems()).toEqual([]);
  await own.workAfter(10 * 60_000);
  expect(await own.problems()).toEqual([
    `The destination webhook (${own.id}) has delivered nothing since 2026-11-23T12:00:00.000Z; what waits is tried again.`,
  ]);
  expect(await own.told()).toEqual([]);
  const sentence = (time: string) =>
    `Nothing could be delivered for ${time}. Deliveries are tried again for 76 hours. After 3 days without a success, the destination is switched off.`;
  await own.workAfter(HOUR);
  await own.workAfter(HOUR);
  expect(await own.told()).toEqual([sentence('an hour')]);
  await own.workAfter(DAY);
  expect(await own.told()).toEqual([sentence('an hour'), sentence('24 hours')]);
  await own.workAfter(DAY);
  expect(await own.told()).toHaveLength(3);
  expect(await own.shown()).toMatchObject({ enabled: true });
  await own.workAfter(DAY);
  expect(await own.shown()).toMatchObject({
    enabled: false,
    off_reason: 'Nothing could be delivered for 3 days',
  });
});

it('tells of a second outage after a success', async () => {
  const own = await setUpOutage(503);
  await own.accept();
  await own.workAfter(0);
  await own.workAfter(2 * HOUR);
  own.receiver.answer = () => new Response('ok');
  await own.workAfter(2 * HOUR);
  expect(await own.problems()).toEqual([]);
  own.receiver.answer = () => new Response('', { status: 503 });
  await own.accept();
  await own.workAfter(0);
  await own.workAfter(2 * HOUR);
  expect(await own.told()).toHaveLength(2);
});

it('leaves a destination on that has nothing to send since an event was refused', async () => {
  const own = await setUpOutage(400);
  await own.accept();
  await own.workAfter(0);
  for (let day = 0; day < 5; day++) await own.workAfter(DAY);
  expect(await own.shown()).toMatchObject({ enabled: true });
  expect(await own.problems()).toEqual([]);
  // What is refused days later is the second failure in a row, no outage of days.
  await own.accept();
  await own.workAfter(0);
  expect(await own.shown()).toMatchObject({ enabled: true, failures_in_row: 2 });
  expect(await own.told()).toEqual([]);
});

/** A destination with 500 events, of which 96 wait for an answer. `answerAll` answers them, and all that follows at once. */
async function setUpBacklog() {
  const own = await setUpOutage(200);
  const { tenant, receiver, object } = own;
  // Reads the settings, which are used for a minute from now on.
  await object.work();
  vi.setSystemTime(Date.now() + 40_000);
  const waiting: (() => void)[] = [];
  receiver.answer = () =>
    new Promise((resolve) => {
      waiting.push(() => resolve(new Response('ok')));
    });
  const events = Array.from({ length: 500 }, () => item(tenant.application.id));
  await object.inside((inner) => inner.accept([partOf(events)]));
  const working = object.work();
  await vi.waitFor(() => expect(waiting).toHaveLength(96));
  const answerAll = async () => {
    receiver.answer = () => new Response('ok');
    await object.inside(() => {
      for (const answer of waiting) answer();
    });
    await working;
  };
  return { ...own, answerAll };
}

it('sends nothing more of a backlog once it is turned off', async () => {
  const { tenant, receiver, object, path, answerAll } = await setUpBacklog();
  await call(tenant, 'PATCH', path, { enabled: false });
  await answerAll();
  expect(receiver.received).toHaveLength(96);
  await call(tenant, 'PATCH', path, { enabled: true });
  await object.work();
  expect(new Set(receiver.ids).size).toBe(500);
});

it.each([
  ['turned off', "UPDATE destinations SET off_since = 1, off_reason = 'By hand' WHERE id = ?"],
  ['deleted', 'DELETE FROM destinations WHERE id = ?'],
])('sends nothing more of a backlog a minute after it was %s, if it was not told', async (_, change) => {
  const { receiver, id, object, answerAll } = await setUpBacklog();
  await env.DB.prepare(change).bind(id).run();
  vi.setSystemTime(Date.now() + 21_000);
  await answerAll();
  expect(receiver.received).toHaveLength(96);
  await object.work();
  expect(receiver.received).toHaveLength(96);
});
