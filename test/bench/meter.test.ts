import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { startCounter } from '../helpers/counter.ts';
import { DatabaseMeter, StorageMeter } from './meter.ts';

it('adds up what D1 reports for single statements, batches and sessions', async () => {
  const meter = new DatabaseMeter(env.DB);
  await meter.binding.prepare('CREATE TABLE metered (id INTEGER PRIMARY KEY, n INTEGER) STRICT').run();
  const before = meter.rowsWritten;
  const insert = (id: number) => meter.binding.prepare('INSERT INTO metered VALUES (?, 1)').bind(id);
  await insert(1).run();
  await meter.binding.batch([insert(2), insert(3)]);
  await meter.binding.withSession().prepare('DELETE FROM metered WHERE id = ?').bind(1).run();
  expect(meter.rowsWritten - before).toBe(4);
  expect(meter.tables).toMatchObject({ metered: 4 });
  const { rowsRead } = meter;
  const { results } = await meter.binding.prepare('SELECT id FROM metered').all();
  expect(results).toEqual([{ id: 2 }, { id: 3 }]);
  expect(meter.rowsRead - rowsRead).toBe(2);
  expect(meter.statements).toBe(6);
});

it('adds up the storage operations of an object, including the last statement', async () => {
  await runInDurableObject(startCounter().stub(), (_, { storage }) => {
    const meter = new StorageMeter(storage);
    const { sql } = meter.storage;
    sql.exec('CREATE TABLE metered (id INTEGER PRIMARY KEY, n INTEGER) STRICT');
    const before = meter.rowsWritten;
    meter.storage.transactionSync(() => {
      sql.exec('INSERT INTO metered VALUES (1, 1), (2, 1)');
      sql.exec('UPDATE metered SET n = 2');
    });
    expect(meter.rowsWritten - before).toBe(4);
    sql.exec('DELETE FROM metered WHERE id = 1');
    expect(meter.rowsWritten - before).toBe(5);
    expect(meter.tables).toMatchObject({ metered: 5 });
    const { rowsRead } = meter;
    expect(sql.exec('SELECT id FROM metered').toArray()).toEqual([{ id: 2 }]);
    expect(meter.rowsRead - rowsRead).toBe(1);
    expect(meter.storage.sql.databaseSize).toBe(storage.sql.databaseSize);
  });
});
