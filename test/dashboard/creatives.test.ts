import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { ANDROID_AGENT, follow, STORES } from '../helpers/clicks.ts';
import { addCreatives, createCreative } from '../helpers/creatives.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { addFigures } from '../helpers/figures.ts';
import { Page, pageOf, queryOf, textOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { slowIt } from '../helpers/thorough.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

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
    { ...day, creative_id: cat.id, clicks: 10, installs: 4, purchase_revenue: 3_000_000_000 },
    { ...day, creative_id: '', installs: 1, purchase_revenue: 5_000_000_000 },
    // The five days before the period.
    { day: '2026-02-25', currency: 'usd', creative_id: cat.id, installs: 8, purchase_revenue: 1_000_000_000 },
    { day: '2026-02-28', currency: 'usd', creative_id: dog.id, installs: 2, purchase_revenue: 7_000_000_000 },
  ]);
  await env.DB.prepare(
    `INSERT INTO costs (application_id, day, campaign, adset, creative, currency, amount, updated_at)
     VALUES (?1, '2026-03-02', 'Spring', 'Young', 'Cat', 'usd', 2000000000, 0)`,
  )
    .bind(id)
    .run();
});

async function list(query: string) {
  const answer = await admin.get(`/creatives?app=${tenant.application.id}&${PERIOD}&${query}`);
  expect(answer.status).toBe(200);
  const page = await pageOf(answer);
  const names = page.all('a.cut').map((link) => link.getAttribute('title'));
  return { page, names };
}

const FIGURES = ['Clicks', 'Installs', 'Spend', 'CPI', 'Revenue'];
const TOTALS = ['Total, including organic and unmatched spend', ''];
const OTHER_TOTALS = ['10', '5', '$2.00', '$0.50', '$6.00', '0%', ''];

it('lists every creative, silent and archived ones too, with the figures of the API', async () => {
  const { page } = await list('');
  expect(page.cells('Creatives', 'Creative', ...FIGURES)).toEqual([
    ['Cat Spring › Young', '10', '4', '$2.00', '$0.50', '$3.00 ▲ 200% more than $1.00'],
    ['Очень длинное имя Очень дл…длинное имя 😀 Autumn › Old', '–', '–', '–', '–', '–'],
    ['Dog Spring › Old Archived', '–', '–', '–', '–', '– ▼ $7.00 less than $7.00'],
  ]);
  expect(page.table('Creatives').totals).toEqual([
    ...TOTALS,
    '$8.00 0% as much as $8.00 before',
    ...OTHER_TOTALS,
  ]);
});

it('shows what each had before, and its change, of the metric that the list is sorted by', async () => {
  const { page } = await list('');
  expect(page.texts('.card-foot .muted')).toEqual(['1 Mar – 5 Mar compared with 24 Feb – 28 Feb']);
  expect(page.table('Creatives').headings.slice(2)).toEqual([
    ...['Revenue', 'Clicks', 'Installs', 'Spend', 'CPI', 'Profit', 'ROAS', 'Created'],
  ]);
  expect(page.cells('Creatives', 'Revenue')).toEqual([
    ['$3.00 ▲ 200% more than $1.00'],
    ['–'],
    // Without any data in this period.
    ['– ▼ $7.00 less than $7.00'],
  ]);
  const byInstalls = (await list('sort=-installs')).page;
  expect(byInstalls.cells('Creatives', 'Installs')[0]).toEqual(['4 ▼ 50.0% less than 8']);
  const campaigns = (await list('by=campaign&sort=name')).page;
  expect(campaigns.cells('Campaigns', 'Revenue')[1]).toEqual(['$3.00 ▼ 62.5% less than $8.00']);
  const alone = (await list('compare=none')).page;
  expect(alone.all('.changed, .also')).toEqual([]);
  expect(alone.table('Creatives').totals).toEqual([...TOTALS, '$8.00', ...OTHER_TOTALS]);
});

