import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { Page, pageOf } from '../helpers/page.ts';
import { createTenant } from '../helpers/tenant.ts';
import { messageIn, startWorker } from '../helpers/worker.ts';

const worker = startWorker();

const PLAY = 'https://play.google.com/store/apps/details?id=com.example.game';
const APPLE = 'https://apps.apple.com/app/id123456789';
const FALLBACK = 'https://example.com/get';
const STORES = { android_store_url: PLAY, ios_store_url: APPLE, fallback_url: FALLBACK };

const AGENT = {
  android:
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/130.0.0.0 Mobile Safari/537.36',
  ios: 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 Version/17.4 Mobile/15E148 Safari/604.1',
  windows: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36',
  mac: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/17.4 Safari/605.1.15',
  console:
    'Mozilla/5.0 (PlayStation; PlayStation 5/8.00) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.4 Safari/605.1.15',
  bot: 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
};

type ClickMessage = { v: 1; events: { id: string; creative_id: string }[]; clicks: { id: string }[] };

async function open(path: string, agent: string, init: RequestInit = {}) {
  const response = await worker.request(path, {
    redirect: 'manual',
    ...init,
    headers: { 'User-Agent': agent, 'cf-connecting-ip': '203.0.113.9', ...init.headers },
  });
  const messages = worker.queue.take().map(({ body }) => {
    const { v, events, clicks } = messageIn(body);
    return { v, events, clicks } as ClickMessage;
  });
  return { response, messages, location: response.headers.get('Location') };
}

it('sends Android to the Play Store with the click in the referrer', async () => {
  const tenant = await createTenant(STORES);
  const { path, id } = await createCreative(worker, tenant);
  const { response, messages, location } = await open(path, AGENT.android);
  expect(response.status).toBe(302);
  expect(response.headers.get('Cache-Control')).toBe('no-store');
  expect(response.headers.get('Referrer-Policy')).toBe('no-referrer');
  const clickId = messages[0]?.clicks[0]?.id ?? '';
  expect(clickId).toMatch(/^clk_[0-9a-f]{32}$/);
  const store = new URL(location ?? '');
  expect(store.searchParams.get('referrer')).toMatch(new RegExp(`^click_id=${clickId}\\.[\\w-]+\\.[\\w-]+$`));
  store.searchParams.delete('referrer');
  expect(store.href).toBe(PLAY);
  expect(messages).toEqual([
    {
      v: 1,
      events: [
        expect.objectContaining({ type: 'click', creative_id: id, id: clickId.replace('clk', 'evt') }),
      ],
      clicks: [
        {
          application_id: tenant.application.id,
          id: clickId,
          creative_id: id,
          os_family: 'android',
          os_version: '14',
          device_model: 'Pixel 8',
          ip_hash: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
        },
      ],
    },
  ]);
  expect(JSON.stringify(messages)).not.toContain('203.0.113.9');
});

it('shows iOS a page that measures and leads to the store, also without JavaScript', async () => {
  const tenant = await createTenant({ ...STORES, name: 'Cats & "Dogs" <3' });
  const { path } = await createCreative(worker, tenant);
  const { response, messages } = await open(`${path}?utm_source=a%22%3E%3Cscript%3E`, AGENT.ios);
  expect(response.status).toBe(200);
  const html = await response.text();
  const policy = response.headers.get('Content-Security-Policy') ?? '';
  const nonce = /script-src 'nonce-([A-Za-z0-9_-]{22})'/.exec(policy)?.[1];
  expect(policy.replaceAll(nonce ?? 'no nonce', 'NONCE')).toBe(
    "default-src 'none'; script-src 'nonce-NONCE'; style-src 'nonce-NONCE'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  const page = new Page(html);
  expect(page.texts('title')).toEqual(['Cats & "Dogs" <3']);
  const destination = `${APPLE}?utm_source=a%22%3E%3Cscript%3E`;
  expect(page.one('script').attributes).toEqual({
    nonce,
    'data-click': expect.stringMatching(new RegExp(`^${messages[0]?.clicks[0]?.id}\\.[\\w-]+\\.[\\w-]+$`)),
    'data-to': destination,
  });
  expect(page.one('noscript').innerHTML).toBe(`<meta http-equiv="refresh" content="0;url=${destination}">`);
  expect(page.link('Continue to Cats & "Dogs" <3')).toBe(destination);
  expect(html.length).toBeLessThan(3_000);
  const addresses = [...html.matchAll(/(?:src|href|url)="?=?(https?:[^"]+)/g)].map((match) => match[1]);
  expect(addresses).toEqual([destination, destination]);
});

