import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { counterFlushes, database } from '#db';
import { DAY_MS } from '#lib/time';
import { pruneSent } from '../../src/counting/outbox/sent-parts.ts';
import { openStore } from '../../src/counting/store.ts';
import { eventOf, rollupOf, startCounter } from '../helpers/counter.ts';
import { WatchedD1 } from '../helpers/d1.ts';

// What counting does when a database and a counter disagree about what was written, and when they only seem to.

const ADD = /INSERT INTO "counter_flushes"/;
const LOST = 'D1_ERROR: disk I/O error';

async function start() {
  const counter = startCounter();
  const { applicationId, append, stub, inside } = counter;
  const [device] = await counter.createDevices(1);
  if (!device) throw new Error('a device was created');
  // No alarm is due before the export, so that only the test writes to the database.
  await inside((_, { storage }) => storage.sql.exec('UPDATE progress SET pruned_at = ?', Date.now()));
  const name = `${applicationId}:0`;
  const isOwn = eq(counterFlushes.counter, name);
  const db = database(env.DB);
  return {
    ...counter,
    add: () => append([eventOf(applicationId, device, 'custom.ad')]),
    /** Counts an ad view and writes it to the database, as one part. */
    async count() {
      await append([eventOf(applicationId, device, 'custom.ad')]);
      expect((await stub().settle()).settled).toBe(true);
    },
    impressions: async () => (await rollupOf(applicationId)).impressions,
    /** Lets the counter use another database. */
    use: (d1: D1Database) =>
      inside((own) => {
        own.db = d1;
      }),
    numberInD1: async () => (await db.select().from(counterFlushes).where(isOwn))[0]?.sequence,
    /** The database forgets the parts after this one, though not their sums. */
    setBackTo: (sequence: number) => db.update(counterFlushes).set({ sequence }).where(isOwn),
  };
}

it.each([1, 2])('finds part %i, whose answer was lost, no gap', async (part) => {
  const { add, count, use, stub, impressions } = await start();
  for (let before = 1; before < part; before++) await count();
  const db = new WatchedD1(env.DB);
  db.failOn(ADD, LOST, { when: 'after' });
  await use(db.asBinding());
  await add();
  expect((await stub().settle()).settled).toBe(false);
  db.failWhen((sql) => ADD.test(sql), LOST);
  expect(await stub().resumeFlush()).toEqual({ hadGap: false, missingParts: 0, shards: 1 });
  await use(env.DB);
  await count();
  expect(await impressions()).toBe(part + 1);
});

