import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { campaigns, database, sharedReads, toStatement } from '#db';
import { newId } from '#lib/ids';
import { WatchedD1 } from '../helpers/d1.ts';

const SELECT = 'SELECT ?1 AS value, ?2 AS other';

function shared() {
  const watched = new WatchedD1(env.DB);
  return { watched, db: sharedReads(watched.asBinding()) };
}

it('sends equal reads that are in flight once', async () => {
  const { watched, db } = shared();
  const ask = (...values: unknown[]) =>
    db
      .prepare(SELECT)
      .bind(...values)
      .all();
  const [one, same, other] = await Promise.all([ask(1, 'a'), ask(1, 'a'), ask(1, 'b')]);
  expect([one.results, same.results, other.results]).toEqual([
    [{ value: 1, other: 'a' }],
    [{ value: 1, other: 'a' }],
    [{ value: 1, other: 'b' }],
  ]);
  expect(watched.statements).toBe(2);
  // Not in flight any more.
  await ask(1, 'a');
  expect(watched.statements).toBe(3);
});

it('does not mix up rows as objects and as lists', async () => {
  const { watched, db } = shared();
  const statement = () => db.prepare(SELECT).bind(1, 'a');
  const [objects, lists] = await Promise.all([statement().all(), statement().raw()]);
  expect([objects.results, lists]).toEqual([[{ value: 1, other: 'a' }], [[1, 'a']]]);
  expect(watched.statements).toBe(2);
});

it('asks again after a failed read', async () => {
  const { watched, db } = shared();
  watched.failOn(/SELECT/, 'overloaded');
  const ask = () => db.prepare(SELECT).bind(1, 'a').all();
  const failed = await Promise.allSettled([ask(), ask()]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect((await ask()).results).toEqual([{ value: 1, other: 'a' }]);
});

it('serves Drizzle, batches and writes like the database itself', async () => {
  const { watched, db } = shared();
  const applicationId = newId('app');
  const row = (id: string) => ({ id, applicationId, name: id, createdAt: 0 });
  const insert = (id: string) =>
    database(db).insert(campaigns).values(row(id)).returning({ id: campaigns.id });
  const ids = [newId('cmp'), newId('cmp')] as const;
  expect(await Promise.all(ids.map(insert))).toEqual(ids.map((id) => [{ id }]));
  const read = database(db).select().from(campaigns).where(eq(campaigns.applicationId, applicationId));
  watched.log.length = 0;
  const [rows, again] = await Promise.all([read, read]);
  expect(watched.statements).toBe(1);
  expect(again).toEqual(rows);
  expect(rows.map(({ id }) => id).sort()).toEqual([...ids].sort());
  const [batched] = await db.batch([toStatement(db, read.getSQL())]);
  expect(batched?.results).toHaveLength(2);
});

it('shares what is shared already', () => {
  const { db } = shared();
  expect(sharedReads(db)).toBe(db);
});
