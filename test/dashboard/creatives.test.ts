import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { ANDROID_AGENT, follow } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { addFigures } from '../helpers/figures.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const PERIOD = 'from=2026-03-01&to=2026-03-05';
const LONG = `${'Очень длинное имя '.repeat(10)}😀`;

let tenant: Tenant;
let admin: Browser;
let cat: { id: string; path: string };
let dog: { id: string };

beforeAll(async () => {
  tenant = await createTenant();
  admin = await signedIn(worker, tenant.team, 'admin');
  cat = await createCreative(worker, tenant, { creative: 'Cat', adset: 'Young', campaign: 'Spring' });
  dog = await createCreative(worker, tenant, { creative: 'Dog', adset: 'Old', campaign: 'Spring' });
  await createCreative(worker, tenant, { creative: LONG, adset: 'Old', campaign: 'Autumn' });
  await admin.post(`/creatives/${dog.id}/archive`, { archived: 'yes' });
  const { id } = tenant.application;
  const day = { day: '2026-03-02', currency: 'usd' };
  await addFigures(env.DB, id, 'rollup_daily', [
    { ...day, creative_id: cat.id, clicks: 10, installs: 4, purchase_revenue: 3_000_000 },
    { ...day, creative_id: '', installs: 1, purchase_revenue: 5_000_000 },
  ]);
  await env.DB.prepare(
    `INSERT INTO costs (application_id, day, campaign, adset, creative, currency, amount, updated_at)
     VALUES (?1, '2026-03-02', 'Spring', 'Young', 'Cat', 'usd', 2000000, 0)`,
  )
    .bind(id)
    .run();
});

async function list(query: string, browser = admin) {
  const answer = await browser.get(`/creatives?app=${tenant.application.id}&${PERIOD}&${query}`);
  expect(answer.status).toBe(200);
  const html = await answer.text();
  const rows = [...html.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    row.replaceAll(/<[^>]+>/g, '|').replaceAll(/\|+/g, '|'),
  );
  const names = [...html.matchAll(/<a class="cut"[^>]*>([^<]*)</g)].map(([, name]) => name);
  return { html, names, rows };
}

it('lists every creative, silent and archived ones too, with the figures of the API', async () => {
  const { names, rows } = await list('');
  expect(names).toEqual(['Cat', LONG, 'Dog']);
  expect(rows[1]).toMatch(/^\|Cat\|Spring › Young\|Active\|.*10\|4\|\$2\.00\|/);
  expect(rows[2]).toMatch(/\|–\|–\|–\|–\|–\|–\|/);
  expect(rows[3]).toContain('|Archived|');
  expect(rows.at(-1)).toContain('|Total, including organic|');
  expect(rows.at(-1)).toContain('|$8.00|');
});

it('sums up what a search found, and nothing else', async () => {
  const found = (await list('q=cat')).rows.at(-1);
  expect(found).toContain('|Total of matches|');
  expect(found).toContain('|10|4|$2.00|$0.50|$3.00|');
  expect((await list('q=dog')).html).not.toContain('Total of matches');
});

it('leads from the form to the page of the new creative, which a reload does not create again', async () => {
  const made = await createTenant();
  const browser = await signedIn(worker, made.team, 'admin');
  const answer = await browser.post('/creatives', { creative: 'New', campaign: 'C', adset: 'A' });
  expect(answer.status).toBe(303);
  const page = await (await browser.get(answer.headers.get('Location') ?? '')).text();
  expect(page).toContain('Use its tracking link as the destination of your ad');
  expect(page).toContain('<h2>New</h2>');
});

it('cuts long names, which are whole in their title', async () => {
  expect((await list('')).html).toContain(`title="${LONG}"`);
});

it.each([
  ['status=archived', ['Dog']],
  ['status=active', ['Cat', LONG]],
  ['status=silent', [LONG, 'Dog']],
  ['q=spring', ['Cat', 'Dog']],
  ['q=CAT', ['Cat']],
  ['sort=name', ['Cat', 'Dog', LONG]],
  ['sort=-created', [LONG, 'Dog', 'Cat']],
  ['by=campaign&sort=name', ['Autumn', 'Spring']],
  ['by=adset&sort=name', ['Old', 'Old', 'Young']],
])('%s lists %j', async (query, expected) => {
  expect((await list(query)).names).toEqual(expected);
});

it('goes down from a campaign to its ad sets to their creatives', async () => {
  const down = async (query: string, name: string) => {
    const { html } = await list(query);
    const [, href = ''] = new RegExp(`href="/creatives\\?([^"]*)" title="${name}"`).exec(html) ?? [];
    return href.replaceAll('&amp;', '&');
  };
  const adsets = await down('by=campaign', 'Spring');
  expect((await list(`${adsets}&sort=name`)).names).toEqual(['Old', 'Young']);
  expect((await list(await down(adsets, 'Young'))).names).toEqual(['Cat']);
});

