import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ClickRecord, clickStatements, pruneClicks, signClickId, undoCredits } from '#attribution';
import worker from '../../src/index.ts';
import { ANDROID_AGENT, follow, IPHONE_AGENT, measure, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { inMinuteOf } from '../helpers/minutes.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { WatchedCounters } from '../helpers/watched-counters.ts';
import { startWorker } from '../helpers/worker.ts';

const HOUR = 3_600_000;
const service = startWorker();

async function clicksReported(tenant: Tenant): Promise<unknown> {
  const day = new Date().toISOString().slice(0, 10);
  const answer = await service.team(
    tenant,
    `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-01-01&to=${day}`,
  );
  return (await answer.json<{ totals: { clicks: number } }>()).totals.clicks;
}

const rows = async (tenant: Tenant) =>
  (
    await env.DB.prepare('SELECT id, ip_hash FROM clicks WHERE application_id = ? ORDER BY id')
      .bind(tenant.application.id)
      .all<{ id: string; ip_hash: string | null }>()
  ).results;

it('counts a redelivered click once, in any order, among unreadable messages', async () => {
  const tenant = await createTenant(STORES);
  const { path } = await createCreative(service, tenant);
  const first = await follow(service, path, ANDROID_AGENT);
  const second = await follow(service, path, IPHONE_AGENT);
  const measured = await measure(service, path, second.publicId);
  const poison = {
    id: 'poison',
    body: { v: 1, events: [], clicks: [{ application_id: tenant.application.id, ip_hash: 'h' }] },
  };
  const empty = { id: 'empty', body: { v: 1, events: [], clicks: [] } };
  const all = [...measured.messages, poison, ...second.messages, empty, ...first.messages];
  const result = await service.deliver(all);
  expect(result.explicitAcks.toSorted()).toEqual(all.map(({ id }) => id).toSorted());
  await service.deliver([...all.toReversed(), ...first.messages]);
  expect(await clicksReported(tenant)).toBe(2);
  expect((await rows(tenant)).map(({ id }) => id)).toEqual([first.clickId, second.clickId].toSorted());
  const parked = await env.DB.prepare('SELECT body, reason FROM parked_messages WHERE application_id = ?')
    .bind(tenant.application.id)
    .all<{ body: string; reason: string }>();
  expect(parked.results).toEqual([
    {
      reason: expect.stringMatching(/^not a click of this version: id .*creative_id/),
      body: JSON.stringify({ v: 1, events: [], clicks: [{ application_id: tenant.application.id }] }),
    },
  ]);
});

it('stores and counts a click once when the database fails', async () => {
  const tenant = await createTenant(STORES);
  const { path } = await createCreative(service, tenant);
  const { messages, clickId } = await follow(service, path, ANDROID_AGENT);
  const db = new WatchedD1(env.DB);
  const failing = startWorker({ DB: db.asBinding() });
  db.failOn(/INTO "clicks"/, 'D1_ERROR: database is locked', { times: 3 });
  const result = await failing.deliver(messages);
  expect(result.explicitAcks).toEqual([]);
  expect(result.retryMessages).toHaveLength(1);
  expect(await rows(tenant)).toEqual([]);
  await failing.deliver(messages);
  expect(await rows(tenant)).toEqual([{ id: clickId, ip_hash: expect.any(String) }]);
  expect(await clicksReported(tenant)).toBe(1);
});

it('stores and counts a click once when its counter fails', async () => {
  const tenant = await createTenant(STORES);
  const { path } = await createCreative(service, tenant);
  const { messages, clickId } = await follow(service, path, ANDROID_AGENT);
  const counters = new WatchedCounters();
  for (const when of ['before', 'after'] as const) {
    counters.failOn('append', when, { retryable: true });
    const result = await startWorker({ COUNTERS: counters.asBinding() }).deliver(messages);
    expect(result.explicitAcks).toEqual([]);
    expect(result.retryMessages).toHaveLength(1);
  }
  expect((await service.deliver(messages)).retryMessages).toEqual([]);
  expect(await rows(tenant)).toEqual([{ id: clickId, ip_hash: expect.any(String) }]);
  expect(await clicksReported(tenant)).toBe(1);
});

it.each([
  ['no body', undefined],
  ['another kind of id', { click_id: 'evt_00000000000000000000000000000000' }],
  ['an unknown time zone', { timezone: 'Mars/Olympus' }],
  ['a screen of nothing', { screen_width: 0 }],
  ['a text that is not a number', { pixel_ratio: '3x' }],
])('refuses a measurement with %s', async (_, measures) => {
  const tenant = await createTenant(STORES);
  const { path } = await createCreative(service, tenant);
  const { publicId } = await follow(service, path, IPHONE_AGENT);
  const answer =
    measures === undefined
      ? await service.request(path, { method: 'POST' })
      : await measure(service, path, publicId, { measures });
  expect(answer.status).toBe(400);
  expect(service.queue.take()).toEqual([]);
});

it('accepts a measurement only for a click on the same link within the hour', async () => {
  const tenant = await createTenant(STORES);
  const { path, id } = await createCreative(service, tenant);
  const other = await createCreative(service, tenant);
  const { clickId, publicId } = await follow(service, path, IPHONE_AGENT);
  const old = `clk_${(Date.now() - HOUR - 1_000).toString(16).padStart(12, '0')}${clickId.slice(16)}`;
  const late = await signClickId(env.KEY_ENCRYPTION_SECRET, tenant.application.id, old, id);
  for (const [where, click] of [
    [path, clickId],
    [path, late],
    [other.path, publicId],
  ] as const) {
    expect(await measure(service, where, click)).toEqual({ status: 400, messages: [] });
  }
  const unknown = await measure(service, '/t/AAAAAAAAAAAAAAAAAAAAAA', publicId);
  expect(unknown).toEqual({ status: 404, messages: [] });
});

it('keeps the first measurement', async () => {
  const tenant = await createTenant(STORES);
  const { path } = await createCreative(service, tenant);
  const { clickId, publicId, messages } = await follow(service, path, IPHONE_AGENT);
  const first = await measure(service, path, publicId);
  const second = await measure(service, path, publicId, { measures: { timezone: 'Asia/Tokyo' } });
  await service.deliver([...messages, ...first.messages, ...second.messages]);
  const row = await env.DB.prepare('SELECT timezone FROM clicks WHERE id = ?').bind(clickId).first();
  expect(row).toEqual({ timezone: 'Europe/Berlin' });
});

it('writes the same row for the same records, in any order and with repeats', async () => {
  const click: ClickRecord = {
    application_id: 'app_order',
    id: `clk_${Date.now().toString(16).padStart(12, '0')}${'0'.repeat(20)}`,
    creative_id: 'crt_1',
    os_family: 'macos',
    ip_hash: 'h',
  };
  const measures = { timezone: 'Europe/Berlin', screen_width: 820, screen_height: 1180, pixel_ratio: 2 };
  const measured: ClickRecord = { ...click, os_family: 'ios', ...measures };
  const deliveries = fc
    .array(fc.constantFrom(click, measured), { maxLength: 4 })
    .chain((more) => fc.shuffledSubarray([click, measured, ...more], { minLength: more.length + 2 }));
  await fc.assert(
    fc.asyncProperty(deliveries, fc.boolean(), async (records, together) => {
      await env.DB.prepare("DELETE FROM clicks WHERE application_id = 'app_order'").run();
      const batches = together ? [records] : records.map((record) => [record]);
      for (const batch of batches) await env.DB.batch(clickStatements(env.DB, batch));
      const { results } = await env.DB.prepare(
        "SELECT * FROM clicks WHERE application_id = 'app_order'",
      ).all();
      expect(results).toEqual([expect.objectContaining({ ...measured, device_id: null })]);
    }),
    { numRuns: 50 },
  );
});

it('deletes what is due although another chore fails', async () => {
  const tenant = await createTenant();
  await env.DB.prepare(
    "INSERT INTO clicks (application_id, id, creative_id, clicked_at, os_family) VALUES (?, 'clk_0', 'c', 0, 'ios')",
  )
    .bind(tenant.application.id)
    .run();
  const db = new WatchedD1(env.DB);
  db.failWhen((sql) => /delete from "rejections"/.test(sql), 'D1_ERROR: disk I/O error');
  const own = startWorker({ DB: db.asBinding() });
  await expect(worker.scheduled(inMinuteOf('chores'), own.bindings)).rejects.toThrow(
    'Failed chores: prune rejections',
  );
  expect(await rows(tenant)).toEqual([]);
});

it('deletes addresses after one window and clicks after the other', async () => {
  const now = Date.now();
  const tenant = await createTenant({ attribution_window_hours: 48, probabilistic_window_hours: 24 });
  const other = await createTenant({ attribution_window_hours: 24, probabilistic_window_hours: 72 });
  const insert = async ({ application }: Tenant, ageMs: number) => {
    const at = now - ageMs;
    const id = `clk_${at.toString(16).padStart(12, '0')}${'0'.repeat(20)}`;
    await env.DB.prepare(
      "INSERT INTO clicks (application_id, id, creative_id, clicked_at, os_family, ip_hash) VALUES (?, ?, 'c', ?, 'ios', 'h')",
    )
      .bind(application.id, id, at)
      .run();
    return id;
  };
  const kept = await insert(tenant, 24 * HOUR);
  const nameless = await insert(tenant, 24 * HOUR + 1);
  const last = await insert(tenant, 48 * HOUR);
  await insert(tenant, 48 * HOUR + 1);
  const longer = await insert(other, 71 * HOUR);
  await pruneClicks(env.DB, now);
  expect(await rows(tenant)).toEqual([
    { id: last, ip_hash: null },
    { id: nameless, ip_hash: null },
    { id: kept, ip_hash: 'h' },
  ]);
  expect(await rows(other)).toEqual([{ id: longer, ip_hash: 'h' }]);
});

it('deletes any number of clicks, a bounded number at a time', async () => {
  const tenant = await createTenant();
  const old = Date.now() - 1000 * HOUR;
  const scheduled = () => worker.scheduled(inMinuteOf('chores'), env);
  await scheduled();
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12500)
     INSERT INTO clicks (application_id, id, creative_id, clicked_at, os_family, ip_hash)
     SELECT ?1, 'clk_' || printf('%012x%020x', ?2, i), 'c', ?2, 'ios', 'h' FROM n`,
  )
    .bind(tenant.application.id, old)
    .run();
  await scheduled();
  expect(await rows(tenant)).toHaveLength(2500);
  await scheduled();
  expect(await rows(tenant)).toEqual([]);
});

it('finds every click by an index', async () => {
  const plans: string[] = [];
  const explaining = new WatchedD1(env.DB);
  const prepare = explaining.prepare.bind(explaining);
  explaining.prepare = (sql) => {
    if (/\bclicks\b/.test(sql)) plans.push(sql);
    return prepare(sql);
  };
  const tenant = await createTenant(STORES);
  const { path } = await createCreative(service, tenant);
  const { clickId } = await follow(service, path, IPHONE_AGENT);
  const own = startWorker({ DB: explaining.asBinding() });
  for (const timezone of ['UTC', 'unknown']) {
    await own.post(tenant, '/fetch-token', {
      type: 'device-metrics',
      created_at: new Date().toISOString(),
      data: {
        device_name: 'x',
        device_model: 'x',
        os_system: 'iOS 17',
        timezone,
        ip: '1.2.3.4',
        click_id: clickId,
      },
    });
  }
  const credit = { clickId, creativeId: '', deviceId: '', tokenId: '', claim: '', guessed: true };
  undoCredits(explaining.asBinding(), tenant.application.id, [{ ...credit, replacementDeviceId: null }]);
  await pruneClicks(explaining.asBinding(), Date.now());
  const seen: string[] = [];
  for (const sql of new Set(plans)) {
    // Numbered where several stand for one value.
    const numbers = [...sql.matchAll(/\?(\d+)/g)].map((match) => Number(match[1]));
    const length = numbers.length > 0 ? Math.max(...numbers) : [...sql.matchAll(/\?/g)].length;
    const values = Array.from({ length }, () => null);
    const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .bind(...values)
      .all<{ detail: string }>();
    const details = results.map(({ detail }) => detail);
    expect(details.filter((detail) => /^SCAN (?:clicks|old)/.test(detail))).toEqual([]);
    if (/set "ip_hash"|ip_hash = NULL/.test(sql)) expect(details.join()).toContain('clicks_with_ip');
    seen.push(details.join());
    expect(details.filter((detail) => detail.includes('FOR ORDER BY'))).toEqual([]);
  }
  for (const plan of [
    /SEARCH clicks USING INDEX clicks_by_ip/,
    /clicks_by_timezone.*clicks_by_timezone/,
    /clicks_by_timezone.*SEARCH clicks USING PRIMARY KEY/,
  ]) {
    expect(seen).toContainEqual(expect.stringMatching(plan));
  }
});
