import { beforeAll, expect, it } from 'vitest';
import { linkFor, NETWORKS } from '#networks';
import { createCreative } from '../helpers/creatives.ts';
import { Page, pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const TITLE = 'Links for networks';

let tenant: Tenant;
let admin: Browser;
let viewer: Browser;
let creative: { id: string; path: string };

beforeAll(async () => {
  tenant = await createTenant();
  creative = await createCreative(worker, tenant, { creative: 'Cat' });
  admin = await signedIn(worker, tenant.team, 'admin');
  viewer = await signedIn(worker, tenant.team, 'viewer');
});

const open = async (browser: Browser) => pageOf(await browser.get(`/creatives/${creative.id}`));

/** The texts to copy, by the names of the networks. */
const copiedOf = (page: Page): Record<string, (string | undefined)[]> =>
  Object.fromEntries(
    page
      .card(TITLE)
      .all('details.fold')
      .map((fold) => {
        const own = new Page(fold);
        return [
          own.texts('summary').join(),
          own.all('[data-copy]').map((button) => button.getAttribute('data-copy')),
        ];
      }),
  );

const setNetwork = (network: string | null) =>
  worker.team(tenant, `/v1/creatives/${creative.id}`, { method: 'PATCH', body: { network } });

it('offers a viewer the link for each network whose ads take one, readable without scripts', async () => {
  const page = await open(viewer);
  const link = `https://ingest.test${creative.path}`;
  const expected = NETWORKS.flatMap((network) => {
    const own = linkFor(network, link);
    return own === null ? [] : [[network.name, [own]] as const];
  });
  expect(copiedOf(page)).toEqual(Object.fromEntries(expected));
  const card = page.card(TITLE);
  expect(card.texts('code')).toEqual(expected.map(([, [own]]) => own));
  expect(card.all('details[open]')).toEqual([]);
  expect(card.text).toContain('Ads of Apple Ads take no tracking link.');
  expect(card.text).toContain('Not verified: __CLICKID__ is documented');
  expect(page.text).not.toContain('s2s=');
});

it('offers an admin the links for the servers of a network that reports from them', async () => {
  const copied = copiedOf(await open(admin));
  expect(copied.TikTok).toHaveLength(1);
  expect(copied.Mintegral).toEqual([
    expect.stringContaining('mtg_click_id={click_id}'),
    expect.stringMatching(/\?s2s=[\w-]{22}&network=mintegral&.*&ip=\{ip\}&ua=\{ua\}$/),
    expect.stringMatching(/\?s2s=[\w-]{22}&event=impression&network=mintegral&.*&ip=\{ip\}&ua=\{ua\}$/),
  ]);
});

it('offers that of its network alone if the link is for one, and none for one without links', async () => {
  expect((await setNetwork('tiktok')).status).toBe(200);
  expect(Object.keys(copiedOf(await open(admin)))).toEqual(['TikTok']);
  expect((await setNetwork('apple_ads')).status).toBe(200);
  expect((await open(admin)).cards).not.toContain(TITLE);
  await setNetwork(null);
});