it.each([
  ['Windows', AGENT.windows, PLAY],
  ['a Mac', AGENT.mac, APPLE],
  ['a console', AGENT.console, PLAY],
])('leads %s through the landing page to a store', async (_, agent, store) => {
  const tenant = await createTenant(STORES);
  const { path } = await createCreative(worker, tenant);
  const { response, messages } = await open(path, agent);
  expect(response.status).toBe(200);
  expect((await pageOf(response)).one('script').getAttribute('data-to')).toBe(store);
  expect(messages).toHaveLength(1);
});

it.each([
  ['Android without its store', AGENT.android, { ios_store_url: APPLE, fallback_url: FALLBACK }, FALLBACK],
  ['iOS without its store', AGENT.ios, { android_store_url: PLAY, fallback_url: FALLBACK }, FALLBACK],
  ['a desktop without any', AGENT.windows, { fallback_url: FALLBACK }, FALLBACK],
])('sends %s to the fallback', async (_, agent, stores, expected) => {
  const tenant = await createTenant(stores);
  const { path } = await createCreative(worker, tenant);
  const { response, messages, location } = await open(path, agent);
  expect([response.status, location, messages.length]).toEqual([302, expected, 1]);
});

it('shows a plain page if there is no destination', async () => {
  const tenant = await createTenant({ name: '<b>Game</b>' });
  const { path } = await createCreative(worker, tenant);
  const { response, messages } = await open(path, AGENT.android);
  expect([response.status, messages.length]).toEqual([200, 1]);
  const page = await pageOf(response);
  expect([page.texts('main'), page.all('script')]).toEqual([
    ['<b>Game</b> This application has no page in a store yet.'],
    [],
  ]);
});

it.each([
  ['a link preview', AGENT.bot, {}, PLAY],
  ['an empty user agent', '', {}, PLAY],
  ['HEAD of Android', AGENT.android, { method: 'HEAD' }, PLAY],
  ['HEAD of iOS', AGENT.ios, { method: 'HEAD' }, APPLE],
  ['a prefetch', AGENT.ios, { headers: { 'Sec-Purpose': 'prefetch;prerender' } }, APPLE],
  ['a prefetch of Chrome', AGENT.android, { headers: { Purpose: 'prefetch' } }, PLAY],
  ['a prerender', AGENT.android, { headers: { 'Sec-Purpose': 'PreRender' } }, PLAY],
  ['a preview of a private proxy', AGENT.ios, { headers: { Purpose: 'preview;anonymous-client-ip' } }, APPLE],
  ['a preview of Safari', AGENT.ios, { headers: { 'X-Purpose': 'preview' } }, APPLE],
  ['a prefetch of Firefox', AGENT.android, { headers: { 'X-Moz': 'prefetch' } }, PLAY],
])('redirects %s without counting it', async (_, agent, init, expected) => {
  const tenant = await createTenant(STORES);
  const { path } = await createCreative(worker, tenant);
  const { response, messages, location } = await open(path, agent, init);
  expect([response.status, location, messages]).toEqual([302, expected, []]);
});