it('shows a set of columns, and the file has the same rows, order and columns', async () => {
  const { html } = await list('set=monetisation');
  expect(html).toContain('>ARPDAU</a>');
  expect(html).not.toContain('>CPI</a>');
  const csv = (await list('format=csv&sort=name&status=silent')).html.trimEnd().split('\r\n');
  expect(csv[0]).toBe('campaign,adset,creative,creative_id,archived,clicks,installs,spend,cpi,revenue,roas');
  expect(csv.slice(1).map((line) => line.split(',').slice(0, 3).join())).toEqual([
    'Spring,Old,Dog',
    `Autumn,Old,${LONG}`,
  ]);
});

it('says that a store URL is missing, to an admin with the way to add it', async () => {
  expect((await list('')).html).toContain('has no URL for Google Play or the App Store');
  const made = await createTenant({
    android_store_url: 'https://play.google.com/store/apps/details?id=a',
    ios_store_url: 'https://apps.apple.com/app/id1',
  });
  const browser = await signedIn(worker, made.team, 'viewer');
  const page = await (await browser.get('/creatives')).text();
  expect(page).not.toContain('has no URL');
  expect(page).toContain('No creatives yet.');
});

it('a creative’s page shows its figures, its link as a code, and nothing of another’s', async () => {
  const page = await (await admin.get(`/creatives/${cat.id}?${PERIOD}`)).text();
  for (const text of [
    'Spring › Young',
    '<svg',
    'Test this link',
    '$2.00',
    'Retention and LTV',
    'No click in',
  ])
    expect(page).toContain(text);
  expect(page).toContain(cat.path);
  const stranger = await signedIn(worker, (await createTenant()).team, 'owner');
  expect((await stranger.get(`/creatives/${cat.id}`)).status).toBe(404);
  expect((await stranger.get(`/creatives/${cat.id}/clicks`)).status).toBe(404);
});

it('tells when a test click arrives', async () => {
  const latest = async () => (await admin.get(`/creatives/${cat.id}/clicks`)).json();
  expect(await latest()).toEqual({ clicked_at: null, os: null, country: null });
  const before = Date.now();
  const { messages } = await follow(worker, cat.path, ANDROID_AGENT, '203.0.113.9', 'DE');
  expect(await latest()).toMatchObject({ clicked_at: null });
  await worker.deliver(messages);
  const click = (await latest()) as { clicked_at: number };
  expect(click).toMatchObject({ os: 'android', country: 'de' });
  expect(click.clicked_at).toBeGreaterThanOrEqual(before);
  expect(await (await admin.get(`/creatives/${dog.id}/clicks`)).json()).toMatchObject({ clicked_at: null });
  expect(await (await admin.get(`/creatives/${cat.id}`)).text()).toMatch(/Last click \d+ s ago/);
});

it('shows 50 of 2,000 creatives at a time in less than 300 KB, every one of them on some page', async () => {
  const made = await createTenant();
  const browser = await signedIn(worker, made.team, 'admin');
  await createCreative(worker, made, { creative: 'First', adset: 'A', campaign: 'C' });
  await env.DB.prepare(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1999)
     INSERT INTO creatives (id, application_id, adset_id, name, token, created_at)
     SELECT 'crt_' || printf('%032x', n), application_id, adset_id, 'Creative ' || n, token || n, n
     FROM creatives, numbers WHERE application_id = ?1`,
  )
    .bind(made.application.id)
    .run();
  const { results } = await env.DB.prepare(
    `SELECT id, created_at AS number FROM creatives WHERE application_id = ?1 AND name <> 'First'`,
  )
    .bind(made.application.id)
    .all<{ id: string; number: number }>();
  const figures = results.map(({ id, number }) => ({
    ...{ day: '2026-03-02', creative_id: id, currency: 'usd' },
    installs: 1,
    purchase_revenue: number * 1_000_000,
  }));
  await addFigures(env.DB, made.application.id, 'rollup_daily', figures);
  const seen = new Set<string>();
  for (let page = 1; page <= 40; page++) {
    const answer = await browser.get(`/creatives?${PERIOD}&page=${page}&set=all`);
    const html = await answer.text();
    expect(html.length).toBeLessThan(300 * 1024);
    const names = [...html.matchAll(/<a class="cut"[^>]*>([^<]*)</g)].map(([, name = '']) => name);
    expect(names).toHaveLength(50);
    if (page === 1) expect(names[0]).toBe('Creative 1999');
    for (const name of names) seen.add(name);
  }
  expect(seen.size).toBe(2_000);
});