it('finds no gap where a part is accepted while it looks for one', async () => {
  const { add, use, stub, inside, count, impressions } = await start();
  await add();
  const down = new WatchedD1(env.DB);
  down.failWhen((sql) => ADD.test(sql), LOST);
  await use(down.asBinding());
  expect((await stub().settle()).settled).toBe(false);
  const [reached, accepted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  down.holdOn((sql) => /from "counter_flushes"/.test(sql), reached.resolve, accepted.promise);
  await inside(async (counter) => {
    const resumed = counter.resumeFlush();
    await reached.promise;
    counter.db = env.DB;
    expect((await counter.settle()).settled).toBe(true);
    accepted.resolve();
    expect(await resumed).toMatchObject({ hadGap: false, missingParts: 0 });
  });
  await count();
  expect(await impressions()).toBe(2);
});

it.each([
  { kept: 'all parts', deleted: 0, missing: 0 },
  { kept: 'all but the first', deleted: 1, missing: 1 },
  { kept: 'none', deleted: 3, missing: 3 },
])('continues after a database that lost three parts, of which $kept are kept', async (of) => {
  const { count, setBackTo, numberInD1, stub, inside } = await start();
  await count();
  for (let part = 2; part <= 4; part++) await count();
  await setBackTo(1);
  await inside((_, { storage }) =>
    storage.sql.exec('DELETE FROM sent_parts WHERE sequence BETWEEN 2 AND ?', 1 + of.deleted),
  );
  expect(await stub().resumeFlush()).toMatchObject({ hadGap: true, missingParts: of.missing });
  expect(await numberInD1()).toBe(4);
  await count();
  expect(await numberInD1()).toBe(5);
  expect(await stub().resumeFlush()).toMatchObject({ hadGap: false });
});

it('sends nothing again from before a part that is missing', async () => {
  const { count, setBackTo, numberInD1, stub, inside, impressions } = await start();
  for (let part = 1; part <= 5; part++) await count();
  await setBackTo(1);
  await inside((_, { storage }) => storage.sql.exec('DELETE FROM sent_parts WHERE sequence = 3'));
  // Parts 2 and 3 are given up: what follows must be without a gap.
  expect(await stub().resumeFlush()).toMatchObject({ hadGap: true, missingParts: 2 });
  expect(await numberInD1()).toBe(5);
  // Its sums were still there, and parts 4 and 5 were added to them.
  expect(await impressions()).toBe(5 + 2);
});

it('continues after the numbers of a database that is ahead', async () => {
  const { count, add, setBackTo, numberInD1, stub, impressions } = await start();
  await count();
  await setBackTo(3);
  await add();
  expect((await stub().settle()).settled).toBe(false);
  expect(await stub().health()).toMatchObject({ hasGap: true });
  expect(await stub().resumeFlush()).toMatchObject({ hadGap: true, missingParts: 2 });
  expect(await stub().health()).toMatchObject({ hasGap: false, outbox: 0, sequence: 4 });
  await count();
  expect([await numberInD1(), await impressions()]).toEqual([5, 3]);
});

it('does not take a database that is ahead by one part to have the next one', async () => {
  const { count, setBackTo, numberInD1, stub, impressions } = await start();
  await count();
  await setBackTo(2);
  expect(await stub().resumeFlush()).toMatchObject({ hadGap: true, missingParts: 1 });
  await count();
  expect([await numberInD1(), await impressions()]).toEqual([3, 2]);
});

it('never sets the number in the database back', async () => {
  const { count, setBackTo, numberInD1, inside } = await start();
  for (let part = 1; part <= 3; part++) await count();
  await setBackTo(1);
  await inside(async (counter, { storage }) => {
    storage.sql.exec('DELETE FROM sent_parts');
    const slow = new WatchedD1(env.DB);
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    slow.holdOn((sql) => /insert into "counter_flushes"/.test(sql), reached.resolve, released.promise);
    counter.db = slow.asBinding();
    const first = counter.resumeFlush();
    await reached.promise;
    counter.db = env.DB;
    await counter.resumeFlush();
    await setBackTo(7);
    released.resolve();
    await first;
  });
  expect(await numberInD1()).toBe(7);
});

it('keeps sent parts for thirty days, and of too many the newest', async () => {
  const { count, inside } = await start();
  for (let part = 1; part <= 4; part++) await count();
  await inside((_, { storage }) => {
    const store = openStore(storage);
    const rows = () =>
      storage.sql
        .exec<{ sequence: number; bytes: number }>(
          'SELECT sequence, octet_length(payload) AS bytes FROM sent_parts WHERE sequence > 0 ORDER BY 1',
        )
        .toArray();
    const kept = () => rows().map(({ sequence }) => sequence);
    const now = Date.now();
    pruneSent(store, now + 29 * DAY_MS);
    expect(kept()).toEqual([1, 2, 3, 4]);
    const newest = rows()
      .slice(2)
      .reduce((sum, { bytes }) => sum + bytes, 0);
    pruneSent(store, now, newest);
    expect(kept()).toEqual([3, 4]);
    pruneSent(store, now, newest - 1);
    expect(kept()).toEqual([4]);
    pruneSent(store, now + 31 * DAY_MS);
    expect(kept()).toEqual([]);
  });
});

it('does not say how many events are in parts that have to be sent again', async () => {
  const { count, setBackTo, use, stub } = await start();
  for (let part = 1; part <= 3; part++) await count();
  await setBackTo(1);
  const down = new WatchedD1(env.DB);
  down.failWhen((sql) => ADD.test(sql), LOST);
  await use(down.asBinding());
  expect(await stub().resumeFlush()).toMatchObject({ hadGap: true });
  expect(await stub().settle()).toMatchObject({ settled: false, uncounted: null });
  await use(env.DB);
  expect(await stub().settle()).toMatchObject({ settled: true, uncounted: 0 });
});

it('keeps parts that were sent again for another thirty days', async () => {
  const { count, setBackTo, stub, inside } = await start();
  for (let part = 1; part <= 3; part++) await count();
  await inside((_, { storage }) =>
    storage.sql.exec('UPDATE sent_parts SET sent_at = sent_at - ?', 20 * DAY_MS),
  );
  await setBackTo(1);
  expect(await stub().resumeFlush()).toMatchObject({ hadGap: true, missingParts: 0 });
  await inside((_, { storage }) => {
    pruneSent(openStore(storage), Date.now() + 15 * DAY_MS);
  });
  await setBackTo(1);
  expect(await stub().resumeFlush()).toMatchObject({ hadGap: true, missingParts: 0 });
});
