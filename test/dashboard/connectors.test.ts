import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { beforeEach, expect, it } from 'vitest';
import { database, connectors as table } from '#db';
import { addDays, dayIn } from '#lib/time';
import { runConnector } from '../../src/connectors/run.ts';
import { connectorRow, noSleep, StandIn } from '../connectors/stand-in.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const YESTERDAY = addDays(dayIn('UTC', Date.now()), -1);
const FORM = {
  kind: 'applovin',
  'settings.account_name': 'Mine',
  'settings.campaign_contains': '',
  'credentials.report_key': 'secret-report-key',
};
const MAX_FORM = {
  kind: 'max',
  'settings.application': 'com.example.game',
  'settings.platform': 'android',
  'credentials.report_key': 'secret-report-key',
};

beforeEach(() => database(env.DB).delete(table));

const signedInTenant = async () => {
  const tenant = await createTenant();
  return { tenant, admin: await signedIn(worker, tenant.team, 'admin') };
};

it('adds connectors of both kinds, names what is wrong with one, and shows no key', async () => {
  const { admin } = await signedInTenant();
  expect((await pageOf(await admin.get('/connectors'))).cards).toEqual([
    'Connectors',
    ...['Meta Ads', 'TikTok Ads', 'AppLovin', 'Google Ads', 'your own address'].map(
      (name) => `Add costs of ${name}`,
    ),
    ...['Add ad revenue of AppLovin MAX', 'Add ad revenue of Unity LevelPlay'],
  ]);
  const ids = (await pageOf(await admin.get('/connectors'))).all('[id]').map((one) => one.getAttribute('id'));
  expect(ids).toEqual([...new Set(ids)]);
  const refused = await pageOf(await admin.post('/connectors', { ...MAX_FORM, 'settings.platform': 'web' }));
  expect(refused.card('Add ad revenue of AppLovin MAX').texts('.fault')).toEqual([
    'Platform: android, ios or fireos must be one of android, ios, fireos',
  ]);
  await admin.submit('/connectors', MAX_FORM);
  const added = await pageOf(await admin.submit('/connectors', FORM));
  expect(added.notices).toContain('Added. It runs within a minute.');
  expect(added.text).not.toContain('secret-report-key');
  expect(added.cells('Connectors', 'From', 'What', 'Account or app', 'State')).toEqual([
    ['AppLovin MAX', 'Ad revenue', 'com.example.game · android', 'Due'],
    ['AppLovin', 'Costs', 'Mine', 'Due'],
  ]);
});

it('shows what a run changed and how far a backfill is, and removes a connector', async () => {
  const { admin } = await signedInTenant();
  await admin.submit('/connectors', FORM);
  const [row] = await database(env.DB).select().from(table).where(eq(table.kind, 'applovin')).limit(1);
  const id = row?.id ?? '';
  const standIn = new StandIn();
  standIn.ledger = [
    { date: YESTERDAY, campaign: 'Spring', adset: 'A', ad: 'B', country: 'DE', cents: 1_250 },
  ];
  await runConnector(env, await connectorRow(id), Date.now(), standIn.fetch, noSleep);
  const path = `/connectors/${id}`;
  const shown = await pageOf(await admin.get(path));
  expect(shown.card('State').text).toMatch(
    /7 days replaced, 1 of them changed; 1 row; nothing before, \$12\.50 now/,
  );
  const costs = await pageOf(await admin.get('/costs'));
  expect(costs.card('Ledger').texts(`a[href^="${path}"]`)).toEqual(['Fetched']);

  const [from, to] = [addDays(YESTERDAY, -9), YESTERDAY];
  const refused = await pageOf(await admin.post(`${path}/backfill`, { from, to: addDays(YESTERDAY, 3) }));
  expect(refused.card('Read past days again').texts('.fault')).toEqual([
    `To must not be after ${YESTERDAY}, the last day that is complete`,
  ]);
  await admin.post(`${path}/backfill`, { from, to });
  await runConnector(env, await connectorRow(id), Date.now(), standIn.fetch, noSleep);
  const filling = await pageOf(await admin.get(path));
  expect(filling.card('Read past days again').text).toContain('7 of 10 days done');

  standIn.failures = [[/./, () => new Response('Invalid key', { status: 403 })]];
  await runConnector(env, await connectorRow(id), Date.now(), standIn.fetch, noSleep);
  const failing = await pageOf(await admin.get(path));
  expect(failing.notices).toContain('The last run failed: AppLovin answered 403: Invalid key');
  expect((await pageOf(await admin.submit(`${path}/run`))).notices).toContain('It runs within a minute.');
  expect(failing.one('form[data-confirm]').getAttribute('data-confirm')).toBe(
    'Remove AppLovin and the costs that it fetched?',
  );
  expect((await pageOf(await admin.submit(`${path}/delete`))).cards).toContain('Add costs of AppLovin');
  expect((await admin.get(path)).status).toBe(404);
});

it('replaces the credentials of a connector that fails, and names what is wrong with them', async () => {
  const { admin } = await signedInTenant();
  await admin.submit('/connectors', FORM);
  const [row] = await database(env.DB).select().from(table);
  const path = `/connectors/${row?.id}`;
  const standIn = new StandIn();
  standIn.failures = [[/./, () => new Response('Invalid key', { status: 403 })]];
  await runConnector(env, await connectorRow(row?.id ?? ''), Date.now(), standIn.fetch, noSleep);
  const refused = await pageOf(await admin.post(`${path}/credentials`, { 'credentials.report_key': '' }));
  expect(refused.card('Replace credentials').texts('.fault')).toEqual(['Report key is required']);
  expect(refused.notices).toContain('The last run failed: AppLovin answered 403: Invalid key');
  const done = await pageOf(
    await admin.submit(`${path}/credentials`, { 'credentials.report_key': 'the-new-report-key' }),
  );
  expect(done.notices).toEqual(['It runs within a minute.']);
  expect(done.text).not.toContain('the-new-report-key');
  await runConnector(env, await connectorRow(row?.id ?? ''), Date.now(), standIn.fetch, noSleep);
  expect(standIn.requests.at(-1)).toContain('the-new-report-key');
});

it('lets a viewer see connectors and change nothing', async () => {
  const { tenant, admin } = await signedInTenant();
  await admin.submit('/connectors', FORM);
  const viewer = await signedIn(worker, tenant.team, 'viewer');
  const page = await pageOf(await viewer.get('/connectors'));
  expect(page.cards).toEqual(['Connectors']);
  const [link] = page.all('tbody a').map((a) => a.getAttribute('href') ?? '');
  expect((await pageOf(await viewer.get(link ?? ''))).cards).toEqual(['State']);
  const one = link?.split('?')[0];
  for (const path of ['/connectors', `${one}/delete`, `${one}/credentials`]) {
    expect((await viewer.post(path, FORM)).status).toBe(403);
  }
  const stranger = await signedIn(worker, (await createTenant()).team, 'admin');
  expect((await stranger.get(link?.split('?')[0] ?? '')).status).toBe(404);
});
