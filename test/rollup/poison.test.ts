import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { newId } from '#lib/ids';
import { consumeEvents, foldLog, type LoggedEvent } from '#rollup';
import { WatchedD1 } from '../helpers/d1.ts';
import { envelope } from '../helpers/envelopes.ts';
import { holdFold } from '../helpers/fold.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker, type TestWorker } from '../helpers/worker.ts';

type Message = { id: string; body: { v: number; events: LoggedEvent[] } };

beforeEach(holdFold);

async function parked(): Promise<{ id: string; application_id: string; body: string; reason: string }[]> {
  const { results } = await env.DB.prepare('SELECT * FROM parked_messages ORDER BY id').all<{
    id: string;
    application_id: string;
    body: string;
    reason: string;
  }>();
  await env.DB.prepare('DELETE FROM parked_messages').run();
  return results;
}

/** Messages of one ad view each. */
async function adViews(worker: TestWorker, tenant: Tenant, values: number[]): Promise<Message[]> {
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-01T10:00:00.000Z' });
  for (const value of values) {
    expect((await worker.post(tenant, '/webhook', envelope.ad(token, {}, { value }))).status).toBe(200);
  }
  return worker.queue.take() as Message[];
}

/** Makes placements that begin with `poison` a fault of the statement that counts them. */
const refusePlacements = () =>
  env.DB.prepare(
    `CREATE TRIGGER refuse BEFORE INSERT ON rollup_ads WHEN new.placement LIKE 'poison%'
     BEGIN SELECT RAISE(ABORT, 'refused by test'); END`,
  ).run();
const acceptPlacements = () => env.DB.prepare('DROP TRIGGER refuse').run();

