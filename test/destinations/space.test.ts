import { afterEach, expect, it, vi } from 'vitest';
import { firstIdAt } from '#lib/ids';
import { SPACE, type Space } from '../../src/destinations/object/space.ts';
import { call, item, partOf, type ShownDestination, setUp } from '../helpers/destination.ts';
import { WatchedStorage } from '../helpers/storage.ts';
import { slowIt } from '../helpers/thorough.ts';

afterEach(() => vi.useRealTimers());

const DAY = 86_400_000;

type SetUp = Awaited<ReturnType<typeof setUp>>;

const items = (applicationId: string, count: number) =>
  Array.from({ length: count }, () => item(applicationId));

const bytesOf = ({ object }: SetUp) => object.inside((_, { storage }) => storage.sql.databaseSize);

const limit = ({ object }: SetUp, space: Partial<Space>) =>
  object.inside((own) => {
    own.space = { ...SPACE, ...space };
  });

const countOf = ({ object }: SetUp, table: 'deliveries' | 'waiting_parts') =>
  object.inside((_, { storage }) => storage.sql.exec(`SELECT count(*) AS n FROM ${table}`).one().n);

/** Writes deliveries of an hour ago. One in a hundred is to be tried again tomorrow. */
const writeLog = ({ object }: SetUp, count: number) =>
  object.inside((_, { storage }) => {
    const first = firstIdAt('evt', Date.now() - 3_600_000).slice(0, -8);
    storage.sql.exec(
      `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
      INSERT INTO deliveries
      SELECT ? || printf('%08x', n), 'dev', 'purchase', iif(n % 100, 'delivered', 'pending'), NULL, iif(n % 100, NULL, ?), 1,
        printf('%.*c', 500, 'x'), '[]' FROM numbers`,
      ...[count, first, Date.now() + DAY],
    );
  });

it('forgets deliveries after 30 days, and what waits for a destination that is off', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00Z') });
  const own = await setUp();
  const { tenant, object, path, deliveries } = own;
  await object.inside((inner) => inner.accept([partOf(items(tenant.application.id, 3))]));
  await object.work();
  vi.setSystemTime(Date.now() + 29 * DAY);
  const kept = item(tenant.application.id);
  await object.inside((inner) => inner.accept([partOf([kept])]));
  await object.work();
  expect(await deliveries()).toHaveLength(4);
  await call(tenant, 'PATCH', path, { enabled: false });
  await object.inside((inner) => inner.accept([partOf(items(tenant.application.id, 1))]));
  vi.setSystemTime(Date.now() + 2 * DAY);
  await object.work();
  expect((await deliveries()).map(({ event_id }) => event_id)).toEqual([kept.event.id]);
  expect(await countOf(own, 'waiting_parts')).toBe(1);
  vi.setSystemTime(Date.now() + 29 * DAY);
  await object.work();
  expect(await deliveries()).toEqual([]);
  expect(await countOf(own, 'waiting_parts')).toBe(0);
});

it('forgets the oldest deliveries in rounds once the log is full, but none that is to be tried again', async () => {
  const own = await setUp();
  const { object } = own;
  await writeLog(own, 10_000);
  const full = await bytesOf(own);
  await limit(own, { log: full / 2 });
  await object.work();
  expect(await bytesOf(own)).toBeLessThan(full / 2);
  const left = await object.inside((_, { storage }) =>
    storage.sql
      .exec('SELECT status, count(*) AS n, min(event_id) AS first FROM deliveries GROUP BY 1')
      .toArray(),
  );
  const [delivered, pending] = left;
  expect(pending).toMatchObject({ status: 'pending', n: 100 });
  expect(delivered?.n).toBeGreaterThan(2_000);
  expect(String(delivered?.first) > String(pending?.first)).toBe(true);
  // What is to be tried again is not forgotten, even if nothing else is left.
  await limit(own, { log: 0 });
  await object.work();
  expect(await countOf(own, 'deliveries')).toBe(100);
});

it('continues in the next alarm, at once, where one has no time left', async () => {
  const own = await setUp();
  const { object } = own;
  const dueIn = () =>
    object.inside(async (_, { storage }) => ((await storage.getAlarm()) ?? Number.NaN) - Date.now());
  await writeLog(own, 5_000);
  await limit(own, { log: 0, pruningMs: 0 });
  await object.work();
  expect(await countOf(own, 'deliveries')).toBe(3_000);
  expect(await dueIn()).toBeLessThan(1_000);
  await object.work();
  await object.work();
  expect(await countOf(own, 'deliveries')).toBe(50);
  expect(await dueIn()).toBeGreaterThan(DAY / 2);
});

