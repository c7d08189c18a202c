import { beforeAll, expect, it } from 'vitest';
import { linkFor, NETWORKS } from '#networks';
import { ANDROID_AGENT, follow } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { type Page, pageOf } from '../helpers/page.ts';
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

const copiedFrom = (page: Page) =>
  page
    .card('Link')
    .all('[data-copy]')
    .map((button) => button.getAttribute('data-copy') ?? '');

it("has the links of the application's creatives for a network, the newest first, found by name", async () => {
  const own = await createTenant();
  const [browser, reader] = await Promise.all([
    signedIn(worker, own.team, 'admin'),
    signedIn(worker, own.team, 'viewer'),
  ]);
  const made: { id: string; path: string }[] = [];
  for (let number = 1; number <= 10; number++)
    made.push(
      await createCreative(worker, own, { creative: `Cat ${number}`, campaign: 'Spring', adset: 'Broad' }),
    );
  const change = (at: number, body: object) =>
    worker.team(own, `/v1/creatives/${made[at]?.id}`, { method: 'PATCH', body });
  // What is archived or for another network is not listed.
  const changed = await Promise.all([change(9, { archived: true }), change(8, { network: 'meta' })]);
  expect(changed.map(({ status }) => status)).toEqual([200, 200]);
  const tiktok = NETWORKS.find(({ id }) => id === 'tiktok');
  const linkOf = (at: number) => tiktok && linkFor(tiktok, `https://ingest.test${made[at]?.path}`);

  const page = await open(reader, '/networks/tiktok');
  expect(copiedFrom(page)).toEqual([7, 6, 5, 4, 3, 2, 1, 0].map(linkOf));
  expect(page.card('Link').texts('details[open] summary')).toEqual(['Cat 8 · Spring › Broad']);
  expect(page.card('Link').text).not.toContain('The newest 8.');
  expect(copiedFrom(await open(reader, '/networks/tiktok?q=cat+3'))).toEqual([linkOf(2)]);
  expect((await open(reader, '/networks/tiktok?q=dog')).card('Link').text).toContain(
    'No creative for TikTok contains “dog”.',
  );
  expect(copiedFrom(await open(reader, '/networks/meta'))).toHaveLength(8);
  expect((await open(reader, '/networks/meta')).card('Link').text).toContain('The newest 8.');

  const [link, click, impression, ...others] = copiedFrom(await open(browser, '/networks/mintegral?q=cat+8'));
  expect(link).toMatch(/^https:\/\/ingest\.test\/t\/[\w-]+\?network=mintegral&/);
  expect(click).toMatch(/\?s2s=[\w-]{22}&network=mintegral&.*&ua=\{ua\}$/);
  expect(impression).toMatch(/\?s2s=[\w-]{22}&event=impression&network=mintegral&/);
  expect(others).toEqual([]);
  expect((await open(reader, '/networks/mintegral')).text).not.toContain('s2s=');
  const servers = (await open(browser, '/networks/tiktok?q=cat+8')).one('a[href$="#server-links"]');
  expect(servers.getAttribute('href')).toContain(`/creatives/${made[7]?.id}`);
});

it('reads no figures of another team', async () => {
  const other = await createTenant();
  const stranger = await signedIn(worker, other.team, 'admin');
  expect((await stranger.get(`/networks/tiktok?app=${tenant.application.id}`)).status).toBe(404);
  expect((await open(stranger, '/networks/tiktok')).one('[data-metric="clicks"]').text).toBe('0');
});
