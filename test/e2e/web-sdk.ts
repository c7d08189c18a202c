import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { type Service, startService } from '../helpers/service.ts';

// A page on another origin that sends what a web SDK sends, in a real browser, which decides by the CORS headers what may be sent and read.

let service: Service;
let demo: Demo;
let browser: Browser;
let pages: Server;
let page: Page;
let origin: string;

const team = (path: string, init: RequestInit = {}) =>
  fetch(`${demo.base_url}${path}`, {
    ...init,
    headers: { 'Service-Token': demo.team_token ?? '', 'Content-Type': 'application/json' },
  });

before(async () => {
  service = await startService();
  ({ demo } = service);
  pages = createServer((_, answer) =>
    answer.setHeader('Content-Type', 'text/html').end('<title>Game</title>'),
  );
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  origin = `http://localhost:${(pages.address() as AddressInfo).port}`;
  browser = await launchBrowser();
  page = await browser.newPage();
  await page.goto(origin);
});

after(async () => {
  await browser?.close();
  await service?.stop();
  pages?.close();
});

type Answer = { status: number; body: Record<string, unknown> } | { blocked: true };

/** Sends a request from the page. `blocked` if the browser refused to send it or to show its answer. */
const send = (
  path: string,
  body?: unknown,
  more: { key?: string; keepalive?: boolean } = {},
): Promise<Answer> =>
  page.evaluate(
    async ({ url, header, key, text, keepalive }) => {
      try {
        // Not a `RequestInit` of the Workers runtime, which knows no `keepalive`.
        const init: Record<string, unknown> = {
          method: text === undefined ? 'GET' : 'POST',
          headers: { [header]: key, ...(text === undefined ? {} : { 'Content-Type': 'application/json' }) },
          keepalive,
          body: text,
        };
        const answer = await fetch(url, init);
        return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
      } catch {
        return { blocked: true as const };
      }
    },
    {
      url: `${demo.base_url}${path}`,
      header: 'service-api-key',
      key: more.key ?? demo.api_key ?? '',
      text: body === undefined ? undefined : JSON.stringify(body),
      keepalive: more.keepalive ?? false,
    },
  );

const now = () => new Date().toISOString();
const metrics = () => ({
  type: 'device-metrics',
  data: {
    device_name: 'Chrome',
    dpi: 1,
    gpu_vendor: 'WebKit',
    gpu_version: 'WebGL 2.0',
    window_height: 720.5,
    legacy_height: 720,
    window_width: 1280.25,
    legacy_width: 1280,
    installed_fonts: [],
    os_system: 'Linux x86_64',
    device_model: 'Unknown',
    timezone: now(),
  },
  created_at: now(),
});

test('is not allowed by default', async () => {
  assert.deepEqual(await send('/fetch-token', metrics()), { blocked: true });
  assert.deepEqual(await send('/check-data-collection-status'), { blocked: true });
});

test('sends a device, sessions, visits, purchases, ads and custom events once its origin is allowed', async () => {
  const before = await totals();
  const changed = await team(`/v1/applications/${demo.application?.id}`, {
    method: 'PATCH',
    body: JSON.stringify({ allowed_origins: [origin] }),
  });
  assert.equal(changed.status, 200);
  // Isolates cache what is allowed for up to a minute.
  const until = Date.now() + 90_000;
  let status = await send('/check-data-collection-status');
  while ('blocked' in status && Date.now() < until) {
    await page.waitForTimeout(1_000);
    status = await send('/check-data-collection-status');
  }
  assert.ok('body' in status && status.body.enabled === true, JSON.stringify(status));

  const fetched = await send('/fetch-token', metrics());
  assert.ok('body' in fetched && typeof fetched.body.token === 'string', JSON.stringify(fetched));
  const creativeToken = fetched.body.token;
  const sid = crypto.randomUUID();
  const event = (type: string, payload: unknown) => ({
    type,
    created_at: now().slice(0, 19).replace('T', ' '),
    creativeToken,
    device_name: 'Chrome',
    device_model: 'Unknown',
    os_system: 'Linux x86_64',
    utc_offset: '-07:00',
    retention_day: '',
    eid: crypto.randomUUID(),
    payload,
  });
  const events: [unknown, { keepalive?: boolean }?][] = [
    [event('session', { a: 'start', sid, si: 1 })],
    [event('retention', { retentionDay: '0', backfillDay: '0' })],
    [
      event('custom.purchase', {
        item_id: 'gems_500',
        item_name: '500 gems',
        value: 4.99,
        currency: 'USD',
        status: 'Completed',
        total_purchase_value: 4.99,
        tr_id: crypto.randomUUID(),
      }),
    ],
    [
      event('custom.ad', {
        ad_id: 'level_end',
        source: 'rewarded',
        media_source: 'admob',
        channel: 'paid',
        watch_time: 30,
        reward: true,
        value: 0.0125,
        currency: 'USD',
        total_ad_value: 0.0125,
      }),
    ],
    [event('custom', { en: 'level_up', pr: { level: 3 } })],
    // While the page is left.
    [event('session', { a: 'end', sid, si: 1, sd: 12.5, r: 'background' }), { keepalive: true }],
  ];
  for (const [body, more] of events) {
    const answer = await send('/webhook', body, more);
    assert.ok('status' in answer && answer.status === 200, JSON.stringify([body, answer]));
  }
  const verified = await send('/verify-token', { token: creativeToken });
  assert.ok('body' in verified && verified.body.valid === true, JSON.stringify(verified));

  const expected = { installs: 1, sessions: 1, purchases: 1, impressions: 1, events: 1 };
  const deadline = Date.now() + 60_000;
  for (;;) {
    const after = await totals();
    const added = Object.fromEntries(
      Object.keys(expected).map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]),
    );
    if (JSON.stringify(added) === JSON.stringify(expected)) break;
    assert.ok(Date.now() < deadline, JSON.stringify(added));
    await page.waitForTimeout(1_000);
  }
});

test('reads why a request was refused', async () => {
  const refused = await send('/webhook', { type: 'custom' });
  assert.ok('status' in refused && refused.status === 400, JSON.stringify(refused));
  const unknown = await send('/webhook', {}, { key: 'x' });
  assert.ok('status' in unknown && unknown.status === 401, JSON.stringify(unknown));
});

test('may not call the team API', async () => {
  assert.deepEqual(await send('/v1/applications'), { blocked: true });
});

test("passes the key check of an SDK's editor in both forms", async () => {
  for (const headers of [{ 'service-api-key': demo.api_key }, { Authorization: `Bearer ${demo.api_key}` }]) {
    const answer = await fetch(`${demo.base_url}/auth`, { headers: headers as HeadersInit });
    assert.equal(answer.status, 200);
  }
});

/** The demo application's totals of today and the day before, in case it is midnight. */
async function totals(): Promise<Record<string, number>> {
  const [from, to] = [new Date(Date.now() - 86_400_000), new Date()].map((day) =>
    day.toISOString().slice(0, 10),
  );
  const path = `/v1/reports/performance?application_id=${demo.application?.id}&from=${from}&to=${to}`;
  const answer = await team(path);
  const body = (await answer.json()) as { totals: Record<string, number> };
  assert.equal(answer.status, 200, JSON.stringify(body));
  return body.totals;
}