it('keeps requests and answers only of what has failed for good once space gets short', async () => {
  const own = await setUp();
  const { tenant, receiver, object, deliveries } = own;
  await limit(own, { terse: 0 });
  const [delivered, failed] = items(tenant.application.id, 2);
  if (!delivered || !failed) throw new Error('no items');
  receiver.answer = ({ id }) =>
    id === failed.event.id ? new Response('no', { status: 400 }) : new Response('ok');
  await object.inside((inner) => inner.accept([partOf([delivered, failed])]));
  await object.work();
  const shown = async ({ event: { id } }: typeof delivered) => (await deliveries(`event_id=${id}`))[0];
  expect(await shown(delivered)).toMatchObject({
    attempts: [{ status: 200, answer: '', request: { body: null } }],
  });
  expect(await shown(failed)).toMatchObject({ attempts: [{ status: 400, answer: 'no' }] });
  expect((await shown(failed))?.attempts[0]?.request.body).toContain(failed.event.id);
  // It can be sent again all the same.
  await call(tenant, 'POST', `${own.path}/replay`, { event_id: delivered.event.id });
  await object.work();
  expect(receiver.ids.filter((id) => id === delivered.event.id)).toHaveLength(2);
  await call(tenant, 'POST', `${own.path}/replay`, { event_id: failed.event.id });
  await object.work();
  const [first, second] = (await shown(failed))?.attempts ?? [];
  expect([first?.answer, second?.answer]).toEqual(['', 'no']);
});

it('switches off a destination for which more waits than fits, and confirms what comes meanwhile', async () => {
  const own = await setUp();
  const { tenant, receiver, object, path } = own;
  receiver.answer = () => new Response('', { status: 503 });
  await object.inside((inner) => inner.accept([partOf(items(tenant.application.id, 20))]));
  await object.work();
  await limit(own, { log: 0, full: await bytesOf(own) });
  await object.inside((inner) =>
    inner.accept([partOf(items(tenant.application.id, 5)), { id: 'erasure', payload: '{"erased":"dev_1"}' }]),
  );
  expect(await countOf(own, 'waiting_parts')).toBe(0);
  await object.work();
  expect((await call<ShownDestination>(tenant, 'GET', path)).body).toMatchObject({
    enabled: false,
    off_reason: 'More waits to be sent than can be kept',
  });
  // What waits is sent once it is on again.
  expect(await countOf(own, 'deliveries')).toBe(20);
  receiver.answer = () => new Response('ok');
  const before = receiver.received.length;
  await limit(own, {});
  await call(tenant, 'POST', `${path}/replay`, { from: '2020-01-01', to: '2100-01-01', status: 'all' });
  expect((await call<ShownDestination>(tenant, 'PATCH', path, { enabled: true })).body.enabled).toBe(true);
  await object.work();
  expect(receiver.received.length - before).toBe(20);
});

slowIt('stores long bodies of many attempts in values of less than 2 MB', async () => {
  const own = await setUp();
  const { tenant, object, deliveries } = own;
  const events = items(tenant.application.id, 60);
  const body = 'x'.repeat(4_000);
  // All are answered at the same time, so that they are stored together.
  let calls = 0;
  let answer = Promise.withResolvers<void>();
  let longest = 0;
  await object.inside(async (inner, { storage }) => {
    const watched = new WatchedStorage(storage);
    inner.use(watched.asStorage());
    inner.deliver = async (sent) => {
      if (++calls % 10 === 0) answer.resolve();
      await answer.promise;
      return sent.map(({ id }) => ({
        attempt: {
          ...{ at: Date.now(), tookMs: 1, status: 200, reason: null, answer: 'y'.repeat(1_000) },
          request: { method: 'POST', url: 'https://hooks.example.com/', headers: { 'webhook-id': id }, body },
        },
        outcome: { isDelivered: true },
      }));
    };
    await inner.accept([partOf(events)]);
    await inner.alarm();
    for (let replay = 0; replay < 19; replay++) {
      answer = Promise.withResolvers();
      await inner.replay({ from: 0, to: Date.now() + DAY, status: 'all' });
      await inner.alarm();
    }
    longest = watched.longestValue;
  });
  // A character may have three bytes.
  expect(longest * 3).toBeLessThan(2_000_000);
  const stored = await deliveries('limit=60');
  expect(stored).toHaveLength(60);
  expect(stored.every(({ attempts }) => attempts.length === 20)).toBe(true);
});
