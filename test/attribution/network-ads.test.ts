import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';
import {
  APPLE_AD,
  appleAnswers,
  attributionOf,
  deliverAll,
  fetchIphone,
  performanceBy,
} from './apple-ads.ts';
import { META_REFERRER, referrerOf } from './meta-vector.ts';

// Ads that no creative has an id of: found by their ad set or campaign, or created under the network's names.

const worker = startWorker();
const KEY = { ...STORES, meta_referrer_key: META_REFERRER.key };
const CREATING = { ...KEY, create_from_networks: true };
const IDS = { campaigns: '23854855793350700', adsets: '23854855793420700', creatives: '23854855793500700' };
const OTHER_AD_ID = '23854864161090700';

type Id = { network: string; id: string };
type Item = { id: string; name: string; external_ids: Id[] };
type Creative = Item & { campaign: string; adset: string; network: string | null };
type Kind = 'campaigns' | 'adsets' | 'creatives';

afterEach(() => {
  vi.restoreAllMocks();
  worker.queue.take();
});

async function list(tenant: Tenant, kind: Kind): Promise<Creative[]> {
  const answer = await worker.team(tenant, `/v1/${kind}?application_id=${tenant.application.id}`);
  return (await answer.json<{ data: Creative[] }>()).data;
}

/** The names and ids of all items. */
const everything = async (tenant: Tenant) => {
  const of = async (kind: Kind) =>
    (await list(tenant, kind)).map((item) => [item.name, item.external_ids.map(({ id }) => id)] as const);
  return { campaigns: await of('campaigns'), adsets: await of('adsets'), creatives: await of('creatives') };
};

async function give(tenant: Tenant, kind: Kind, id: string, network = 'meta') {
  const [item] = await list(tenant, kind);
  const body = { external_ids: [{ network, id }] };
  expect((await worker.team(tenant, `/v1/${kind}/${item?.id}`, { method: 'PATCH', body })).status).toBe(200);
}

const install = (tenant: Tenant, referrer = META_REFERRER.referrer, data: object = {}, dev = false) =>
  fetchToken(worker, tenant, { dev, data: { install_referrer: referrer, ...data } });

async function creditOf(tenant: Tenant, token: string) {
  const { creative_id, method, network } = await attributionOf(worker, tenant, token);
  expect([method, network]).toEqual(['meta_referrer', 'meta']);
  return creative_id;
}

describe('an ad of which only the ad set or the campaign is known', () => {
  it.each([
    ['adsets', 'Ad set'],
    ['campaigns', 'Meta'],
  ] as const)('is credited to a creative of Meta in %s with the id', async (kind, adset) => {
    const tenant = await createTenant(KEY);
    await createCreative(worker, tenant, { creative: 'Own', campaign: 'Campaign', adset: 'Ad set' });
    await give(tenant, kind, IDS[kind]);
    const tokens = await Promise.all([install(tenant), install(tenant)]);
    tokens.push(await install(tenant));
    const credits = await Promise.all(tokens.map((token) => creditOf(tenant, token)));
    const all = await list(tenant, 'creatives');
    const [made, ...more] = all.filter(({ name }) => name === 'Meta');
    expect([made, more]).toMatchObject([{ campaign: 'Campaign', adset, external_ids: [] }, []]);
    expect(credits).toEqual(credits.map(() => made?.id));
    expect(await performanceBy(worker, tenant, 'creative')).toMatchObject([
      { creative_id: made?.id, installs: 3 },
    ]);
  });

  it('prefers the ad, then the ad set', async () => {
    const tenant = await createTenant(KEY);
    const { id } = await createCreative(worker, tenant, { creative: 'Own', adset: 'A', campaign: 'C' });
    await give(tenant, 'campaigns', IDS.campaigns);
    await give(tenant, 'adsets', IDS.adsets);
    await give(tenant, 'creatives', OTHER_AD_ID);
    expect(await creditOf(tenant, await install(tenant))).toBe(id);
    await give(tenant, 'creatives', '1');
    const made = await creditOf(tenant, await install(tenant));
    expect((await list(tenant, 'creatives')).find((one) => one.id === made)).toMatchObject({
      name: 'Meta',
      adset: 'A',
    });
  });
});