it('compares the total of each metric, of everything and of matches', async () => {
  const totalsOf = async (query: string) => (await list(query)).page.table('Creatives').totals;
  // After the link: installs, clicks, spend.
  expect((await totalsOf('sort=installs')).slice(1, 5)).toEqual([
    '',
    '5 ▼ 50.0% less than 10',
    '10',
    '$2.00',
  ]);
  expect((await totalsOf('q=spring&sort=installs')).slice(0, 4)).toEqual([
    ...['Total of matches', '', '4 ▼ 60.0% less than 10', '10'],
  ]);
  expect((await totalsOf('q=young&sort=installs')).slice(2, 3)).toEqual(['4 ▼ 50.0% less than 8']);
});

it('orders by the change of a metric, by link, heading and file', async () => {
  const { page, names } = await list('sort=-revenue_change');
  expect(names).toEqual(['Cat', LONG, 'Dog']);
  expect(page.cells('Creatives', 'Revenue')).toEqual([
    ['$3.00 ▲ 200% more than $1.00'],
    ['–'],
    ['– ▼ $7.00 less than $7.00'],
  ]);
  expect(page.all('th[aria-sort]').map((head) => [textOf(head), head.getAttribute('aria-sort')])).toEqual([
    ['Revenue change', 'descending'],
  ]);
  const sortOf = (heading: string) => new Page(page.one('thead')).query(heading).sort;
  expect([sortOf('change'), sortOf('Installs')]).toEqual(['revenue_change', '-installs']);
  expect((await list('sort=revenue_change')).names).toEqual(['Dog', LONG, 'Cat']);
  expect((await list('sort=-installs_before')).names).toEqual(['Cat', 'Dog', LONG]);
  expect((await list('by=campaign&sort=revenue_change')).names).toEqual(['Spring', 'Autumn']);
  const file = await admin.get(
    `/creatives?app=${tenant.application.id}&${PERIOD}&format=csv&sort=revenue_change`,
  );
  const rows = (await file.text()).trimEnd().split('\r\n').slice(1);
  expect(rows.map((line) => line.split(',').slice(-3, -1))).toEqual([
    ['7', '-7'],
    ['0', '0'],
    ['1', '2'],
  ]);
  // Without a comparison, and with a metric that the columns lack, what is left is the metric and its direction.
  expect((await list('sort=revenue_change&compare=none')).names).toEqual(['Cat', LONG, 'Dog']);
  expect((await list('sort=-clicks_change&set=monetisation')).names).toEqual(['Cat', LONG, 'Dog']);
});

it('sums up the matches of a search only', async () => {
  const found = (await list('q=cat')).page.table('Creatives');
  expect(found.totals).toEqual([
    ...['Total of matches', '', '$3.00 ▲ 200% more than $1.00'],
    ...['10', '4', '$2.00', '$0.50', '$1.00', '0%', ''],
  ]);
  expect((await list('q=dog')).page.table('Creatives').totals).toEqual([]);
});

it('redirects from the form to the new creative, so that a reload does not create it again', async () => {
  const made = await createTenant();
  const browser = await signedIn(worker, made.team, 'admin');
  const answer = await browser.post('/creatives', { creative: 'New', campaign: 'C', adset: 'A' });
  expect(answer.status).toBe(303);
  const page = await pageOf(await browser.get(answer.headers.get('Location') ?? ''));
  expect(page.notices).toEqual([
    'Created. Use its tracking link as the destination of your ad.',
    'Test game has no URL for Google Play or the App Store, so tracking links take nobody to a store. Add the store URL',
  ]);
  expect(page.texts('h1')).toEqual(['New']);
  expect(page.cards).toEqual([
    'This period',
    'Revenue by day',
    'By day',
    'ROAS by age',
    'Retention and LTV',
    'Deep link and preview',
    'IDs at networks',
    'Links for networks',
    'Links for a network’s servers',
    'Test this link',
  ]);
});

it('shortens long names, and has them in full in their title', async () => {
  const titles = (await list('')).page.all('a.cut').map((link) => link.getAttribute('title'));
  expect(titles).toEqual(['Cat', LONG, 'Dog']);
});

