import { afterEach, expect, it, vi } from 'vitest';
import { call, item, partOf, type ShownDestination, setUp, watchNotices } from '../helpers/destination.ts';
import { signedIn } from '../helpers/person.ts';
import { WatchedStorage } from '../helpers/storage.ts';
import { startWorker } from '../helpers/worker.ts';

afterEach(() => vi.useRealTimers());

const items = (applicationId: string, count: number) =>
  Array.from({ length: count }, () => item(applicationId));

it('tells people of 5 and 10 deliveries in a row that failed for good, and switches off after 20', async () => {
  const { tenant, receiver, object, path } = await setUp();
  const messages = await watchNotices(tenant.application.id);
  const told = async () => (await messages()).map(({ sentences: [sentence] }) => sentence).sort();
  const fail = async (count: number) => {
    await object.inside((own) => own.accept([partOf(items(tenant.application.id, count))]));
    await object.work();
  };
  const isOn = async () => (await call<ShownDestination>(tenant, 'GET', path)).body.enabled;
  receiver.answer = () => new Response('', { status: 400 });
  await fail(4);
  receiver.answer = () => new Response('ok');
  await fail(1);
  receiver.answer = () => new Response('', { status: 400 });
  await fail(4);
  expect(await told()).toEqual([]);
  await fail(1);
  expect(await told()).toEqual([expect.stringMatching(/^5 deliveries/)]);
  const owner = await signedIn(startWorker(), tenant.team, 'owner');
  for (const { link } of await messages()) expect((await owner.get(link?.path ?? '')).status).toBe(200);
  await fail(5);
  expect(await told()).toEqual([expect.stringMatching(/^10 deliveries/), expect.stringMatching(/^5 /)]);
  await fail(9);
  expect(await isOn()).toBe(true);
  await fail(1);
  expect(await isOn()).toBe(false);
  expect(await told()).toContainEqual(
    '20 deliveries in a row have failed for good. Nothing is sent until a test succeeds or somebody switches it on.',
  );
  expect((await call<ShownDestination>(tenant, 'PATCH', path, { enabled: true })).body.enabled).toBe(true);
  await fail(1);
  expect(await isOn()).toBe(true);
});

it('writes at most three rows for a delivery', async () => {
  const { tenant, object } = await setUp();
  const events = items(tenant.application.id, 200);
  let watched: WatchedStorage | undefined;
  await object.inside(async (own, { storage }) => {
    watched = new WatchedStorage(storage);
    own.use(watched.asStorage());
    await own.accept([partOf(events.slice(0, 100)), partOf(events.slice(100))]);
    await own.alarm();
    expect(storage.sql.exec('SELECT count(*) AS n FROM deliveries').one()).toEqual({ n: 200 });
  });
  expect((watched?.rowsWritten ?? 0) / events.length).toBeLessThanOrEqual(3);
});

it('has a bounded number of requests under way, and of events in memory', async () => {
  const { tenant, receiver, object } = await setUp();
  const parts = Array.from({ length: 20 }, () => partOf(items(tenant.application.id, 100)));
  const waiting: (() => void)[] = [];
  receiver.answer = () =>
    new Promise((resolve) => {
      waiting.push(() => resolve(new Response('ok')));
    });
  await object.inside((own) => own.accept(parts));
  const working = object.work();
  await vi.waitFor(() => expect(waiting).toHaveLength(96));
  receiver.answer = () => new Response('ok');
  await object.inside(() => {
    for (const answer of waiting) answer();
  });
  await working;
  expect(receiver.most).toBe(96);
  expect(new Set(receiver.ids).size).toBe(2_000);
});

it('does not wait for a receiver that hangs with anything but its own deliveries', async () => {
  const [slow, fast] = [await setUp(), await setUp()];
  const held = Promise.withResolvers<Response>();
  slow.receiver.answer = () => held.promise;
  await slow.object.inside((own) => own.accept([partOf(items(slow.tenant.application.id, 1))]));
  await fast.object.inside((own) => own.accept([partOf(items(fast.tenant.application.id, 1))]));
  const hanging = slow.object.work();
  await vi.waitFor(() => expect(slow.receiver.received).toHaveLength(1));
  await fast.object.work();
  expect(fast.receiver.received).toHaveLength(1);
  // What comes meanwhile is accepted at once, and sent beside what hangs.
  slow.receiver.answer = () => new Response('ok');
  await slow.object.inside((own) => own.accept([partOf(items(slow.tenant.application.id, 1))]));
  await vi.waitFor(() => expect(slow.receiver.received).toHaveLength(2));
  await slow.object.inside(() => held.resolve(new Response('ok')));
  await hanging;
});

/** The statements that an object runs for a delivery, and those of a retry. */
const STATEMENTS = [
  'insert into "waiting_parts"',
  'from "waiting_parts"',
  'SELECT "deliveries"."event_id" FROM json_each',
  'INSERT INTO "deliveries"',
  'delete from "waiting_parts"',
  'insert into "state"',
  'from "deliveries" where \\("deliveries"."due_at"',
];

it.each(
  STATEMENTS.flatMap((statement) =>
    (['before', 'after', 'commit'] as const).map((when) => [when, statement]),
  ),
)(
  'sends each event at least once, with one id, if the store fails %s %s and the object is killed',
  async (when, statement) => {
    const { tenant, receiver, object, deliveries } = await setUp();
    const events = items(tenant.application.id, 10);
    const part = partOf(events);
    const fail = async (work: 'accept' | 'alarm') => {
      await object
        .inside(async (own, { storage }) => {
          const watched = new WatchedStorage(storage);
          watched.failOn(new RegExp(statement), when as 'before', 1);
          own.use(watched.asStorage());
          await (work === 'accept' ? own.accept([part]) : own.alarm());
        })
        .catch(() => undefined);
      await object.kill();
    };
    await fail('accept');
    await fail('alarm');
    // The counter hands it over again until it has an answer.
    await object.inside((own) => own.accept([part]));
    await object.work();
    await object.inside((own) => own.accept([part]));
    await object.work();
    const ids = events.map(({ event }) => event.id).sort();
    expect([...new Set(receiver.ids)].sort()).toEqual(ids);
    expect((await deliveries()).map(({ event_id }) => event_id).sort()).toEqual(ids);
    expect((await deliveries()).every(({ status }) => status === 'delivered')).toBe(true);
  },
);