describe('an application that creates from networks', () => {
  const CREATED = {
    campaigns: [['Test Campaign', [IDS.campaigns]]],
    adsets: [['AdSet1', [IDS.adsets]]],
    creatives: [['Ad1', [IDS.creatives, OTHER_AD_ID]]],
  };

  it('has campaign, ad set and creative of Meta’s ad from its first install on, once', async () => {
    const tenant = await createTenant(CREATING);
    const tokens = await Promise.all([install(tenant), install(tenant), install(tenant)]);
    tokens.push(await install(tenant));
    expect(await everything(tenant)).toEqual(CREATED);
    const [made] = await list(tenant, 'creatives');
    expect(made).toMatchObject({ campaign: 'Test Campaign', adset: 'AdSet1', network: 'meta' });
    for (const token of tokens) expect(await creditOf(tenant, token)).toBe(made?.id);
    expect(await performanceBy(worker, tenant, 'creative')).toMatchObject([
      { creative_id: made?.id, installs: 4 },
    ]);
    const audit = await env.DB.prepare(
      "SELECT actor, action, subject FROM audit_log WHERE team_id = ? AND action LIKE 'creative%'",
    )
      .bind(tenant.team.id)
      .all();
    expect(audit.results).toEqual([
      { actor: 'Meta', action: 'creative.created', subject: 'Ad1 in Test Campaign › AdSet1' },
    ]);
  });

  it('asks the registry about the first install only', async () => {
    const tenant = await createTenant(CREATING);
    const asked = vi.spyOn(env.CREATIVES, 'getByName');
    await install(tenant);
    expect(asked).toHaveBeenCalledTimes(1);
    await install(tenant);
    await fetchToken(worker, tenant, { data: {} });
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('puts a further ad into the campaign and ad set that have the ids, whatever they are called here', async () => {
    const tenant = await createTenant(CREATING);
    await createCreative(worker, tenant, { creative: 'Own', campaign: 'Spring', adset: 'Young' });
    await give(tenant, 'campaigns', '100');
    const ad = {
      ...{ campaign_group_id: 100, campaign_group_name: 'S', campaign_id: 200, campaign_name: ' Set ' },
      ...{ adgroup_id: '300', adgroup_name: '', ad_id: null },
    };
    await install(tenant, await referrerOf(ad));
    await install(tenant, await referrerOf({ ...ad, adgroup_id: 301, adgroup_name: 'Second' }));
    expect(await everything(tenant)).toEqual({
      campaigns: [['Spring', ['100']]],
      adsets: [
        ['Young', []],
        ['Set', ['200']],
      ],
      creatives: [
        ['Own', []],
        ['Meta ad 300', ['300']],
        ['Second', ['301']],
      ],
    });
  });

  it.each(['{{campaign.name}}', '(not set)', '__CAMPAIGN_NAME__', 'null', ' undefined '])(
    'calls what Meta calls %j by its id',
    async (name) => {
      const tenant = await createTenant(CREATING);
      const ad = {
        ...{ campaign_group_id: 100, campaign_group_name: name, campaign_id: 200, campaign_name: name },
        ...{ adgroup_id: 300, adgroup_name: name },
      };
      await install(tenant, await referrerOf(ad));
      expect(await everything(tenant)).toEqual({
        campaigns: [['Meta campaign 100', ['100']]],
        adsets: [['Meta ad set 200', ['200']]],
        creatives: [['Meta ad 300', ['300']]],
      });
    },
  );

  it('takes no ids of zeros', async () => {
    const tenant = await createTenant(CREATING);
    const ad = { campaign_group_id: 0, campaign_id: '0', adgroup_id: 0, ad_id: 300, adgroup_name: 'Ad' };
    await install(tenant, await referrerOf({ ...ad, campaign_group_name: 'Spring' }));
    await install(tenant, await referrerOf({ ...ad, ad_id: 301, campaign_group_name: 'Summer' }));
    expect(await everything(tenant)).toEqual({
      campaigns: [
        ['Spring', []],
        ['Summer', []],
      ],
      adsets: [
        ['Meta', []],
        ['Meta', []],
      ],
      creatives: [
        ['Ad', ['300']],
        ['Ad', ['301']],
      ],
    });
  });

  it('gives what has the names the ids', async () => {
    const tenant = await createTenant(CREATING);
    const names = { campaign: 'Test Campaign', adset: 'AdSet1' };
    await createCreative(worker, tenant, { ...names, creative: 'Other' });
    await install(tenant);
    expect(await everything(tenant)).toEqual({
      ...CREATED,
      creatives: [['Other', []], ...CREATED.creatives],
    });
    const second = await createTenant(CREATING);
    const { id } = await createCreative(worker, second, { ...names, creative: 'Ad1' });
    expect(await creditOf(second, await install(second))).toBe(id);
    expect((await everything(second)).creatives).toEqual(CREATED.creatives);
  });

  it('leaves ids where they are', async () => {
    const tenant = await createTenant(CREATING);
    await createCreative(worker, tenant, { campaign: 'Test Campaign', adset: 'AdSet1', creative: 'Ad1' });
    const taken = await createCreative(worker, tenant, { campaign: 'B', adset: 'B', creative: 'B' });
    const body = { external_ids: [{ network: 'meta', id: OTHER_AD_ID }] };
    await worker.team(tenant, `/v1/creatives/${taken.id}`, { method: 'PATCH', body });
    expect(await creditOf(tenant, await install(tenant))).toBe(taken.id);
    expect((await everything(tenant)).creatives).toEqual([
      ['Ad1', []],
      ['B', [OTHER_AD_ID]],
    ]);
  });

  it('creates the campaign, ad group and ad of Apple Ads, which tells no names', async () => {
    const tenant = await createTenant({ ...STORES, apple_ads: true, create_from_networks: true });
    appleAnswers(APPLE_AD);
    const tokens = [await fetchIphone(worker, tenant), await fetchIphone(worker, tenant)];
    await deliverAll(worker, worker.queue.take());
    expect(await everything(tenant)).toEqual({
      campaigns: [['Apple Ads campaign 542370539', ['542370539']]],
      adsets: [['Apple Ads ad group 542317095', ['542317095']]],
      creatives: [['Apple Ads ad 542317136', ['542317136']]],
    });
    const [made] = await list(tenant, 'creatives');
    expect(made?.network).toBe('apple_ads');
    for (const token of tokens) {
      expect(await attributionOf(worker, tenant, token)).toMatchObject({
        method: 'apple_ads',
        creative_id: made?.id,
      });
    }
  });

  it('creates nothing for a test build, without a key, and by default', async () => {
    const nothing = { campaigns: [], adsets: [], creatives: [] };
    const tenant = await createTenant(CREATING);
    const asTest = await install(tenant, META_REFERRER.referrer, {}, true);
    expect(await creditOf(tenant, asTest)).toBeNull();
    expect(await everything(tenant)).toEqual(nothing);
    for (const settings of [{ ...STORES, create_from_networks: true }, KEY]) {
      const other = await createTenant(settings);
      await install(other);
      expect(await everything(other)).toEqual(nothing);
    }
  });

  it('fails an install whose ad cannot be created, and credits it when it is repeated', async () => {
    const tenant = await createTenant(CREATING);
    const failing = { create: async () => Promise.reject(new Error('D1 is down')) };
    vi.spyOn(env.CREATIVES, 'getByName').mockReturnValueOnce(failing as never);
    const body = {
      type: 'device-metrics',
      created_at: new Date().toISOString(),
      data: {
        ...{ device_name: 'Pixel', device_model: 'Pixel 9', os_system: 'Android 16', timezone: 'UTC' },
        ...{ device_id: 'one', install_referrer: META_REFERRER.referrer },
      },
    };
    const failed = await worker.post(tenant, '/fetch-token', body);
    expect([failed.status, failed.headers.get('Retry-After')]).toEqual([500, '1']);
    expect(await everything(tenant)).toEqual({ campaigns: [], adsets: [], creatives: [] });
    const answer = await worker.post(tenant, '/fetch-token', body);
    const { token } = await answer.json<{ token: string }>();
    const [made] = await list(tenant, 'creatives');
    expect(await creditOf(tenant, token)).toBe(made?.id);
    expect(await performanceBy(worker, tenant, 'creative')).toMatchObject([
      { creative_id: made?.id, installs: 1 },
    ]);
  });
});