it.each([
  ['status=archived', ['Dog']],
  ['status=active', ['Cat', LONG]],
  ['status=silent', [LONG, 'Dog']],
  ['q=spring', ['Cat', 'Dog']],
  ['q=CAT', ['Cat']],
  ['sort=name', ['Cat', 'Dog', LONG]],
  ['sort=-created', [LONG, 'Dog', 'Cat']],
  // A metric that the set of columns does not have.
  ['sort=-purchase_revenue', ['Cat', LONG, 'Dog']],
  ['by=campaign&sort=name', ['Autumn', 'Spring']],
  ['by=adset&sort=name', ['Old', 'Old', 'Young']],
])('%s lists %j', async (query, expected) => {
  expect((await list(query)).names).toEqual(expected);
});

it('goes down from a campaign to its ad sets to their creatives', async () => {
  const campaigns = (await list('by=campaign')).page;
  const adsets = (await list(`${new URLSearchParams(campaigns.query('Spring'))}&sort=name`)).page;
  expect(adsets.table('Ad sets').rows.map(([name]) => name)).toEqual(['Old Spring', 'Young Spring']);
  const { names } = await list(`${new URLSearchParams(adsets.query('Young'))}`);
  expect(names).toEqual(['Cat']);
});

it('shows a set of columns, and the file has the same rows, order and columns', async () => {
  const { page } = await list('set=monetisation');
  expect(page.table('Creatives').headings).toEqual([
    'Creative',
    'Link',
    'Revenue',
    'Ad revenue',
    'Purchase revenue',
    'Payers',
    'DAU',
    'ARPDAU',
    'eCPM',
    'Created',
  ]);
  const file = await admin.get(
    `/creatives?app=${tenant.application.id}&${PERIOD}&format=csv&sort=name&status=silent`,
  );
  const csv = (await file.text()).trimEnd().split('\r\n');
  expect(csv[0]).toBe(
    'campaign,adset,creative,creative_id,network,archived,clicks,installs,spend,cpi,revenue,profit,roas,revenue_before,revenue_change,unconverted',
  );
  expect(csv[1]?.split(',').slice(-3, -1)).toEqual(['7', '-7']);
  expect(csv.slice(1).map((line) => line.split(',').slice(0, 3).join())).toEqual([
    'Spring,Old,Dog',
    `Autumn,Old,${LONG}`,
  ]);
});

it('says that a store URL is missing, to an admin with a link to add it', async () => {
  const { page } = await list('');
  expect(page.notices).toEqual([
    'Test game has no URL for Google Play or the App Store, so tracking links take nobody to a store. Add the store URL',
  ]);
  expect([...new Page(page.one('.notice')).links]).toEqual([
    ['Add the store URL', `/settings/applications/${tenant.application.id}#stores`],
  ]);
  const made = await createTenant(STORES);
  const browser = await signedIn(worker, made.team, 'viewer');
  const complete = await pageOf(await browser.get('/creatives'));
  expect(complete.notices).toEqual([]);
  expect(complete.texts('.empty')).toEqual(['No creatives yet.']);
});

it('shows a creative’s figures and its link as a code, to nobody of another team', async () => {
  const page = await pageOf(await admin.get(`/creatives/${cat.id}?${PERIOD}`));
  expect(page.texts('.page-title > *')).toEqual(['Creatives › Spring › Young', 'Cat']);
  const own = page.card('This period');
  expect(own.texts('.card-head p')).toEqual(['1 Mar – 5 Mar compared with 24 Feb – 28 Feb', 'Days in UTC.']);
  expect(own.figures).toEqual({
    Spend: '$2.00 ▲ $2.00 more $0.00 before',
    Clicks: '10 ▲ 10 more 0 before',
    Installs: '4 ▼ 50.0% less 8 before',
    CPI: '$0.50',
    Revenue: '$3.00 ▲ 200% more $1.00 before',
    ROAS: '0%',
    Profit: '$1.00 0% as much $1.00 before',
  });
  expect(page.texts('.lead-line code')).toEqual([`https://ingest.test${cat.path}`]);
  const test = new Page(page.one('#test'));
  expect(test.all('.qr svg')).toHaveLength(1);
  expect(test.texts('[data-click-watch]')).toEqual(['No click in the last 30 minutes.']);
  expect(page.cards).toEqual([
    'This period',
    'Revenue by day',
    'By day',
    'ROAS by age',
    'Retention and LTV',
    'Deep link and preview',
    'IDs at networks',
    'Links for networks',
    'Links for a network’s servers',
    'Test this link',
  ]);
  const stranger = await signedIn(worker, (await createTenant()).team, 'owner');
  expect((await stranger.get(`/creatives/${cat.id}`)).status).toBe(404);
  expect((await stranger.get(`/creatives/${cat.id}/clicks`)).status).toBe(404);
});

