import { beforeAll, describe, expect, it } from 'vitest';
import { groupName } from '../../src/dashboard/tables/groups.tsx';
import { createCreative } from '../helpers/creatives.ts';
import { type Page, pageOf, queryOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();

it.each([
  ['media_source', 'admob', 'AdMob'],
  ['media_source', 'unity_ads', 'Unity Ads'],
  ['media_source', 'ironsource', 'ironSource'],
  ['media_source', 'our_own_network', 'our_own_network'],
  ['media_source', 'constructor', 'constructor'],
  ['media_source', '', 'None'],
  ['source', 'rewarded_video', 'Rewarded video'],
  ['source', 'shelf', 'shelf'],
])('calls the %s “%s” “%s”', (name, value, text) => {
  expect(groupName(name, { [name]: value })).toBe(text);
});

it('has one name for the product, in the sign-in and the documentation', async () => {
  // Before its first member a deployment shows the setup instead.
  await signedIn(worker, (await createTenant()).team, 'owner');
  const signIn = await pageOf(await worker.request('/login'));
  expect([signIn.texts('title'), signIn.texts('.product')]).toEqual([
    ['Sign in · Attribution'],
    ['Attribution'],
  ]);
  expect((await pageOf(await worker.request('/docs'))).texts('title')).toEqual(['Attribution API']);
  const document = (await (await worker.request('/openapi.json')).json()) as { info: { title: string } };
  expect(document.info.title).toBe('Attribution API');
});

it('cuts the name of a new creative in a chart’s note, between characters', async () => {
  const made = await createTenant();
  const browser = await signedIn(worker, made.team, 'viewer');
  await fetchToken(worker, made);
  await createCreative(worker, made, { creative: `${'😀'.repeat(39)} and more` });
  const { notes } = (await pageOf(await browser.get('/?metric=dau'))).card('DAU by day').chart;
  expect(notes.at(-1)).toBe(`new creative ${'😀'.repeat(39)}…`);
});

describe('names from right to left', () => {
  const HEBREW = `קמפיין ${'א'.repeat(40)} סוף 2024 (ב)`;
  const ARABIC = 'إعلان 1: لعبة (جديد)';
  const CUT = `${HEBREW.slice(0, 26)}…${HEBREW.slice(-14)}`;
  let browser: Awaited<ReturnType<typeof signedIn>>;
  const ISOLATED = `\u2068${ARABIC}\u2069`;
  let made: Tenant;
  let creativeId: string;
  let campaignId: string;

  beforeAll(async () => {
    made = await createTenant();
    browser = await signedIn(worker, made.team, 'viewer');
    const names = { creative: ARABIC, adset: 'Ad set', campaign: HEBREW };
    const creative = await createCreative(worker, made, names);
    creativeId = creative.id;
    const creativeToken = await fetchToken(worker, made, { data: { creative_token: creative.token } });
    const payload = { item_id: 'a', value: 5, currency: 'usd', status: 'completed', tr_id: 'a' };
    const created_at = new Date().toISOString();
    await worker.post(made, '/webhook', { type: 'custom.purchase', created_at, creativeToken, payload });
    await worker.deliver(worker.queue.take());
    await settleAll(made.application.id);
    const rows = await pageOf(await browser.get('/creatives?by=campaign&period=7d'));
    campaignId = queryOf(rows.links.get(CUT) ?? '').campaign_id ?? '';
  });

  /** The isolated text of every element with a part of the name, so that what is around it keeps its place. */
  const isolated = (page: Page, name: string) =>
    page
      .all('main *')
      .filter((one) => one.childNodes.some((child) => child.nodeType === 3 && child.text.trim() === name))
      .map((one) => one.tagName === 'BDI' || one.getAttribute('dir') === 'auto');

  it.each([
    ['in the list of creatives', () => '/creatives?period=7d', [ARABIC, CUT]],
    ['in a heading and what is above it', () => `/creatives/${creativeId}?period=7d`, [ARABIC]],
    ['in a table, bars and their cells', () => '/breakdown?by=campaign&period=7d', [CUT]],
    ['in the names beside curves', () => '/breakdown?by=day&and=campaign&period=7d', [CUT]],
    ['in a filter', () => `/breakdown?campaign_id=${campaignId}&period=7d`, [CUT]],
    ['in the funnels of groups', () => '/funnels?steps=install&group=creative&period=7d', [ARABIC]],
    ['among the values of a filter', () => '/filters?kind=campaign_id&back=/', [CUT]],
  ])('are isolated and cut in the middle %s', async (_, address, names) => {
    const page = await pageOf(await browser.get(address()));
    for (const name of names) {
      const found = isolated(page, name);
      expect([name, found.length > 0, found.every(Boolean)]).toEqual([name, true, true]);
    }
    expect(isolated(page, HEBREW)).toEqual([]);
  });

  it('keep their place in the notes of a chart and in the sentences of a comparison', async () => {
    const { notes } = (await pageOf(await browser.get('/?metric=dau'))).card('DAU by day').chart;
    expect(notes.at(-1)).toBe(`new creative ${ISOLATED}`);
    const names = { creative: 'Dog', adset: 'Ad set', campaign: 'Spring' };
    const { id } = await createCreative(worker, made, names);
    const page = await pageOf(await browser.get(`/compare?a=${creativeId}&b=${id}&period=7d`));
    const [mine, other] = [`${ISOLATED} (\u2068${HEBREW}\u2069 › Ad set)`, 'Dog (Spring › Ad set)'];
    expect(page.cards).toEqual([`${mine} against ${other}`]);
    expect(page.card(`${mine} against ${other}`).texts('p.muted')).toEqual([
      'A has 1 device, B has 0 devices.',
    ]);
    expect(page.texts('#field-a option')).toContain(mine);
  });
});
