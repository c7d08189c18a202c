import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { consumeDeadLetters } from '#counting';
import { database } from '#db';
import { newId } from '#lib/ids';
import { isSampled } from '#lib/log-sample';
import { PARK_REASON, replayParked } from '#rollup';
import { deliver } from '../helpers/counted-history.ts';
import { eventOf, rollupOf, startCounter } from '../helpers/counter.ts';
import { creativeSumsOf } from '../helpers/cube.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { changeStored, pageOfDevice } from '../helpers/device-pages.ts';
import { parkedOf } from '../helpers/parked.ts';
import { createTenant } from '../helpers/tenant.ts';
import { WatchedCounters } from '../helpers/watched-counters.ts';

// What cannot be counted, or not now: it neither stops nor loses anything else.

afterEach(() => vi.restoreAllMocks());

async function start() {
  const counter = startCounter();
  const created = await counter.createDevice();
  if (created.outcome === 'moved') throw new Error('a new counter has one shard');
  const { device } = created;
  const ad = (value_nanos = 1_000_000) =>
    eventOf(counter.applicationId, device, 'custom.ad', { value_nanos, day: '2026-03-02' });
  return { ...counter, device, ad };
}

const message = (events: unknown[], id = crypto.randomUUID()) => ({ id, body: { v: 1, events } });

describe('a message that cannot be counted', () => {
  it.each<[string, (applicationId: string) => unknown, RegExp]>([
    ['nothing', () => null, /not a message of this version/],
    [
      'another version',
      (application_id) => ({ v: 3, events: [{ application_id }] }),
      /A store has a newer format: a queue message /,
    ],
    ['no events', (application_id) => ({ v: 1, application_id }), /events/],
    ['text', () => 'hello', /not a message of this version/],
  ])('that is %s is parked whole, once, while the valid ones around it count', async (_, make, reason) => {
    const { applicationId, ad, stub } = await start();
    const poison = { id: crypto.randomUUID(), body: make(applicationId) };
    const good = [message([ad()]), message([ad()])];
    const result = await deliver([...good.slice(0, 1), poison, ...good.slice(1)]);
    expect(new Set(result.explicitAcks)).toEqual(new Set([poison, ...good].map(({ id }) => id)));
    await deliver([poison]);
    const knowsApplication = typeof poison.body === 'object' && poison.body !== null;
    const rows = await parkedOf(knowsApplication ? applicationId : '');
    const own = rows.filter(({ body }) => body === JSON.stringify(poison.body));
    expect(own.map((row) => row.reason)).toEqual([expect.stringMatching(reason)]);
    await stub().settle();
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 2 });
  });
});