it('leads from a creative’s page to its campaign and ad set, and marks an archived one', async () => {
  const page = await pageOf(await admin.get(`/creatives/${dog.id}?${PERIOD}`));
  expect(page.texts('.page-title > *')).toEqual(['Creatives › Spring › Old Archived', 'Dog']);
  const title = new Page(page.one('.page-title'));
  expect((await list(`${new URLSearchParams(title.query('Old'))}`)).names).toEqual(['Dog']);
  const { names } = await list(`${new URLSearchParams(title.query('Spring'))}&sort=name`);
  expect(names).toEqual(['Old', 'Young']);
  expect((await list(`${new URLSearchParams(title.query('Creatives'))}`)).names).toHaveLength(3);
});

it('sets a long name in full as the title, in smaller type', async () => {
  const { page } = await list('');
  const long = await pageOf(await admin.get(page.link('Очень длинное имя Очень дл…длинное имя 😀')));
  const heading = long.one('h1.long');
  expect([textOf(heading), textOf(long.one('title'))]).toEqual([LONG.trim(), expect.stringContaining(LONG)]);
  const short = await pageOf(await admin.get(page.link('Cat')));
  expect(short.all('h1.long')).toEqual([]);
});

it('leads to the list where another application is chosen on a creative’s page', async () => {
  const made = await createTenant();
  const browser = await signedIn(worker, made.team, 'admin');
  const { id } = await createCreative(worker, made, { creative: 'Cat', adset: 'A', campaign: 'C' });
  const second = { name: 'Second', timezone: 'UTC', currency: 'usd' };
  const added = await browser.post('/settings/applications', second);
  const other = queryOf(added.headers.get('Location') ?? '').app;
  const moved = await browser.get(`/creatives/${id}?app=${other}`);
  expect([moved.status, moved.headers.get('Location')]).toEqual([302, `/creatives?app=${other}`]);
  const own = await pageOf(await browser.get(`/creatives/${id}?app=${made.application.id}`));
  expect(own.texts('h1')).toEqual(['Cat']);
});

it('reports a test click when it arrives', async () => {
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
  const watched = (await pageOf(await admin.get(`/creatives/${cat.id}`))).texts('[data-click-watch]');
  expect(watched).toEqual([expect.stringMatching(/^Last click \d+ s ago\.$/)]);
});

it('sums up more matches than a report can compare, without a comparison that would lack some', async () => {
  const made = await createTenant();
  const browser = await signedIn(worker, made.team, 'admin');
  for (const creative of ['Now', 'Before']) {
    const { id } = await createCreative(worker, made, { creative, adset: 'A', campaign: 'C' });
    const day = creative === 'Now' ? '2026-03-02' : '2026-02-26';
    await addFigures(env.DB, made.application.id, 'rollup_daily', [{ day, creative_id: id, installs: 7 }]);
  }
  const totals = async () => {
    const page = await pageOf(await browser.get(`/creatives?${PERIOD}&q=a&sort=installs`));
    return page.table('Creatives').totals.slice(2, 4);
  };
  expect(await totals()).toEqual(['7 0% as much as 7 before', '0']);
  await addCreatives(made, 49);
  expect(await totals()).toEqual(['7', '0']);
});

