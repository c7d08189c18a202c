import { expect, it } from 'vitest';
import { ANDROID_AGENT, ANDROID_METRICS, follow, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { putCosts } from '../helpers/money.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const today = () => new Date().toISOString().slice(0, 10);

type Row = Record<string, unknown>;

async function report(tenant: Tenant, what: string, query: string): Promise<Row[]> {
  const path = `/v1/reports/${what}?application_id=${tenant.application.id}&from=2026-01-01&to=${today()}&${query}`;
  const answer = await worker.team(tenant, path);
  const body: { data: Row[] } = await answer.json();
  if (answer.status !== 200) throw new Error(JSON.stringify(body));
  return body.data;
}

const sorted = (rows: Row[], by: string) =>
  rows.toSorted((a, b) => String(a[by]).localeCompare(String(b[by])));

/** Two creatives in one ad set, one in another campaign, and an organic device; each device sees one ad. */
async function history() {
  const tenant = await createTenant(STORES);
  const creatives = [
    await createCreative(worker, tenant, { creative: 'Dragon', campaign: 'A', adset: 'x' }),
    await createCreative(worker, tenant, { creative: 'Knight', campaign: 'A', adset: 'x' }),
    await createCreative(worker, tenant, { creative: 'Dragon', campaign: 'B', adset: 'x' }),
  ];
  const tokens = [await fetchToken(worker, tenant)];
  for (const [index, { path }] of creatives.entries()) {
    for (let click = 0; click <= index; click++) {
      const { clickId, messages } = await follow(worker, path, ANDROID_AGENT);
      await worker.deliver(messages);
      if (click > 0) continue;
      tokens.push(await fetchToken(worker, tenant, { data: { ...ANDROID_METRICS, click_id: clickId } }));
    }
  }
  for (const [index, creativeToken] of tokens.entries()) {
    await worker.post(tenant, '/webhook', {
      type: 'custom.ad',
      created_at: new Date().toISOString(),
      creativeToken,
      payload: { ad_id: 'main', source: 'banner', value: 0.001 * 10 ** index, currency: 'usd' },
    });
  }
  await worker.deliver(worker.queue.take());
  return { tenant, creatives };
}

it('credits clicks, installs and revenue to creative, ad set and campaign, with organic separate', async () => {
  const { tenant, creatives } = await history();
  const organic = { clicks: 0, installs: 1, dau: expect.any(Number), revenue: 0.001 };
  const byCreative = await report(tenant, 'performance', 'group_by=creative');
  expect(sorted(byCreative, 'revenue')).toEqual([
    expect.objectContaining({ creative: null, creative_id: null, ...organic }),
    expect.objectContaining({
      creative: 'Dragon',
      creative_id: creatives[0]?.id,
      clicks: 1,
      installs: 1,
      revenue: 0.01,
    }),
    expect.objectContaining({
      creative: 'Knight',
      creative_id: creatives[1]?.id,
      clicks: 2,
      installs: 1,
      revenue: 0.1,
    }),
    expect.objectContaining({
      creative: 'Dragon',
      creative_id: creatives[2]?.id,
      clicks: 3,
      installs: 1,
      revenue: 1,
    }),
  ]);
  const byCampaign = await report(tenant, 'performance', 'group_by=campaign');
  expect(sorted(byCampaign, 'campaign')).toEqual([
    expect.objectContaining({
      campaign: 'A',
      campaign_id: expect.stringMatching(/^cmp_/),
      clicks: 3,
      installs: 2,
      revenue: 0.11,
    }),
    expect.objectContaining({ campaign: 'B', clicks: 3, installs: 1, revenue: 1 }),
    expect.objectContaining({ campaign: null, campaign_id: null, ...organic }),
  ]);
  const byAdset = await report(tenant, 'performance', 'group_by=adset');
  expect(sorted(byAdset, 'revenue')).toMatchObject([
    { adset: null, adset_id: null },
    { adset: 'x', clicks: 3, revenue: 0.11 },
    { adset: 'x', clicks: 3, revenue: 1 },
  ]);
  const both = await report(tenant, 'performance', 'group_by=campaign,creative');
  expect(both).toHaveLength(4);
  const bySource = await report(tenant, 'performance', 'group_by=source,creative');
  expect(sorted(bySource, 'ad_revenue').at(-1)).toMatchObject({
    source: 'banner',
    creative: 'Dragon',
    creative_id: creatives[2]?.id,
    clicks: null,
    impressions: 1,
  });
});

it.each(['creative', 'adset', 'campaign'])('gives retention by %s', async (group) => {
  const { tenant } = await history();
  const rows = await report(tenant, 'retention', `group_by=${group}&days=0`);
  const sizes = { creative: [1, 1, 1, 1], adset: [1, 1, 2], campaign: [1, 1, 2] }[group];
  expect(rows.map(({ size }) => size).toSorted()).toEqual(sizes);
  expect(rows.filter((row) => row[group] === null && row[`${group}_id`] === null)).toHaveLength(1);
  const [all, ...others] = await report(tenant, 'retention', 'days=0');
  expect([all?.size, all?.creative, others]).toEqual([4, null, []]);
});

it('shows no creative of another application', async () => {
  const [mine, other] = [await createTenant(STORES), await createTenant(STORES)];
  const { path, id } = await createCreative(worker, other, { creative: 'Secret' });
  await worker.deliver((await follow(worker, path, ANDROID_AGENT)).messages);
  expect(await report(mine, 'performance', 'group_by=creative')).toEqual([]);
  const path404 = `/v1/reports/performance?application_id=${other.application.id}&from=${today()}&to=${today()}&group_by=creative`;
  expect((await worker.team(mine, path404)).status).toBe(404);
  expect(await report(other, 'performance', 'group_by=creative')).toMatchObject([
    { creative_id: id, clicks: 1 },
  ]);
});

it('assigns a cost without an ad set to the creative of that name', async () => {
  const { tenant, creatives } = await history();
  await putCosts(worker, tenant, [
    { date: today(), campaign: 'A', creative: 'Knight', amount: 5 },
    { date: today(), campaign: 'A', adset: 'other', creative: 'Knight', amount: 7 },
    { date: today(), campaign: 'B', creative: 'Knight', amount: 11 },
  ]);
  const byCreative = await report(tenant, 'performance', 'group_by=creative');
  const spent = byCreative.filter(({ spend }) => spend !== 0);
  expect(
    sorted(spent, 'spend').map(({ creative, creative_id, spend }) => [creative, creative_id, spend]),
  ).toEqual([
    ['Knight', null, 18],
    ['Knight', creatives[1]?.id, 5],
  ]);
});

it('has the ROAS of an ad set in the totals by creative although its spend names no creative', async () => {
  const { tenant, creatives } = await history();
  await putCosts(worker, tenant, [{ date: today(), campaign: 'A', adset: 'x', amount: 0.1 }]);
  const rows = await report(tenant, 'performance', `group_by=adset&creative_id=${creatives[0]?.id}`);
  const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=${today()}&to=${today()}`;
  const answer = await worker.team(tenant, `${path}&group_by=creative&adset_id=${rows[0]?.adset_id}`);
  const { totals }: { totals: Row } = await answer.json();
  expect(totals).toMatchObject({
    spend: 0.1,
    roas: expect.closeTo(1.1, 9),
    roas_blended: expect.closeTo(1.1, 9),
  });
});

it('assigns a cost without an ad set to the oldest of several creatives of that name', async () => {
  const tenant = await createTenant();
  const names = { campaign: 'Spring', creative: 'Cat' };
  const oldest = await createCreative(worker, tenant, { ...names, adset: 'Wide' });
  await createCreative(worker, tenant, { ...names, adset: 'Narrow' });
  await putCosts(worker, tenant, [{ date: today(), ...names, amount: 5 }]);
  const rows = await report(tenant, 'performance', 'group_by=creative');
  expect(rows.map(({ creative_id, spend }) => [creative_id, spend])).toEqual([[oldest.id, 5]]);
});