async function totals(worker: TestWorker, tenant: Tenant) {
  const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-31`;
  const report: { totals: { impressions: number; ad_revenue: number } } = await (
    await worker.team(tenant, path)
  ).json();
  return { impressions: report.totals.impressions, ad_revenue: report.totals.ad_revenue };
}

describe('a message that cannot be counted', () => {
  it.each<[string, unknown, RegExp]>([
    ['nothing', null, /not a message of this version/],
    ['another version', { v: 2, events: [{}] }, /not a message of this version: v /],
    ['no events', { v: 1 }, /events/],
    ['text', 'hello', /not a message of this version/],
  ])('that is %s is parked whole, and the good ones around it count', async (_, body, reason) => {
    const worker = startWorker();
    const tenant = await createTenant();
    const [first, second] = await adViews(worker, tenant, [1, 2]);
    if (!first || !second) throw new Error('two messages were sent');
    const poison = { id: crypto.randomUUID(), body };
    const result = await worker.deliver([first, poison, second]);
    expect(new Set(result.explicitAcks)).toEqual(new Set([first.id, poison.id, second.id]));
    await worker.deliver([poison]);
    const [row, ...more] = await parked();
    expect(more).toEqual([]);
    expect(row?.reason).toMatch(reason);
    expect(JSON.parse(row?.body ?? '')).toEqual(body);
    expect(await totals(worker, tenant)).toEqual({ impressions: 2, ad_revenue: 3 });
  });

  it('for one of its events is parked in that part alone, under its application', async () => {
    const worker = startWorker();
    const tenant = await createTenant();
    const [first, second] = await adViews(worker, tenant, [1, 2]);
    const [good] = first?.body.events ?? [];
    const [bad] = second?.body.events ?? [];
    const message = { id: 'm-1', body: { v: 1, events: [{ ...bad, value_micros: -5 }, good] } };
    await worker.deliver([message]);
    await worker.deliver([message]);
    const rows = await parked();
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ application_id: tenant.application.id });
    expect(rows[0]?.reason).toMatch(/^not an event of this version: value_micros /);
    expect(await totals(worker, tenant)).toEqual({ impressions: 1, ad_revenue: 1 });
    // Put right, it can be delivered again.
    await worker.deliver([{ id: 'm-2', body: { v: 1, events: [bad] } }]);
    expect(await totals(worker, tenant)).toEqual({ impressions: 2, ad_revenue: 3 });
  });

  it('because the log refuses it is found among the good ones', async () => {
    const tenant = await createTenant();
    const messages = await adViews(startWorker(), tenant, []);
    const watched = new WatchedD1(env.DB);
    const worker = startWorker({ DB: watched.asBinding() });
    messages.push(...(await adViews(worker, tenant, [1, 2, 3, 4, 5, 6, 7])));
    const poison = messages[4];
    if (!poison) throw new Error('seven messages were sent');
    watched.failWhen(
      (sql, bindings) =>
        sql.includes('INSERT INTO event_chunks') &&
        `${bindings[0]}`.includes(poison.body.events[0]?.id ?? '?'),
      'D1_ERROR: string or blob too big: SQLITE_TOOBIG',
    );
    const result = await worker.deliver(messages);
    expect(result.retryMessages).toEqual([]);
    expect(result.explicitAcks).toHaveLength(7);
    const rows = await parked();
    expect(rows.map(({ body }) => JSON.parse(body))).toEqual([poison.body]);
    expect(rows[0]?.reason).toBe('could not be written to the log');
    expect(await totals(worker, tenant)).toEqual({ impressions: 6, ad_revenue: 1 + 2 + 3 + 4 + 6 + 7 });
  });

  it('for a statement of the fold is parked, and can be sent again', async () => {
    const worker = startWorker();
    const tenant = await createTenant();
    const messages = await adViews(worker, tenant, [1, 2, 3, 4, 5]);
    const [event] = messages[3]?.body.events ?? [];
    if (event?.type !== 'custom.ad') throw new Error('an ad view was sent');
    event.ad_id = 'poison';
    await refusePlacements();
    await worker.deliver(messages);
    const lines: string[] = [];
    const error = vi.spyOn(console, 'error').mockImplementation((line) => lines.push(line));
    await foldLog(env.DB, Date.now());
    error.mockRestore();
    const [row, ...more] = await parked();
    expect(more).toEqual([]);
    // What the database said is for the log alone.
    expect(row?.reason).toBe('could not be counted');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        level: 'error',
        message: 'event parked',
        event_id: event.id,
        error: expect.stringMatching(/refused by test/),
      },
    ]);
    expect(await totals(worker, tenant)).toEqual({ impressions: 4, ad_revenue: 1 + 2 + 3 + 5 });
    await acceptPlacements();
    const replay = { id: 'replay', body: JSON.parse(row?.body ?? '') };
    await worker.deliver([replay]);
    await worker.deliver([replay]);
    expect(await totals(worker, tenant)).toEqual({ impressions: 5, ad_revenue: 15 });
  });

  it('is found with its like in one search, and parked in one transaction with what counts', async () => {
    const tenant = await createTenant();
    const watched = new WatchedD1(env.DB);
    const worker = startWorker({ DB: watched.asBinding() });
    const [message] = await adViews(worker, tenant, [1]);
    const template = message?.body.events[0];
    if (template?.type !== 'custom.ad') throw new Error('an ad view was sent');
    const [count, bad] = [1_000, new Set([0, 333, 334, 500, 999])];
    const events = Array.from({ length: count }, (_, index) => ({
      ...template,
      id: newId('evt'),
      ad_id: bad.has(index) ? `poison ${index}` : `good ${index}`,
    }));
    await worker.deliver([{ id: 'm', body: { v: 1, events } }]);
    await refusePlacements();
    watched.log.length = 0;
    await foldLog(watched.asBinding(), Date.now());
    await acceptPlacements();
    const times = (text: string) => watched.log.filter((sql) => sql.includes(text)).length;
    // The run is tried once and committed once; what is known is read once; each search halves what it looks at.
    expect(times('UPDATE fold_cursor SET chunk_id')).toBe(2);
    expect(times('CROSS JOIN devices')).toBe(1);
    const trials = times('UPDATE fold_cursor SET folded_at = NULL');
    expect(trials).toBeGreaterThan(0);
    expect(trials).toBeLessThanOrEqual(2 * bad.size * Math.ceil(Math.log2(count)));
    const rows = await parked();
    const placements = rows.map((row) => JSON.parse(row.body).events[0].ad_id);
    expect(placements.toSorted()).toEqual([...bad].map((index) => `poison ${index}`).toSorted());
    expect((await totals(worker, tenant)).impressions).toBe(count - bad.size);
  });

  it('with too many of its like for one search is found in smaller runs', async () => {
    const tenant = await createTenant();
    const worker = startWorker();
    const [message] = await adViews(worker, tenant, [1]);
    const template = message?.body.events[0];
    if (template?.type !== 'custom.ad') throw new Error('an ad view was sent');
    const events = Array.from({ length: 150 }, (_, index) => ({
      ...template,
      id: newId('evt'),
      ad_id: `${index % 3 === 0 ? 'good' : 'poison'} ${index}`,
    }));
    await worker.deliver([{ id: 'm', body: { v: 1, events } }]);
    await refusePlacements();
    await foldLog(env.DB, Date.now());
    await acceptPlacements();
    expect(await parked()).toHaveLength(100);
    expect((await totals(worker, tenant)).impressions).toBe(50);
  });

  it('because its device cannot be read is parked with all of that device, and no other', async () => {
    const tenant = await createTenant();
    const worker = startWorker();
    const [good, broken] = [await adViews(worker, tenant, [1, 2]), await adViews(worker, tenant, [4])];
    const [event] = broken.at(-1)?.body.events ?? [];
    if (event?.type !== 'custom.ad') throw new Error('an ad view was sent');
    await env.DB.prepare("UPDATE devices SET active_days = 'x' WHERE id = ?").bind(event.device_id).run();
    await worker.deliver([...good, ...broken]);
    expect(await totals(worker, tenant)).toEqual({ impressions: 2, ad_revenue: 3 });
    const rows = await parked();
    expect(rows.map(({ body }) => JSON.parse(body).events[0].type).toSorted()).toEqual([
      'custom.ad',
      'install',
    ]);
  });

  it('comes back when it cannot even be parked', async () => {
    const watched = new WatchedD1(env.DB);
    const worker = startWorker({ DB: watched.asBinding() });
    watched.failOn(/INSERT INTO parked_messages/, 'D1_ERROR: overloaded', { times: 3 });
    const result = await worker.deliver([{ id: 'p', body: 'broken' }]);
    expect(result.retryMessages.map(({ msgId }) => msgId)).toEqual(['p']);
    expect(result.explicitAcks).toEqual([]);
  });
});

describe('a database that fails', () => {
  it('brings every message back and loses none', async () => {
    const tenant = await createTenant();
    const watched = new WatchedD1(env.DB);
    const worker = startWorker({ DB: watched.asBinding() });
    const messages = await adViews(worker, tenant, [1, 2]);
    watched.failOn(/INSERT INTO event_chunks/, 'D1_ERROR: Network connection lost.', { times: 3 });
    const result = await worker.deliver(messages);
    expect(result.explicitAcks).toEqual([]);
    expect(result.retryMessages.map(({ msgId }) => msgId)).toEqual(messages.map(({ id }) => id));
    await worker.deliver(messages);
    expect(await totals(worker, tenant)).toEqual({ impressions: 2, ad_revenue: 3 });
  });

  it.each([
    [1, 2],
    [5, 32],
    [8, 256],
    [9, 300],
    [50, 300],
  ])('is asked again after attempt %i in %i s', async (attempts, delaySeconds) => {
    const watched = new WatchedD1(env.DB);
    watched.failOn(/./, 'D1_ERROR: overloaded', { times: 10 });
    const [ack, retry] = [vi.fn(), vi.fn()];
    const message = { id: 'm', timestamp: new Date(), attempts, body: 'broken', ack, retry };
    const batch = { queue: 'attribution-events', messages: [message] } as unknown as MessageBatch;
    await consumeEvents(batch, { ...env, DB: watched.asBinding() });
    expect(ack).not.toHaveBeenCalled();
    expect(retry.mock.calls).toEqual([[{ delaySeconds }]]);
  });

  it('leaves one line in the log for each message and delivery, which says what became of it', async () => {
    const tenant = await createTenant();
    const watched = new WatchedD1(env.DB);
    const worker = startWorker({ DB: watched.asBinding() });
    const [message] = await adViews(worker, tenant, [1]);
    if (!message) throw new Error('a message was sent');
    const lines: string[] = [];
    const log = vi.spyOn(console, 'log').mockImplementation((line) => lines.push(line));
    watched.failOn(/INSERT INTO event_chunks/, 'D1_ERROR: overloaded', { times: 3 });
    await worker.deliver([message]);
    await worker.deliver([message]);
    await worker.deliver([message], 'attribution-events-dead');
    log.mockRestore();
    const common = { level: 'info', message_id: message.id, attempts: 1 };
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { ...common, outcome: 'retried' },
      { ...common, outcome: 'logged', events: 1, clicks: 0, parked: 0 },
      { ...common, outcome: 'parked' },
    ]);
    expect(await parked()).toHaveLength(1);
  });

  it('parks nothing while the code and the tables disagree', async () => {
    const tenant = await createTenant();
    const watched = new WatchedD1(env.DB);
    const worker = startWorker({ DB: watched.asBinding() });
    await worker.deliver(await adViews(worker, tenant, [1]));
    watched.failOn(/INSERT INTO rollup_ads/, 'D1_ERROR: no such column: placement: SQLITE_ERROR', {
      times: 3,
    });
    await expect(foldLog(watched.asBinding(), Date.now())).rejects.toThrow('no such column');
    expect(await parked()).toEqual([]);
    expect(await totals(worker, tenant)).toEqual({ impressions: 1, ad_revenue: 1 });
  });
});

describe('a database for which a run is too much', () => {
  const TOO_MUCH = [
    'D1_ERROR: D1 DB exceeded its memory limit and was reset.',
    'D1_ERROR: D1 DB exceeded its CPU time limit and was reset.',
  ];
  const lengthOf = (binding: unknown) => JSON.parse(String(binding)).length;
  /** The statements of a fold that grow with its run. */
  const LARGE: Record<string, (sql: string, bindings: readonly unknown[]) => boolean> = {
    'to find': (sql, [limit]) =>
      sql.includes('CROSS JOIN event_chunks AS chunk ON chunk.id >') && Number(limit) > 50,
    'to read': (sql, [events]) => sql.includes('CROSS JOIN idempotency_keys') && lengthOf(events) > 50,
    'to write': (sql, [rows]) => sql.includes('INSERT INTO rollup_ads') && lengthOf(rows) > 50,
  };

  it.each(Object.keys(LARGE).flatMap((what) => TOO_MUCH.map((message) => ({ what, message }))))(
    'gets a smaller one ($what: $message), and nothing is parked',
    async ({ what, message }) => {
      const tenant = await createTenant();
      const watched = new WatchedD1(env.DB);
      const worker = startWorker();
      const sent = await adViews(worker, tenant, [1]);
      const template = sent[0]?.body.events[0];
      if (template?.type !== 'custom.ad') throw new Error('an ad view was sent');
      const events = Array.from({ length: 300 }, (_, index) => ({
        ...template,
        id: newId('evt'),
        ad_id: `placement ${index}`,
        keys: [`e:${index}`],
        key_day: 20_000,
      }));
      await worker.deliver([{ id: 'm', body: { v: 1, events } }]);
      watched.failWhen(LARGE[what] ?? (() => false), message);
      await foldLog(watched.asBinding(), Date.now());
      expect(await parked()).toEqual([]);
      expect(await totals(worker, tenant)).toEqual({ impressions: 300, ad_revenue: 300 });
    },
  );

  it('reads fewer events also after an error that does not say why', async () => {
    const tenant = await createTenant();
    const watched = new WatchedD1(env.DB);
    const worker = startWorker();
    await worker.deliver(await adViews(worker, tenant, [1, 2, 4]));
    const large = LARGE['to find'];
    watched.failWhen(large ?? (() => false), 'D1_ERROR: Network connection lost.');
    await foldLog(watched.asBinding(), Date.now());
    expect(await totals(worker, tenant)).toEqual({ impressions: 3, ad_revenue: 7 });
  });

  it.each(TOO_MUCH)(
    'gives up for now where one event is too much already, and parks nothing (%s)',
    async (message) => {
      const tenant = await createTenant();
      const watched = new WatchedD1(env.DB);
      const worker = startWorker();
      await worker.deliver(await adViews(worker, tenant, [1, 2]));
      watched.failWhen((sql) => sql.includes('INSERT INTO rollup_daily'), message);
      await expect(foldLog(watched.asBinding(), Date.now())).rejects.toThrow(message);
      expect(await parked()).toEqual([]);
      expect(await totals(worker, tenant)).toEqual({ impressions: 2, ad_revenue: 3 });
    },
  );

  it('takes a batch of messages into the log in parts, and brings back a single one', async () => {
    const tenant = await createTenant();
    const watched = new WatchedD1(env.DB);
    const worker = startWorker({ DB: watched.asBinding() });
    const messages = await adViews(worker, tenant, [1, 2, 4]);
    const tooLarge = (length: number) =>
      watched.failWhen(
        (sql, [events]) => sql.includes('INSERT INTO event_chunks') && lengthOf(events) > length,
        TOO_MUCH[0] ?? '',
      );
    tooLarge(0);
    expect((await worker.deliver(messages)).explicitAcks).toEqual([]);
    tooLarge(1);
    expect((await worker.deliver(messages)).retryMessages).toEqual([]);
    expect(await parked()).toEqual([]);
    expect(await totals(worker, tenant)).toEqual({ impressions: 3, ad_revenue: 7 });
  });
});

describe('the dead-letter queue', () => {
  it('comes back where it cannot be parked', async () => {
    const tenant = await createTenant();
    const watched = new WatchedD1(env.DB);
    const worker = startWorker({ DB: watched.asBinding() });
    const messages = await adViews(worker, tenant, [1, 2]);
    const firstEvent = messages[0]?.body.events[0]?.id ?? 'none';
    const isFirst = (rows: unknown) => String(rows).includes(firstEvent);
    watched.failWhen(
      (sql, [rows]) => sql.includes('INSERT INTO parked_messages') && isFirst(rows),
      'D1_ERROR: overloaded',
    );
    const result = await worker.deliver(messages, 'attribution-events-dead');
    expect(result.retryMessages.map(({ msgId }) => msgId)).toEqual([messages[0]?.id]);
    expect(result.explicitAcks).toEqual([messages[1]?.id]);
    await parked();
  });

  it('is parked, once a message', async () => {
    const worker = startWorker();
    const tenant = await createTenant();
    const messages = await adViews(worker, tenant, [1, 2]);
    const result = await worker.deliver(messages, 'attribution-events-dead');
    await worker.deliver(messages.slice(0, 1), 'attribution-events-dead');
    expect(result.explicitAcks).toHaveLength(2);
    const rows = await parked();
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject({
      application_id: tenant.application.id,
      reason: expect.stringContaining('every attempt failed'),
    });
    expect(await totals(worker, tenant)).toEqual({ impressions: 0, ad_revenue: 0 });
  });
});