it('says that it lists only the newest 5,000, and finds older ones by name', async () => {
  const made = await createTenant();
  const browser = await signedIn(worker, made.team, 'admin');
  await createCreative(worker, made, { creative: 'First', adset: 'A', campaign: 'C' });
  const list = async (query = '') =>
    pageOf(await browser.get(`/creatives?app=${made.application.id}&${PERIOD}${query}`));
  const foot = async (query = '') => (await list(query)).texts('.card-foot p').join(' ');
  const only = 'Only the newest 5,000 are listed. Search by name to find older ones.';
  await addCreatives(made, 4_999);
  expect(await foot()).toContain('1–50 of 5,000');
  expect(await foot()).not.toContain(only);
  expect((await list()).links.has('CSV')).toBe(true);
  await env.DB.prepare(
    `UPDATE creatives SET id = 'cr_0', token = 'oldest', name = 'Oldest' WHERE application_id = ?1 AND name = 'Creative 1'`,
  )
    .bind(made.application.id)
    .run();
  await addCreatives(made, 1);
  expect(await foot()).toContain(only);
  expect((await list()).links.has('CSV of the newest 5,000')).toBe(true);
  expect(await foot()).toContain('1–50 of 5,000');
  const oldest = `/creatives?app=${made.application.id}&${PERIOD}&q=Oldest`;
  const found = await pageOf(await browser.get(oldest));
  expect(found.all('a.cut').map((link) => link.getAttribute('title'))).toEqual(['Oldest']);
  expect(found.texts('.card-foot p').join(' ')).not.toContain(only);
});

it('counts the items of each level, as far as a search and the filters select them', async () => {
  const counts = async (query: string) =>
    (await list(query)).page.all('.tabs-links a').map((tab) => tab.getAttribute('data-count') ?? null);
  expect(await counts('')).toEqual(['2', '3', '3']);
  expect(await counts('by=campaign&q=spring')).toEqual(['1', '2', '2']);
  expect(await counts(`by=adset&creative_id=${cat.id}`)).toEqual(['2', '3', '1']);
  // Which creatives a network has is known by their figures, too.
  expect(await counts('by=campaign&network=tiktok')).toEqual(['2', '3', null]);
});

it('names the network of each creative, sorts by it, and lists those of a network alone', async () => {
  const made = await createTenant();
  const browser = await signedIn(worker, made.team, 'viewer');
  const change = (id: string, body: object) =>
    worker.team(made, `/v1/creatives/${id}`, { method: 'PATCH', body });
  const [cat, dog, fox] = await Promise.all(
    ['Cat', 'Dog', 'Fox'].map((name) =>
      createCreative(worker, made, { creative: name, adset: 'A', campaign: 'C' }),
    ),
  );
  if (!cat || !dog || !fox) throw new Error('no creatives');
  await change(cat.id, { network: 'tiktok' });
  await change(dog.id, { external_ids: [{ network: 'meta', id: '7' }] });
  // Its devices came by a link for a network, for which it is no longer.
  await change(fox.id, { network: 'tiktok' });
  await fetchToken(worker, made, {
    created_at: '2026-03-02T10:00:00.000Z',
    data: { creative_token: fox.token },
  });
  await change(fox.id, { network: null });
  const open = async (query: string) => pageOf(await browser.get(`/creatives?${PERIOD}${query}`));
  const named = async (query: string) => (await open(query)).cells('Creatives', 'Creative', 'Network');
  expect(await named('&sort=network')).toEqual([
    ['Dog C › A', 'Meta'],
    ['Cat C › A', 'TikTok'],
    ['Fox C › A', ''],
  ]);
  expect(await named('&network=tiktok&sort=name')).toEqual([
    ['Cat C › A', 'TikTok'],
    ['Fox C › A', ''],
  ]);
});

slowIt('shows 50 of 2,000 creatives at a time in less than 300 KB, in one order over all pages', async () => {
  const made = await createTenant();
  const browser = await signedIn(worker, made.team, 'admin');
  await createCreative(worker, made, { creative: 'First', adset: 'A', campaign: 'C' });
  await addCreatives(made, 1_999);
  const { results } = await env.DB.prepare(
    `SELECT id, created_at AS number FROM creatives WHERE application_id = ?1 AND name <> 'First'`,
  )
    .bind(made.application.id)
    .all<{ id: string; number: number }>();
  const figures = results.map(({ id, number }) => ({
    ...{ day: '2026-03-02', creative_id: id, currency: 'usd' },
    installs: 1,
    purchase_revenue: number * 1_000_000_000,
  }));
  await addFigures(env.DB, made.application.id, 'rollup_daily', figures);
  const ranked = results
    .map(({ number }) => number)
    .sort((left, right) => right - left)
    .map((number) => `Creative ${number}`);
  for (const page of [1, 2, 39, 40]) {
    const answer = await browser.get(`/creatives?${PERIOD}&page=${page}&set=all`);
    const html = await answer.text();
    expect(html.length).toBeLessThan(300 * 1024);
    const names = [...html.matchAll(/<a class="cut"[^>]*>([^<]*)</g)].map(([, name = '']) => name);
    expect(names).toEqual([...ranked, 'First'].slice(50 * (page - 1), 50 * page));
    expect(html).toContain('data-count="2,000"');
  }
});

