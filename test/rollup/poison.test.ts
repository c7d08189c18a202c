import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { consumeEvents, foldLog, type LoggedEvent } from '#rollup';
import { WatchedD1 } from '../helpers/d1.ts';
import { envelope } from '../helpers/envelopes.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker, type TestWorker } from '../helpers/worker.ts';

type Message = { id: string; body: { v: number; events: LoggedEvent[] } };

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
    expect(rows[0]?.reason).toContain('could not be logged: ');
    expect(await totals(worker, tenant)).toEqual({ impressions: 6, ad_revenue: 1 + 2 + 3 + 4 + 6 + 7 });
  });

  it('because its sum leaves 64 bits is parked by the fold, and can be sent again', async () => {
    const worker = startWorker();
    const tenant = await createTenant();
    const messages = await adViews(worker, tenant, [1, 2, 3, 4, 5]);
    // A row that is already next to the largest integer: only the fourth event does not fit any more.
    const [event] = messages[3]?.body.events ?? [];
    if (event?.type !== 'custom.ad') throw new Error('an ad view was sent');
    event.currency = 'vnd';
    await env.DB.prepare(
      `INSERT INTO rollup_daily (application_id, day, creative_id, currency, ad_revenue) VALUES (?, '2026-03-02', '', 'vnd', 9223372036854775000)`,
    )
      .bind(tenant.application.id)
      .run();
    await worker.deliver(messages);
    await foldLog(env.DB, Date.now());
    const [row, ...more] = await parked();
    expect(more).toEqual([]);
    expect(row?.reason).toMatch(/^could not be counted: .*rollup_daily/);
    const report = await totals(worker, tenant);
    expect(report.impressions).toBe(4);
    expect(report.ad_revenue).toBe(1 + 2 + 3 + 5);
    await env.DB.prepare(`DELETE FROM rollup_daily WHERE application_id = ? AND currency = 'vnd'`)
      .bind(tenant.application.id)
      .run();
    const replay = { id: 'replay', body: JSON.parse(row?.body ?? '') };
    await worker.deliver([replay]);
    await worker.deliver([replay]);
    expect((await totals(worker, tenant)).impressions).toBe(5);
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

describe('the dead-letter queue', () => {
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
