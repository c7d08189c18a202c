import { expect, it, vi } from 'vitest';
import type { NewApplication } from '#teams';
import { createCreative } from '../helpers/creatives.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// The list of apps is cached, and other files add some.
vi.hoisted(() => vi.resetModules());

const PLAY = 'https://play.google.com/store/apps/details?id=com.example.chess&hl=en';
const PRINT = Array.from({ length: 32 }, (_, index) => (index + 16).toString(16).toUpperCase()).join(':');
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 Version/17.4 Mobile/15E148 Safari/604.1';
const BOT = 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)';

const apple: Partial<NewApplication> = {
  apple_app_id_prefix: 'ABCDE12345',
  apple_bundle_id: 'com.example.go',
};
const android: Partial<NewApplication> = {
  android_store_url: PLAY,
  android_fingerprints: [PRINT],
};

type Creative = { app_link: string | null; deep_link: string | null; preview: unknown };

async function patch(worker: ReturnType<typeof startWorker>, tenant: Tenant, id: string, body: unknown) {
  const answer = await worker.team(tenant, `/v1/creatives/${id}`, { method: 'PATCH', body });
  return { status: answer.status, body: (await answer.json()) as Creative & { message?: string } };
}

it('names the apps that open links of this host, each with links of its own', async () => {
  const worker = startWorker();
  const both = await createTenant({ ...apple, ...android });
  const onlyAndroid = await createTenant({ ...android, ios_store_url: 'https://apps.apple.com/app/id1' });
  // Neither a prefix without a bundle nor a fingerprint without a package identifies an app.
  await createTenant({ apple_app_id_prefix: 'ABCDE12345' });
  await createTenant({ android_fingerprints: [PRINT] });
  const file = async (name: string) => {
    const answer = await worker.request(`/.well-known/${name}`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'application/json']);
    return answer.json();
  };
  expect(await file('apple-app-site-association')).toEqual({
    applinks: {
      details: [
        { appIDs: ['ABCDE12345.com.example.go'], components: [{ '/': `/t/${both.application.id}/*` }] },
      ],
    },
  });
  const statementOf = ({ application }: Tenant) => ({
    relation: ['delegate_permission/common.handle_all_urls'],
    target: {
      namespace: 'android_app',
      package_name: 'com.example.chess',
      sha256_cert_fingerprints: [PRINT],
    },
    relation_extensions: {
      'delegate_permission/common.handle_all_urls': {
        dynamic_app_link_components: [{ '/': `/t/${application.id}/*` }, { '/': '*', exclude: true }],
      },
    },
  });
  expect(await file('assetlinks.json')).toEqual([statementOf(both), statementOf(onlyAndroid)]);
  const path = `/v1/applications/${onlyAndroid.application.id}`;
  const changed = await worker.team(onlyAndroid, path, {
    method: 'PATCH',
    body: { android_fingerprints: [PRINT.toLowerCase()] },
  });
  expect(await changed.json()).toMatchObject({ android_fingerprints: [PRINT] });
  const { id } = await createCreative(worker, onlyAndroid);
  const { body } = await patch(worker, onlyAndroid, id, { archived: true });
  expect(body.app_link).toMatch(
    new RegExp(`^https://ingest\\.test/t/${onlyAndroid.application.id}/[\\w-]{22}$`),
  );
  const plain = await createTenant();
  const other = await createCreative(worker, plain);
  expect((await patch(worker, plain, other.id, { archived: true })).body.app_link).toBeNull();
});

it('names the paths of links on a tracking host', async () => {
  const base = startWorker({ TRACKING_BASE_URL: 'https://ingest.test/go/' } as Partial<Env>);
  for (const file of ['apple-app-site-association', 'assetlinks.json']) {
    const answer = await base.request(`/.well-known/${file}`);
    expect(await answer.text()).toMatch(/"\/go\/app_[0-9a-f]{32}\/\*"/);
  }
  const root = startWorker({ TRACKING_BASE_URL: 'https://ingest.test' } as Partial<Env>);
  const atRoot = await root.request('/.well-known/apple-app-site-association');
  expect(await atRoot.text()).toMatch(/"\/app_[0-9a-f]{32}\/\*"/);
});

it.each(['', 'https://ingest.test/go', 'https://ingest.test'])(
  'leads to the store and counts the click where the app is not installed, under %j',
  async (base) => {
    const worker = startWorker({ TRACKING_BASE_URL: base } as Partial<Env>);
    const tenant = await createTenant({
      ...android,
      ios_store_url: 'https://apps.apple.com/app/id123456789',
    });
    const stranger = await createTenant();
    const { id, token } = await createCreative(worker, tenant);
    const { body } = await patch(worker, tenant, id, { archived: false, network: 'meta' });
    const { pathname } = new URL(body.app_link ?? '');
    const headers = { 'User-Agent': IPHONE, 'cf-connecting-ip': '203.0.113.9' };
    const page = await worker.request(pathname, { headers });
    expect(page.status).toBe(200);
    const [, click = ''] = /data-click="([^"]+)"/.exec(await page.text()) ?? [];
    const measurement = {
      click_id: click,
      timezone: 'Europe/Berlin',
      screen_width: 390,
      screen_height: 844,
      pixel_ratio: 3,
    };
    const measured = await worker.request(pathname, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(measurement),
    });
    expect(measured.status).toBe(204);
    expect(worker.queue.take()).toHaveLength(2);
    const elsewhere = pathname.replace(tenant.application.id, stranger.application.id);
    expect((await worker.request(elsewhere, { headers })).status).toBe(404);
    expect((await worker.request(pathname.replace(token, 'x'), { headers })).status).toBe(404);
    expect(worker.queue.take()).toEqual([]);
  },
);

