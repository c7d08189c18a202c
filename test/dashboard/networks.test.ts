import { beforeAll, expect, it } from 'vitest';
import { linkFor, NETWORKS } from '#networks';
import { ANDROID_AGENT, follow } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const TABLE = 'What is set up for each network';

let tenant: Tenant;
let admin: Browser;
let viewer: Browser;

beforeAll(async () => {
  tenant = await createTenant();
  admin = await signedIn(worker, tenant.team, 'admin');
  viewer = await signedIn(worker, tenant.team, 'viewer');
});

const open = async (browser: Browser, path: string) => pageOf(await browser.get(path));

it('lists every network with what can be set up for it', async () => {
  const rows = (await open(viewer, '/networks')).cells(
    TABLE,
    ...['Network', 'Link', 'Conversions', 'Costs', 'Clicks', 'Spend'],
  );
  expect(rows.map(([name]) => name)).toEqual(NETWORKS.map(({ name }) => name));
  expect(rows).toContainEqual(['TikTok', 'With macros', 'Conversions API', 'Connector', '–', '–']);
  expect(rows).toContainEqual(['Unity Ads', 'With macros', 'Postback', '–', '–', '–']);
  expect(rows).toContainEqual(['Apple Ads', '–', '–', '–', '–', '–']);
});

it.each(NETWORKS)('has a page of $name that says what is known of it', async (network) => {
  const { id, name, unverified, postback, clickIds, skadnetworkIds } = network;
  const page = await open(viewer, `/networks/${id}`);
  expect(page.texts('h1')).toEqual([name]);
  expect(page.cards).toEqual(['In this period', 'Link', 'Conversions', 'Costs', 'SKAdNetwork']);
  const copied = page.all('[data-copy]').map((button) => button.getAttribute('data-copy'));
  const link = linkFor(network, 'https://ingest.test/t/…');
  expect(copied).toEqual([
    ...(link === null ? [] : [link]),
    ...(postback ? [postback.url] : []),
    ...skadnetworkIds.map((own) => `${own}.skadnetwork`),
  ]);
  expect(page.card('Link').texts('dd')[0]).toBe(clickIds.join(', ') || 'None');
  for (const note of unverified) expect(page.text).toContain(`Not verified: ${note.replaceAll('`', '')}`);
  expect(page.all('a[href*="/settings/destinations/new"]')).toEqual([]);
});

it('shows what is set up for a network, and its figures', async () => {
  const { path } = await createCreative(worker, tenant, { creative: 'Cat' });
  const { messages } = await follow(worker, `${path}?network=tiktok`, ANDROID_AGENT);
  await worker.deliver(messages);
  const team = (method: string, route: string, body: object) =>
    worker.team(tenant, route, { method, body: { application_id: tenant.application.id, ...body } });
  const made = await Promise.all([
    team('POST', '/v1/connectors', {
      kind: 'tiktok',
      settings: { advertiser_id: '123' },
      credentials: { access_token: 'secret-token' },
    }),
    team('POST', '/v1/destinations', {
      kind: 'postback',
      events: ['install'],
      settings: {
        method: 'GET',
        url: NETWORKS.find(({ id }) => id === 'mintegral')?.postback?.url,
      },
    }),
  ]);
  expect(made.map(({ status }) => status)).toEqual([201, 201]);
  await settleAll(tenant.application.id);
  const rows = (await open(admin, '/networks')).cells(TABLE, 'Network', 'Conversions', 'Costs', 'Clicks');
  expect(rows).toContainEqual(['TikTok', 'Conversions API', 'Due', '1']);
  expect(rows).toContainEqual(['Mintegral', 'Sent', '–', '–']);
  const tiktok = await open(admin, '/networks/tiktok');
  expect(tiktok.one('[data-metric="clicks"]').text).toBe('1');
  expect(tiktok.card('Costs').text).toContain('TikTok Ads Due Last run: –');
  expect(tiktok.text).not.toContain('secret-token');
  const form = tiktok.one('a[href*="/settings/destinations/new"]').getAttribute('href');
  expect(form).toBe(`/settings/destinations/new?app=${tenant.application.id}&kind=tiktok`);
  expect((await admin.get(form ?? '')).status).toBe(200);
  const mintegral = await open(admin, '/networks/mintegral');
  expect(mintegral.card('Conversions').text).toMatch(/^Conversions New destination Postback On /);
  expect((await admin.get('/networks/none')).status).toBe(404);
});

it('reads no figures of another team', async () => {
  const other = await createTenant();
  const stranger = await signedIn(worker, other.team, 'admin');
  expect((await stranger.get(`/networks/tiktok?app=${tenant.application.id}`)).status).toBe(404);
  expect((await open(stranger, '/networks/tiktok')).one('[data-metric="clicks"]').text).toBe('0');
});