it.each(['/t/AAAAAAAAAAAAAAAAAAAAAA', '/t/x', '/t/%3Cscript%3E'])(
  'answers %s with a 404 page',
  async (path) => {
    const { response, messages } = await open(path, AGENT.ios);
    expect([response.status, messages]).toEqual([404, []]);
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=UTF-8');
    const policy = response.headers.get('Content-Security-Policy') ?? '';
    expect(policy.replace(/nonce-[\w-]{22}/g, 'nonce-NONCE')).toBe(
      "default-src 'none'; script-src 'nonce-NONCE'; style-src 'nonce-NONCE'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    const page = await pageOf(response);
    expect([page.texts('main'), page.all('script')]).toEqual([
      ['This link leads nowhere It may have been copied incompletely.'],
      [],
    ]);
  },
);

it('keeps redirecting and counting for an archived creative', async () => {
  const tenant = await createTenant(STORES);
  const { path, id } = await createCreative(worker, tenant);
  await worker.team(tenant, `/v1/creatives/${id}`, { method: 'PATCH', body: { archived: true } });
  const { response, messages } = await open(path, AGENT.android);
  expect([response.status, messages.length]).toEqual([302, 1]);
});

it('counts nothing for an application whose collection is switched off', async () => {
  const tenant = await createTenant({ ...STORES, data_collection: false });
  const { path } = await createCreative(worker, tenant);
  const { response, messages, location } = await open(path, AGENT.ios);
  expect([response.status, location, messages]).toEqual([302, APPLE, []]);
});

it('adds query parameters without replacing stored ones', async () => {
  const tenant = await createTenant({ ...STORES, android_store_url: `${PLAY}&referrer=campaign%3Dold` });
  const { path } = await createCreative(worker, tenant);
  const query = '?id=com.evil&utm_source=ad&gclid=1&referrer=utm_term%3Dx%26click_id%3Dclk_forged';
  const { location, messages } = await open(`${path}${query}`, AGENT.android);
  const url = new URL(location ?? '');
  expect(url.origin + url.pathname).toBe('https://play.google.com/store/apps/details');
  expect(url.searchParams.getAll('id')).toEqual(['com.example.game']);
  expect(url.searchParams.get('utm_source')).toBe('ad');
  expect(url.searchParams.getAll('referrer')).toHaveLength(1);
  const referrer = new URLSearchParams(url.searchParams.get('referrer') ?? '');
  expect([...referrer]).toEqual([
    ['click_id', expect.stringMatching(new RegExp(`^${messages[0]?.clicks[0]?.id}\\.[\\w-]+\\.[\\w-]+$`))],
    ['id', 'com.evil'],
    ['utm_source', 'ad'],
    ['gclid', '1'],
    ['campaign', 'old'],
    ['utm_term', 'x'],
  ]);
});

it.each([
  '?url=https://evil.example',
  '?to=//evil.example&next=javascript:alert(1)',
  '?redirect=https://evil.example#https://evil.example',
  `?${'x'.repeat(3_000)}=1`,
])('redirects only to the stored address: %s', async (query) => {
  const tenant = await createTenant(STORES);
  const { path } = await createCreative(worker, tenant);
  for (const agent of [AGENT.android, AGENT.bot, AGENT.windows, AGENT.ios]) {
    const { response, location } = await open(`${path}${query}`, agent);
    const to = location ?? (await pageOf(response)).one('script').getAttribute('data-to') ?? '';
    expect(['https://play.google.com', 'https://apps.apple.com']).toContain(new URL(to).origin);
    expect(to.length).toBeLessThan(2_000);
  }
});

it('never redirects to an address that is not https', async () => {
  const tenant = await createTenant(STORES);
  const { path } = await createCreative(worker, tenant);
  await env.DB.prepare('UPDATE applications SET ios_store_url = ?, fallback_url = ? WHERE id = ?')
    .bind('javascript:alert(1)', 'http://example.com', tenant.application.id)
    .run();
  const { response } = await open(path, AGENT.ios);
  expect(response.status).toBe(200);
  const html = await response.text();
  expect(html).not.toContain('alert');
  expect(new Page(html).links.size).toBe(0);
});

it('redirects a person although the queue fails', async () => {
  const tenant = await createTenant(STORES);
  const { path } = await createCreative(worker, tenant);
  worker.queue.failures = 2;
  expect((await open(path, AGENT.android)).messages).toHaveLength(1);
  worker.queue.failures = 3;
  const { response, messages } = await open(path, AGENT.android);
  expect([response.status, messages]).toEqual([302, []]);
  expect(worker.queue.failures).toBe(0);
});

it('needs no database for a known link', async () => {
  const tenant = await createTenant(STORES);
  const { path } = await createCreative(worker, tenant);
  await open(path, AGENT.android);
  const broken = startWorker({ DB: {} as D1Database });
  const response = await broken.request(path, {
    redirect: 'manual',
    headers: { 'User-Agent': AGENT.android },
  });
  expect(response.status).toBe(302);
  expect(broken.queue.take()).toHaveLength(1);
});

it('serves links under a separate address', async () => {
  const own = startWorker({ TRACKING_BASE_URL: 'https://go.example.com' });
  const tenant = await createTenant(STORES);
  const { token } = await createCreative(worker, tenant);
  const ask = async (url: string) => {
    const { default: app } = await import('../../src/index.ts');
    const { createExecutionContext, waitOnExecutionContext } = await import('cloudflare:test');
    const ctx = createExecutionContext();
    const request = new Request(url, { redirect: 'manual', headers: { 'User-Agent': AGENT.android } });
    const response = await app.fetch(request, own.bindings, ctx);
    await waitOnExecutionContext(ctx);
    return response;
  };
  const response = await ask(`https://go.example.com/${token}`);
  const location = new URL(response.headers.get('Location') ?? '');
  location.searchParams.delete('referrer');
  expect([response.status, location.href]).toEqual([302, PLAY]);
  expect(response.headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
  expect((await ask(`https://ingest.test/${token}`)).status).toBe(404);
  expect((await ask(`https://ingest.test/t/${token}`)).status).toBe(302);
  expect((await ask('https://go.example.com/AAAAAAAAAAAAAAAAAAAAAA')).status).toBe(404);
  const folder = startWorker({ TRACKING_BASE_URL: 'https://ingest.test/t' });
  expect((await folder.request(`/t/${token}`, { redirect: 'manual' })).status).toBe(302);
});
