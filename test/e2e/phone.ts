import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { type Service, startService } from '../helpers/service.ts';

// A phone's way, in a real browser against a real start: link → store → /fetch-token → an ad → the report.

const PLAY = 'https://play.google.com/store/apps/details?id=com.example.game';
const APPLE = 'https://apps.apple.com/app/id123456789';

const ANDROID = {
  userAgent:
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36',
  viewport: { width: 412, height: 839 },
  screen: { width: 412, height: 915 },
  deviceScaleFactor: 2.625,
  isMobile: true,
  hasTouch: true,
  timezoneId: 'Europe/Berlin',
} satisfies BrowserContextOptions;

const IPHONE = {
  userAgent:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1',
  viewport: { width: 393, height: 659 },
  screen: { width: 393, height: 852 },
  deviceScaleFactor: 3,
  isMobile: true,
  hasTouch: true,
  timezoneId: 'America/Sao_Paulo',
} satisfies BrowserContextOptions;

type Row = { creative: string | null; clicks: number; installs: number; ad_revenue: number };

let service: Service;
let demo: Demo;
let browser: Browser;

/** Asks again until the answer is one, at most 30 s. */
async function until<Value>(
  what: string,
  ask: () => Promise<Value | null | undefined | false>,
): Promise<Value> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const value = await ask();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`gave up waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

before(async () => {
  service = await startService();
  ({ demo } = service);
  await team('PATCH', `/v1/applications/${demo.application.id}`, {
    android_store_url: PLAY,
    ios_store_url: APPLE,
  });
  browser = await launchBrowser();
});

after(async () => {
  await browser?.close();
  await service?.stop();
});

async function call<Answer>(method: string, where: string, headers: Record<string, string>, body?: unknown) {
  const response = await fetch(`${demo.base_url}${where}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Answer;
  assert.ok(response.ok, `${method} ${where}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

const team = <Answer>(method: string, where: string, body?: unknown) =>
  call<Answer>(method, where, { [`${demo.service_name}-Token`]: demo.team_token }, body);
const backend = <Answer>(where: string, body: unknown) =>
  call<Answer>('POST', where, { [`${demo.service_name}-api-key`]: demo.api_key }, body);

async function makeLink(creative: string): Promise<string> {
  const answer = await team<{ creative: { tracking_link: string } }>('POST', '/v1/creatives', {
    creative,
    app_api_key: demo.api_key,
  });
  assert.ok(answer.creative.tracking_link.startsWith(`${demo.tracking_base_url}/`));
  return answer.creative.tracking_link;
}

/** Opens a link and returns the URL that the person arrives at. Nothing leaves the machine. */
async function arrive(link: string, phone: BrowserContextOptions): Promise<{ url: URL; faults: string[] }> {
  const context = await browser.newContext(phone);
  try {
    const faults: string[] = [];
    let arrived: URL | null = null;
    const isStore = (url: URL) => url.origin !== new URL(demo.base_url).origin;
    // A redirect cannot be answered in the store's place, only seen: there the browser finds no such host.
    context.on('request', (request) => {
      const url = new URL(request.url());
      if (request.isNavigationRequest() && isStore(url)) arrived ??= url;
    });
    await context.route(isStore, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<title>store</title>' }),
    );
    const page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(String(error)));
    await page.goto(link).catch((error) => {
      if (!String(error).includes('ERR_NAME_NOT_RESOLVED')) throw error;
    });
    const url = await until<URL>('the store', async () => arrived);
    return { url, faults };
  } finally {
    await context.close();
  }
}

const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);

async function rowOf(creative: string): Promise<Row | undefined> {
  const query = `application_id=${demo.application.id}&from=${day(-1)}&to=${day(1)}&group_by=creative`;
  const { data } = await team<{ data: Row[] }>('GET', `/v1/reports/performance?${query}`);
  return data.find((row) => row.creative === creative);
}

async function fetchToken(data: Record<string, unknown>): Promise<string> {
  const created_at = new Date().toISOString();
  const { token } = await backend<{ token: string }>('/fetch-token', {
    type: 'device-metrics',
    created_at,
    data,
  });
  return token;
}

async function sendAd(creativeToken: string): Promise<void> {
  await backend('/webhook', {
    type: 'custom.ad',
    created_at: new Date().toISOString().slice(0, 19).replace('T', ' '),
    creativeToken,
    payload: { ad_id: 'main', source: 'rewarded_video', media_source: 'admob', value: 0.02, currency: 'usd' },
  });
}

/** The clicks, installs and ad revenue of a creative, once its ad has been counted. */
async function countedAd(creative: string): Promise<number[]> {
  const row = await until('the ad', async () => {
    const found = await rowOf(creative);
    return found && found.ad_revenue > 0 && found;
  });
  return [row.clicks, row.installs, row.ad_revenue];
}

test('credits an Android phone through the Play Store and its referrer', async () => {
  const link = await makeLink('Android video');
  const { url, faults } = await arrive(`${link}?utm_source=tiktok`, ANDROID);
  assert.equal(url.origin + url.pathname, 'https://play.google.com/store/apps/details');
  assert.equal(url.searchParams.get('id'), 'com.example.game');
  assert.equal(url.searchParams.get('utm_source'), 'tiktok');
  assert.deepEqual(faults, []);
  const install_referrer = url.searchParams.get('referrer');
  assert.match(install_referrer ?? '', /^click_id=clk_[0-9a-f]{32}\.[\w-]{22}\.[\w-]{16}&utm_source=tiktok$/);
  await until('the click', async () => (await rowOf('Android video'))?.clicks === 1);
  const token = await fetchToken({
    device_name: 'Pixel 8',
    device_model: 'Pixel 8',
    os_system: 'Android 14',
    timezone: 'Asia/Tokyo',
    install_referrer,
  });
  await sendAd(token);
  assert.deepEqual(await countedAd('Android video'), [1, 1, 0.02]);
});

test('credits an iPhone through the landing page, without a referrer', async () => {
  const link = await makeLink('iPhone video');
  const { url, faults } = await arrive(`${link}?utm_source=tiktok`, IPHONE);
  assert.equal(url.href, `${APPLE}?utm_source=tiktok`);
  assert.deepEqual(faults, []);
  await until('the click', async () => (await rowOf('iPhone video'))?.clicks === 1);
  // The measurement is a separate message and may arrive a moment after the click: until then, a phone is organic.
  const token = await until('the measurement', async () => {
    const fetched = await fetchToken({
      device_name: 'iPhone',
      device_model: 'iPhone15,4',
      os_system: 'iOS 17.4.1',
      timezone: 'America/Sao_Paulo',
      window_width: 1179,
      window_height: 2556,
      dpi: 460,
    });
    const verified = await backend<{ creative: { name: string } | null }>('/verify-token', {
      token: fetched,
    });
    return verified.creative?.name === 'iPhone video' && fetched;
  });
  await sendAd(token);
  assert.deepEqual(await countedAd('iPhone video'), [1, 1, 0.02]);
});

test('redirects an iPhone without JavaScript to the store, and counts its click', async () => {
  const link = await makeLink('Plain');
  const { url, faults } = await arrive(link, { ...IPHONE, javaScriptEnabled: false });
  assert.equal(url.href, APPLE);
  assert.deepEqual(faults, []);
  await until('the click', async () => (await rowOf('Plain'))?.clicks === 1);
});