it('returns the deep link of the link that opened the app, else of the credited creative', async () => {
  const worker = startWorker();
  const tenant = await createTenant();
  const [first, second] = [await createCreative(worker, tenant), await createCreative(worker, tenant)];
  const plain = await createCreative(worker, tenant);
  const stranger = await createTenant();
  const foreign = await createCreative(worker, stranger);
  await patch(worker, tenant, first.id, { deep_link: 'game://levels/3?from=ad%20one' });
  await patch(worker, tenant, second.id, { deep_link: '/levels/4' });
  await patch(worker, stranger, foreign.id, { deep_link: '/foreign' });
  const open = async (data: Record<string, unknown>) => {
    const body = {
      type: 'device-metrics',
      created_at: new Date().toISOString(),
      data: { device_name: 'a', device_model: 'b', os_system: 'Android 16', timezone: 'UTC', ...data },
    };
    const answer = await worker.post(tenant, '/fetch-token', body);
    expect(answer.status).toBe(200);
    const { token, ...rest }: { token: string } = await answer.json();
    expect(rest).toEqual({});
    const verified = await worker.post(tenant, '/verify-token', { token });
    const { deep_link }: { deep_link?: string } = await verified.json();
    return [answer.headers.get('X-Deep-Link'), deep_link];
  };
  const game = 'game://levels/3?from=ad%20one';
  expect(await open({ device_id: 'd', creative_token: first.token })).toEqual([game, game]);
  expect(await open({ device_id: 'd' })).toEqual([game, game]);
  expect(await open({ device_id: 'd', creative_token: second.token })).toEqual(['/levels/4', game]);
  expect(await open({ device_id: 'd', creative_token: foreign.token })).toEqual([game, game]);
  expect(await open({ device_id: 'e', creative_token: plain.token })).toEqual([null, undefined]);
  expect(await open({ device_id: 'f' })).toEqual([null, undefined]);
});

it('shows the preview to bots, and sends people on', async () => {
  const worker = startWorker();
  const tenant = await createTenant({ android_store_url: PLAY });
  const { id, path } = await createCreative(worker, tenant);
  const read = async (agent: string) => {
    const init = { headers: { 'User-Agent': agent }, redirect: 'manual' } as const;
    const answer = await worker.request(`${path}?utm=1`, init);
    return { status: answer.status, text: await answer.text() };
  };
  const preview = { title: 'Play "level 3"', description: '<b>', image_url: 'https://cdn.test/3.png' };
  const set = await patch(worker, tenant, id, { preview });
  expect(set).toMatchObject({ status: 200, body: { preview } });
  const { status, text } = await read(BOT);
  expect(status).toBe(200);
  expect(text).toContain('<meta property="og:title" content="Play &quot;level 3&quot;">');
  expect(text).toContain('<meta property="og:description" content="&lt;b&gt;">');
  expect(text).toContain('<meta property="og:image" content="https://cdn.test/3.png">');
  expect(text).toContain(`<meta property="og:url" content="https://ingest.test${path}">`);
  expect(worker.queue.take()).toEqual([]);
  expect((await read('Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/130.0.0.0 Mobile')).status).toBe(302);
  expect(worker.queue.take()).toHaveLength(1);
});

it.each([
  [{ deep_link: 'javascript:alert(1)' }, /^deep_link must be a URL or a path/],
  [{ deep_link: 'a b' }, /^deep_link must be a URL or a path/],
  [{ deep_link: 'levels' }, /^deep_link must be a URL or a path/],
  [{ deep_link: '/a\r\nX: 1' }, /^deep_link must be a URL or a path/],
  [{ deep_link: '/ü' }, /^deep_link must be a URL or a path/],
  [{ preview: 'x' }, /^preview must be an object or null$/],
  [{ preview: {} }, /^preview\.title is required$/],
  [{ preview: { title: 'x', image_url: 'http://a.test' } }, /^preview\.image_url must be an https URL$/],
  [{}, /^archived is required, unless network, deep_link, preview or external_ids is given$/],
])('refuses %j', async (body, message) => {
  const worker = startWorker();
  const tenant = await createTenant();
  const { id } = await createCreative(worker, tenant);
  const answer = await patch(worker, tenant, id, body);
  expect(answer.status).toBe(400);
  expect(answer.body.message).toMatch(message);
});
