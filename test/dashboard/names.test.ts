import { expect, it } from 'vitest';
import { groupName } from '../../src/dashboard/tables/groups.tsx';
import { createCreative } from '../helpers/creatives.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
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
