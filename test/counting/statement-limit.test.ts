import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { additionColumns } from '#rollup';
import { eventOf, rollupOf, startCounter } from '../helpers/counter.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { slowIt } from '../helpers/thorough.ts';

/** Of one invocation. Source: https://developers.cloudflare.com/d1/platform/limits/ */
const MAX_STATEMENTS = 1_000;
const PARTS = 250;

slowIt(
  'writes a long outbox to D1 in several alarms, each within the statements of an invocation',
  async () => {
    const { applicationId, inside } = startCounter();
    const row = [applicationId, '2026-03-01', 'paid', 'usd'];
    const rollups = ['rollup_daily', 'cohort_activity', 'rollup_custom', 'rollup_items'] as const;
    const keys: Record<string, unknown[]> = {
      rollup_daily: row,
      cohort_activity: [applicationId, '2026-03-01', 'paid', 0],
      rollup_custom: [applicationId, '2026-03-01', 'level_1', 'paid'],
      rollup_items: [applicationId, '2026-03-01', 'gold', 'paid', 'usd'],
    };
    const payload = JSON.stringify(
      rollups.map((table) => {
        const row = [...(keys[table] ?? []), 1];
        return { kind: 'sums', table, columns: additionColumns(table).slice(0, row.length), rows: [row] };
      }),
    );
    const watched = new WatchedD1(env.DB);
    const runs: { statements: number; waiting: number }[] = [];
    await inside(async (counter, { storage }) => {
      counter.db = watched.asBinding();
      for (let sequence = 1; sequence <= PARTS; sequence++) {
        storage.sql.exec(
          'INSERT INTO outbox (sequence, payload, oldest_at) VALUES (?, ?, 1)',
          sequence,
          payload,
        );
      }
      storage.sql.exec('UPDATE progress SET sequence = ?', PARTS);
      while (storage.sql.exec('SELECT 1 FROM outbox LIMIT 1').toArray().length > 0) {
        const before = watched.statements;
        await counter.alarm();
        const [left] = storage.sql.exec<{ n: number }>('SELECT count(*) AS n FROM outbox').toArray();
        runs.push({ statements: watched.statements - before, waiting: left?.n ?? 0 });
        // What is left is due at once.
        if (left && left.n > 0) expect(((await storage.getAlarm()) ?? 0) - Date.now()).toBeLessThan(2_000);
        expect(runs.length).toBeLessThan(10);
      }
    });
    expect(runs.length).toBeGreaterThan(1);
    for (const { statements } of runs) expect(statements).toBeLessThanOrEqual(MAX_STATEMENTS);
    const counted = await env.DB.prepare(
      'SELECT sum(active_devices) AS n FROM cohort_activity WHERE application_id = ?',
    )
      .bind(applicationId)
      .first('n');
    expect(counted).toBe(PARTS);
  },
);

slowIt('finds refused rows within the statements of an invocation', async () => {
  const { applicationId, inside } = startCounter();
  const watched = new WatchedD1(env.DB);
  // D1 refuses every row, but neither the neutral one nor the parked ones.
  watched.failWhen(
    (sql, bindings) => /INTO cohort_activity/.test(sql) && String(bindings[0]).includes(applicationId),
    'D1_ERROR: CHECK constraint failed',
  );
  const columns = additionColumns('cohort_activity');
  const rows = Array.from({ length: 150 }, (_, age) => [applicationId, '2026-03-01', 'paid', age, 1, 0]);
  await inside(async (counter, { storage }) => {
    counter.db = watched.asBinding();
    storage.sql.exec(
      'INSERT INTO outbox (sequence, payload, oldest_at) VALUES (1, ?, 1)',
      JSON.stringify([{ kind: 'sums', table: 'cohort_activity', columns, rows }]),
    );
    storage.sql.exec('UPDATE progress SET sequence = 1');
    for (let alarm = 0; storage.sql.exec('SELECT 1 FROM outbox LIMIT 1').toArray().length > 0; alarm++) {
      const before = watched.statements;
      await counter.alarm();
      expect(watched.statements - before).toBeLessThanOrEqual(MAX_STATEMENTS);
      expect(alarm).toBeLessThan(20);
    }
  });
  const parked = await env.DB.prepare('SELECT count(*) AS n FROM parked_messages WHERE application_id = ?')
    .bind(applicationId)
    .first('n');
  expect(parked).toBe(150);
});

it('writes what a run added in transactions of a bounded size', async () => {
  const { applicationId, append, inside, createDevices, stub } = startCounter();
  const [device] = await createDevices(1);
  if (!device) throw new Error('a device was created');
  const NAMES = 600;
  const names = Array.from({ length: NAMES }, (_, number) => `${number}`.padEnd(900, 'x'));
  await append(names.map((event_name) => eventOf(applicationId, device, 'custom', { event_name })));
  const payloads = await inside(async (counter, { storage }) => {
    // Counts everything, and sends nothing.
    await counter.eraseEvents([]);
    const rows = storage.sql.exec<{ payload: string }>('SELECT payload FROM outbox').toArray();
    return rows.map(({ payload }) => payload);
  });
  expect(payloads.length).toBeGreaterThan(4);
  expect(payloads.length).toBeLessThan(30);
  for (const payload of payloads) {
    expect(payload.length).toBeLessThan(130_000);
  }
  expect((await stub().settle()).settled).toBe(true);
  expect(await rollupOf(applicationId)).toMatchObject({ events: NAMES });
});