describe('events that make a run fail', () => {
  it.each<[string, 'facts' | 'history', number]>([
    ['active days', 'facts', 2],
    ['active ages', 'facts', 3],
    ['ad totals', 'facts', 5],
    ['steps', 'history', 0],
    ['revenue', 'history', 1],
  ])(
    'for a device whose %s are unreadable are parked, each once, and the others count',
    async (_name, part, place) => {
      const { applicationId, device, append, stub, inside } = await start();
      await stub().settle();
      const broken = await startBroken(applicationId);
      const events = Array.from({ length: 300 }, (_, index) =>
        index % 3 === 0
          ? eventOf(applicationId, device, 'custom.ad')
          : eventOf(applicationId, broken, 'custom.ad'),
      );
      await append(events);
      let stored: unknown = null;
      const store = (value: unknown) =>
        inside((_, { storage }) =>
          changeStored(storage, broken, (row) => {
            const values: unknown[] = row[part];
            stored = values[place] ?? null;
            values[place] = value;
          }),
        );
      await store('un|readable');
      const before = stored;
      await expect.poll(async () => (await stub().settle()).settled, { timeout: 20_000 }).toBe(true);
      expect(await rollupOf(applicationId)).toMatchObject({ impressions: 100 });
      const rows = await parkedOf(applicationId);
      const lost = events.filter((_, index) => index % 3 !== 0).map(({ id }) => id.replace('evt_', 'prk_'));
      expect(rows.map(({ id }) => id).sort()).toEqual(lost.sort());
      // Put right, what was parked is counted when it is sent again, once however often.
      await store(before);
      const replayed = rows.map(({ body }, index) => ({ id: `replay-${index}`, body: JSON.parse(body) }));
      await deliver(replayed.slice(0, 100));
      await deliver(replayed);
      await expect.poll(async () => (await stub().settle()).settled, { timeout: 20_000 }).toBe(true);
      expect(await rollupOf(applicationId)).toMatchObject({ impressions: 300 });
    },
  );

  it('for devices whose page is unreadable are parked, and count once it is put right', async () => {
    const { applicationId, device, append, stub, inside, createDevice } = await start();
    await stub().settle();
    const other = await createDevice({ acquiredDay: '2026-02-01' });
    if (other.outcome === 'moved') throw new Error('a new counter has one shard');
    const setPage = (facts: Uint8Array) =>
      inside((_, { storage }) => {
        const page = pageOfDevice(storage, device);
        const [before] = storage.sql.exec<{ facts: ArrayBuffer }>(
          'SELECT facts FROM device_pages WHERE id = ?',
          page,
        );
        storage.sql.exec('UPDATE device_pages SET facts = ? WHERE id = ?', facts, page);
        return new Uint8Array(before?.facts ?? new ArrayBuffer());
      });
    const before = await setPage(Uint8Array.of(1, 2, 3));
    await append([device, other.device].map((own) => eventOf(applicationId, own, 'custom.ad')));
    await expect.poll(async () => (await stub().settle()).settled, { timeout: 20_000 }).toBe(true);
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 1, installs: 2 });
    const rows = await parkedOf(applicationId);
    expect(rows).toHaveLength(1);
    await setPage(before);
    await deliver(rows.map(({ body }, index) => ({ id: `again-${index}`, body: JSON.parse(body) })));
    await stub().settle();
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 2 });
    expect(await stub().readDevice(device.id)).toMatchObject({ activeDays: '0-1' });
  });

  /** A device whose state is made unreadable later. */
  async function startBroken(applicationId: string) {
    const created = await startCounter(applicationId).createDevice();
    if (created.outcome === 'moved') throw new Error('a new counter has one shard');
    await startCounter(applicationId).stub().settle();
    return created.device;
  }
});

describe('a database that does not accept the counted sums', () => {
  it.each([
    'D1_ERROR: no such column: placement: SQLITE_ERROR',
    'D1_ERROR: D1 DB exceeded its memory limit and was reset.',
    'D1_ERROR: D1 DB exceeded its CPU time limit and was reset.',
  ])('parks nothing, loses nothing and counts nothing twice (%s)', async (text) => {
    const { applicationId, append, ad, stub, inside } = await start();
    const db = new WatchedD1(env.DB);
    db.failOn(/INSERT INTO rollup_ads/, text, { times: 100 });
    await inside((counter) => {
      counter.db = db.asBinding();
    });
    await append([ad(), ad()]);
    expect((await stub().settle()).settled).toBe(false);
    await append([ad()]);
    expect((await stub().settle()).settled).toBe(false);
    expect(await stub().health()).toMatchObject({ pending: 0, outbox: 2, flushError: expect.any(String) });
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 0, installs: 0 });
    await inside((counter) => {
      counter.db = env.DB;
    });
    await expect.poll(async () => (await stub().settle()).settled, { timeout: 20_000 }).toBe(true);
    expect(await parkedOf(applicationId)).toEqual([]);
    expect(await rollupOf(applicationId)).toMatchObject({
      impressions: 3,
      ad_revenue: 3_000_000,
      installs: 1,
    });
  });
});

/** The team of an application that only has a counter so far. */
async function callerOf(applicationId: string) {
  const { team, application } = await createTenant();
  await env.DB.prepare('UPDATE applications SET id = ? WHERE id = ?')
    .bind(applicationId, application.id)
    .run();
  return { db: database(env.DB), team, actor: 'tests', now: Date.now() };
}