it('reads the earlier total without reading all creatives once more', async () => {
  const watched = new WatchedD1(env.DB);
  const grains: string[] = [];
  const record = (_: string, bindings: readonly unknown[]) => {
    const isEarlier = bindings.includes('rollup_daily') && bindings.includes('2026-02-28');
    if (isEarlier && bindings.includes('2026-02-24'))
      grains.push(...['creative', 'total'].filter((grain) => bindings.includes(grain)));
    return false;
  };
  watched.failWhen(record, 'never');
  const watching = startWorker({ DB: watched.asBinding() });
  const path = `/creatives?app=${tenant.application.id}&${PERIOD}`;
  const answer = await watching.request(path, { headers: { Cookie: admin.cookie } });
  expect(answer.status).toBe(200);
  expect(new Set(grains)).toEqual(new Set(['creative', 'total']));
  expect(grains.filter((grain) => grain === 'creative')).toHaveLength(grains.length / 2);
});

it('saves what a creative’s link opens and shows, and names what is wrong with it', async () => {
  const search = `?${PERIOD}`;
  const path = `/creatives/${cat.id}/link${search}`;
  const fields = { deep_link: 'levels', 'preview.title': 'Level 3' };
  const refused = await pageOf(await admin.post(path, fields));
  const card = refused.card('Deep link and preview');
  expect(card.texts('.fault')).toEqual([expect.stringMatching(/^Deep link must be a URL or a path/)]);
  expect(card.all('input').map((input) => input.getAttribute('value'))).toEqual([
    'levels',
    'Level 3',
    '',
    '',
  ]);
  await admin.post(path, { ...fields, deep_link: '/levels/3' });
  const shown = (await pageOf(await admin.get(`/creatives/${cat.id}${search}`))).card(
    'Deep link and preview',
  );
  expect(shown.all('input').map((input) => input.getAttribute('value'))).toEqual([
    '/levels/3',
    'Level 3',
    '',
    '',
  ]);
  await admin.post(path, {});
});

it('keeps the ids by which networks know a creative, its ad set and its campaign', async () => {
  const search = `?${PERIOD}`;
  const path = `/creatives/${cat.id}/external-ids${search}`;
  const idsOn = async (answer: Response | Promise<Response>) => {
    const card = (await pageOf(await answer)).card('IDs at networks');
    const rows = card.all('tbody tr').map((row) => row.querySelectorAll('td').map(({ text }) => text));
    return { rows: rows.map((row) => row.slice(0, 4)), faults: card.texts('.fault') };
  };
  const shown = () => idsOn(admin.get(`/creatives/${cat.id}${search}`));
  const ad = { kind: 'creative', network: 'meta', id: '23854855793500701' };
  await admin.post(path, ad);
  await admin.post(path, { ...ad, kind: 'campaign', id: '9' });
  const rows = [
    ['Meta', 'Ad', 'Cat', ad.id],
    ['Meta', 'Campaign', expect.any(String), '9'],
  ];
  expect(await shown()).toEqual({ rows, faults: [] });
  expect((await idsOn(admin.post(path, { ...ad, id: '' }))).faults).toEqual(['ID is required']);
  const other = `/creatives/${dog.id}/external-ids${search}`;
  expect((await idsOn(admin.post(other, ad))).faults).toEqual(['ID is already that of another item']);
  for (const [kind, id] of [
    ['creative', ad.id],
    ['campaign', '9'],
  ] as const) {
    await admin.post(`/creatives/${cat.id}/external-ids/remove${search}`, { ...ad, kind, id });
  }
  expect((await shown()).rows).toEqual([]);
});