describe('a database that accepts nothing, whatever its error', () => {
  /** Nine devices with an ad each, in a counter whose database fails. */
  async function failing(matches: (sql: string) => boolean, text: string) {
    const counter = startCounter();
    const db = new WatchedD1(env.DB);
    db.failWhen(matches, text);
    await counter.inside((own) => {
      own.db = db.asBinding();
    });
    const devices = await counter.createDevices(9);
    const events = devices.map((device) => eventOf(counter.applicationId, device, 'custom.ad'));
    for (const third of [events.slice(0, 3), events.slice(3, 6), events.slice(6)]) {
      await counter.append(third);
      expect((await counter.stub().settle()).settled).toBe(false);
    }
    expect(await counter.stub().health()).toMatchObject({ pending: 0, flushError: expect.any(String) });
    return { ...counter, db };
  }

  it.each([
    'D1_ERROR: Exceeded maximum DB size.',
    'Too many API requests by single Worker invocation.',
    'D1_ERROR: database or disk is full: SQLITE_FULL',
    'D1_ERROR: disk I/O error: SQLITE_IOERR',
    'D1_ERROR: an error that nobody has seen before',
  ])('keeps everything waiting (%s)', async (text) => {
    for (const matches of [() => true, (sql: string) => /INSERT INTO "?(rollup|cohort|segment)_/.test(sql)]) {
      const { applicationId, stub, inside } = await failing(matches, text);
      await inside((own) => {
        own.db = env.DB;
      });
      await expect.poll(async () => (await stub().settle()).settled, { timeout: 20_000 }).toBe(true);
      expect(await parkedOf(applicationId)).toEqual([]);
      expect(await rollupOf(applicationId)).toMatchObject({ installs: 9, impressions: 9 });
    }
  });

  it('parks nothing while the database fails every other time', async () => {
    const { applicationId, stub, inside, db } = await failing(() => true, 'D1_ERROR: unknown');
    // Fails every other time, whatever the row.
    let calls = 0;
    db.failWhen((sql) => sql.includes('INSERT INTO rollup_') && calls++ % 2 === 0, 'D1_ERROR: unknown');
    await stub().settle();
    await inside((own) => {
      own.db = env.DB;
    });
    await expect.poll(async () => (await stub().settle()).settled, { timeout: 20_000 }).toBe(true);
    expect(await parkedOf(applicationId)).toEqual([]);
    expect(await rollupOf(applicationId)).toMatchObject({ installs: 9, impressions: 9 });
  });
});

describe('a row that the database refuses', () => {
  const REFUSED_DAYS = ['2026-03-03', '2026-03-13', '2026-03-08', '2026-03-18'];

  /** A paid device for each of nine days, with an ad ten days later. */
  async function withRefused() {
    const counter = startCounter();
    const creatives: string[] = [];
    const events = [];
    for (let number = 1; number <= 9; number++) {
      const creativeId = newId('crt');
      const acquiredDay = `2026-03-0${number}`;
      const acquiredAt = Date.parse(`${acquiredDay}T10:00:00Z`);
      const created = await counter.createDevice({ creativeId, acquiredDay, acquiredAt });
      if (created.outcome === 'moved') throw new Error('a new counter has one shard');
      const ad = { day: `2026-03-1${number}`, value_nanos: 1_000_000 };
      events.push(eventOf(counter.applicationId, created.device, 'custom.ad', ad));
      creatives.push(creativeId);
    }
    const db = new WatchedD1(env.DB);
    db.failWhen(
      (sql, [rows]) =>
        sql.includes('INSERT INTO rollup_daily') &&
        REFUSED_DAYS.some((day) => String(rows).includes(`"${day}"`)),
      'D1_ERROR: CHECK constraint failed: rollup_daily: SQLITE_CONSTRAINT',
    );
    await counter.inside((own) => {
      own.db = db.asBinding();
    });
    await counter.append(events);
    const one = { installs: 1, impressions: 1, ad_revenue: 1_000_000 };
    return { ...counter, db, byCreative: Object.fromEntries(creatives.map((id) => [id, one])) };
  }

  it('is parked with its sums, and does not delay others', async () => {
    const { applicationId, append, stub, inside, byCreative } = await withRefused();
    const log = vi.spyOn(console, 'error').mockReturnValue();
    await expect.poll(async () => (await stub().settle()).settled).toBe(true);
    expect(await rollupOf(applicationId)).toMatchObject({
      installs: 7,
      impressions: 7,
      ad_revenue: 7_000_000,
    });
    // Their blocks were not refused.
    expect(await creativeSumsOf(applicationId, 'rollup_daily')).toMatchObject(byCreative);
    const rows = await parkedOf(applicationId);
    expect(new Set(rows.map(({ reason }) => reason))).toEqual(
      new Set(['counted, but the database refused to add these sums to the reports']),
    );
    expect(log).toHaveBeenCalledTimes(rows.length);
    expect(await stub().health()).toMatchObject({ pending: 0, outbox: 0, flushError: null });
    await append([]);
    expect((await stub().settle()).settled).toBe(true);
    expect(await parkedOf(applicationId)).toEqual(rows);
    await inside((own) => {
      own.db = env.DB;
    });
  });

  it('is added once when it is replayed, and stays parked while the database refuses it', async () => {
    const { applicationId, stub, db, byCreative } = await withRefused();
    vi.spyOn(console, 'error').mockReturnValue();
    await expect.poll(async () => (await stub().settle()).settled).toBe(true);
    const caller = await callerOf(applicationId);
    const rows = await parkedOf(applicationId);
    for (const { id } of rows) {
      await expect(replayParked({ ...env, DB: db.asBinding() }, caller, id)).rejects.toMatchObject({
        code: 'conflict',
      });
      await Promise.allSettled([replayParked(env, caller, id), replayParked(env, caller, id)]);
    }
    expect(await parkedOf(applicationId)).toEqual([]);
    expect(await rollupOf(applicationId)).toMatchObject({
      installs: 9,
      impressions: 9,
      ad_revenue: 9_000_000,
    });
    expect(await creativeSumsOf(applicationId, 'rollup_daily')).toMatchObject(byCreative);
  });

  it('is not searched for while the database fails for another reason', async () => {
    const { applicationId, stub, db } = await withRefused();
    db.failWhen((sql) => sql.includes('INSERT INTO rollup_daily'), 'D1_ERROR: overloaded');
    expect((await stub().settle()).settled).toBe(false);
    expect(await parkedOf(applicationId)).toEqual([]);
  });
});

describe('what a newer release left in the outbox', () => {
  const SUMS = {
    columns: ['application_id', 'day', 'event_name', 'attribution', 'custom_events'],
    rows: [['', '2026-03-02', 'later', 'organic', 5]],
  };

  /** An ad that was counted, in an outbox that a newer release wrote. */
  async function withNewer() {
    const { applicationId, append, ad, stub, inside } = await start();
    vi.spyOn(console, 'error').mockReturnValue();
    const failing = new WatchedD1(env.DB);
    failing.failWhen(() => true, 'D1_ERROR: overloaded');
    await append([ad()]);
    await inside(async (own) => {
      own.db = failing.asBinding();
      await own.settle();
    });
    const sums = { ...SUMS, rows: SUMS.rows.map(([_, ...row]) => [applicationId, ...row]) };
    await inside((own, { storage }) => {
      own.db = env.DB;
      const newer = JSON.stringify([
        { kind: 'sums', table: 'rollup_later', ...sums },
        { kind: 'later', rows: [{ count: 1 }] },
      ]);
      storage.sql.exec(
        `UPDATE outbox SET payload = substr(payload, 1, length(payload) - 1) || ',' || substr(?, 2)`,
        newer,
      );
    });
    await expect.poll(async () => (await stub().settle()).settled, { timeout: 20_000 }).toBe(true);
    return { applicationId, stub, sums, rows: await parkedOf(applicationId) };
  }

  it('is parked, and does not delay others', async () => {
    const { applicationId, stub, sums, rows } = await withNewer();
    expect(await rollupOf(applicationId)).toMatchObject({ installs: 1, impressions: 1 });
    expect(await stub().health()).toMatchObject({ pending: 0, outbox: 0, flushError: null });
    const bodies: unknown[] = rows.map(({ body }) => JSON.parse(body));
    expect(bodies).toHaveLength(2);
    expect(bodies).toEqual(
      expect.arrayContaining([
        { sums: { kind: 'sums', table: 'rollup_later', ...sums } },
        { sums: { kind: 'later', rows: [{ count: 1 }] } },
      ]),
    );
    expect(new Set(rows.map(({ reason }) => reason))).toEqual(new Set([PARK_REASON.newer]));
  });

  it('stays parked until that release is back, which adds it once', async () => {
    const { applicationId, rows } = await withNewer();
    const caller = await callerOf(applicationId);
    for (const { id } of rows)
      await expect(replayParked(env, caller, id)).rejects.toMatchObject({ code: 'conflict' });
    expect(await parkedOf(applicationId)).toEqual(rows);
    // To the newer release, the table is one that it knows.
    await env.DB.exec("UPDATE parked_messages SET body = replace(body, 'rollup_later', 'rollup_custom')");
    for (const { id } of rows) await Promise.allSettled([1, 2].map(() => replayParked(env, caller, id)));
    const { results } = await env.DB.prepare(
      'SELECT event_name, custom_events FROM rollup_custom WHERE application_id = ?',
    )
      .bind(applicationId)
      .all();
    expect(results).toEqual([{ event_name: 'later', custom_events: 5 }]);
    expect(await parkedOf(applicationId)).toHaveLength(1);
  });
});

describe('a part of the cube that the database refuses', () => {
  async function withRefusedPart() {
    const counter = startCounter();
    const creativeId = newId('crt');
    const created = await counter.createDevice({ creativeId });
    if (created.outcome === 'moved') throw new Error('a new counter has one shard');
    const db = new WatchedD1(env.DB);
    const isRefused = `{"rollup":"rollup_daily","grain":"creative",`;
    db.failWhen(
      (sql, bindings) =>
        sql.includes('"cube_parts"') && bindings.some((rows) => String(rows).includes(isRefused)),
      'D1_ERROR: CHECK constraint failed: cube_parts: SQLITE_CONSTRAINT',
    );
    await counter.inside((own) => {
      own.db = db.asBinding();
    });
    await counter.append([eventOf(counter.applicationId, created.device, 'custom.ad')]);
    vi.spyOn(console, 'error').mockReturnValue();
    await expect.poll(async () => (await counter.stub().settle()).settled).toBe(true);
    return { ...counter, creativeId, db };
  }

  it('is parked alone: the totals and the other parts have its sums', async () => {
    const { applicationId, creativeId } = await withRefusedPart();
    expect(await rollupOf(applicationId)).toMatchObject({ installs: 1, impressions: 1 });
    expect(await creativeSumsOf(applicationId, 'rollup_daily')).toEqual({});
    expect(await creativeSumsOf(applicationId, 'rollup_ads')).toMatchObject({
      [creativeId]: { impressions: 1 },
    });
    expect(await parkedOf(applicationId)).toMatchObject([{ body: expect.stringContaining('"parts"') }]);
  });

  it('is added once when it is replayed, and stays parked while the database refuses it', async () => {
    const { applicationId, creativeId, db } = await withRefusedPart();
    const caller = await callerOf(applicationId);
    const [{ id } = { id: '' }] = await parkedOf(applicationId);
    await expect(replayParked({ ...env, DB: db.asBinding() }, caller, id)).rejects.toMatchObject({
      code: 'conflict',
    });
    db.failWhen((sql) => sql.includes('"cube_parts"'), 'D1_ERROR: D1 DB is overloaded.');
    await expect(replayParked({ ...env, DB: db.asBinding() }, caller, id)).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(await parkedOf(applicationId)).toHaveLength(1);
    await Promise.allSettled([replayParked(env, caller, id), replayParked(env, caller, id)]);
    expect(await parkedOf(applicationId)).toEqual([]);
    const sums = await creativeSumsOf(applicationId, 'rollup_daily');
    expect(sums).toMatchObject({ [creativeId]: { installs: 1, impressions: 1, ad_revenue: 2_000_000 } });
    expect(await rollupOf(applicationId)).toMatchObject({ installs: 1, impressions: 1 });
  });
});

describe('a compaction that the database refuses', () => {
  const RUNS = 18;
  const isCompaction = (sql: string) => sql.includes('UPDATE "cube_parts"');

  async function withCompaction(isRefused: (sql: string) => boolean, message: string) {
    const counter = await start();
    for (let run = 0; run < RUNS; run++) {
      await counter.append([counter.ad()]);
      await counter.stub().settle();
    }
    const db = new WatchedD1(env.DB);
    db.failWhen(isRefused, message);
    await counter.inside(async (own) => {
      own.db = db.asBinding();
      await own.alarm();
    });
    expect(db.log.some(isCompaction)).toBe(true);
    return counter;
  }

  it('is left out: the parts stay as they are, and counting goes on', async () => {
    const message = 'D1_ERROR: string or blob too big: SQLITE_TOOBIG';
    const { applicationId, append, ad, stub } = await withCompaction(isCompaction, message);
    expect(await stub().health()).toMatchObject({ outbox: 0, flushError: null });
    await append([ad()]);
    expect((await stub().settle()).settled).toBe(true);
    const sums = await creativeSumsOf(applicationId, 'rollup_daily');
    expect(sums).toMatchObject({ '': { impressions: RUNS + 1 } });
    expect(await parkedOf(applicationId)).toEqual([]);
  });

  it('waits while the database refuses everything', async () => {
    const isWrite = (sql: string) => sql.includes('INSERT');
    const message = 'D1_ERROR: database or disk is full: SQLITE_FULL';
    const { applicationId, stub, inside } = await withCompaction(isWrite, message);
    expect(await stub().health()).toMatchObject({ flushError: expect.any(String) });
    await inside((own) => {
      own.db = env.DB;
    });
    expect((await stub().settle()).settled).toBe(true);
    expect(await stub().health()).toMatchObject({ outbox: 0, flushError: null });
    const sums = await creativeSumsOf(applicationId, 'rollup_daily');
    expect(sums).toMatchObject({ '': { impressions: RUNS } });
  });
});

it('retries only the dead letters that cannot be parked', async () => {
  const { applicationId, ad } = await start();
  const [first, second] = [message([ad()]), message([ad()])];
  const db = new WatchedD1(env.DB);
  const firstEvent = JSON.stringify(first.body.events).slice(8, 44);
  db.failWhen(
    (sql, bindings) =>
      sql.includes('INSERT INTO "parked_messages"') &&
      bindings.some((rows) => String(rows).includes(firstEvent)),
    'D1_ERROR: overloaded',
  );
  const acks: string[] = [];
  const retries: string[] = [];
  const messages = [first, second].map(({ id, body }) => ({
    id,
    body,
    timestamp: new Date(),
    attempts: 1,
    ack: () => acks.push(id),
    retry: () => retries.push(id),
  }));
  const batch = { queue: 'attribution-events-dead', messages } as unknown as MessageBatch;
  await consumeDeadLetters(batch, { ...env, DB: db.asBinding() });
  expect([acks, retries]).toEqual([[second.id], [first.id]]);
  expect(await parkedOf(applicationId)).toHaveLength(1);
});

describe('the log lines of a consumer', () => {
  /** An id of each kind: one whose lines are kept, and one whose are not. */
  const eventId = (kept: boolean) => {
    for (;;) {
      const id = newId('evt');
      if (isSampled(id) === kept) return id;
    }
  };

  function watchLog() {
    const lines: Record<string, unknown>[] = [];
    for (const level of ['log', 'warn', 'error'] as const) {
      vi.spyOn(console, level).mockImplementation((line) => lines.push(JSON.parse(String(line))));
    }
    return lines;
  }

  it('report every failed message, and 1 in 100 of the successful ones, by their event', async () => {
    const { ad } = await start();
    const [kept, skipped] = [eventId(true), eventId(false)];
    const lines = watchLog();
    await deliver([message([{ ...ad(), id: skipped }], 'message-1')]);
    expect(lines).toEqual([]);
    await deliver([message([{ ...ad(), id: kept }], 'message-2')]);
    expect(lines.splice(0)).toEqual([
      {
        level: 'info',
        message: 'message taken',
        message_id: 'message-2',
        event_id: kept,
        events: 1,
        clicks: 0,
        sampled: 100,
      },
    ]);
    const counters = new WatchedCounters(() =>
      Promise.reject(Object.assign(new Error('Network connection lost.'), { retryable: true })),
    );
    await deliver([message([{ ...ad(), id: skipped }], 'message-3')], {
      ...env,
      COUNTERS: counters.asBinding(),
    });
    expect(lines.splice(0)).toEqual([
      {
        level: 'warn',
        message: 'message put off',
        message_id: 'message-3',
        event_id: skipped,
        attempt: 1,
        error: 'Error: Network connection lost.',
      },
      { level: 'warn', message: 'batch taken', messages: 1, failed: 1, events: 1, clicks: 0, parked: 0 },
    ]);
    await deliver([{ id: 'message-4', body: { v: 3, application_id: newId('app') } }]);
    expect(lines.splice(0)).toMatchObject([{ level: 'warn', message: 'batch taken', failed: 0, parked: 1 }]);
  });
});
