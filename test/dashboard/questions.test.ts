import { expect, it } from 'vitest';
import { duration } from '#lib/format';
import { addDays, dayIn } from '#lib/time';
import { certainty } from '../../src/dashboard/pages/reports/compare-sides.tsx';
import { sendCohort } from '../helpers/cohorts.ts';
import { addCreatives, createCreative } from '../helpers/creatives.ts';
import { pageOf, queryOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });
const PERIOD = 'from=2026-03-01&to=2026-03-07';

/** Two devices of a creative and one organic; each sees a level, one of them buys an hour later. */
async function withHistory() {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'viewer');
  const { id, token } = await createCreative(worker, tenant, {
    creative: 'Dragon',
    campaign: 'Summer',
    adset: 'All',
  });
  const other = await createCreative(worker, tenant, {
    creative: 'Castle',
    campaign: 'Winter',
    adset: 'All',
  });
  const installs = await Promise.all(
    [{ creative_token: token }, { creative_token: token }, {}].map((data) =>
      fetchToken(worker, tenant, { created_at: '2026-03-02T10:00:00.000Z', data }),
    ),
  );
  const send = (creativeToken: string, at: string, type: string, payload: unknown) =>
    worker.post(tenant, '/webhook', { created_at: `2026-03-02 ${at}`, creativeToken, type, payload });
  for (const creativeToken of installs)
    await send(creativeToken, '10:30:00', 'custom', { event_name: 'level, 1' });
  const bought = { item_id: 'gems', value: 5, currency: 'usd', status: 'completed', tr_id: 'x' };
  await send(installs[0] ?? '', '11:30:00', 'custom.purchase', bought);
  await worker.deliver(worker.queue.take());
  const { id: app } = tenant.application;
  const page = async (path: string) =>
    pageOf(await browser.get(`${path}${path.includes('?') ? '&' : '?'}app=${app}&${PERIOD}`));
  return { tenant, page, id, other: other.id, browser, app };
}

it('shows the median time of each step, and the funnel of each group', async () => {
  const { page, app } = await withHistory();
  const shown = await page('/funnels?step=install&step=event%3Alevel%2C+1&step=purchase&group=creative');
  expect(shown.table('Devices that reach each step, days in UTC')).toEqual({
    headings: ['Step', 'Share', 'Devices', 'Of first step', 'Before', 'Of previous step', 'Median time'],
    rows: [
      ['Install', '', '3', '100.0%', '–', '–', '–'],
      ['level, 1', '', '3', '100.0%', '–', '100.0%', '30 min'],
      ['Purchase', '', '1', '33.3%', '–', '33.3%', '1 h'],
    ],
    totals: [],
  });
  expect(shown.table('Devices that reach each step, by creative')).toEqual({
    headings: ['Creative', 'Install', 'level, 1', 'Purchase'],
    rows: [
      ['Dragon', '2', '2 (100%)', '1 (50%)'],
      ['Organic', '1', '1 (100%)', '0 (0%)'],
    ],
    totals: [],
  });
  expect(shown.query('Organic')).toEqual({
    app: app,
    period: 'custom',
    from: '2026-03-01',
    to: '2026-03-07',
    steps: 'install,event:level%2c 1,purchase',
    group: 'creative',
    attribution: 'organic',
  });
});

it('shows what share reached each step before, and not where there is no comparison', async () => {
  const { page, tenant } = await withHistory();
  await fetchToken(worker, tenant, { created_at: '2026-03-09T10:00:00.000Z' });
  const later = '/funnels?from=2026-03-08&to=2026-03-14&step=install&step=purchase';
  const caption = 'Devices that reach each step, days in UTC';
  expect((await page(later)).cells(caption, 'Step', 'Devices', 'Of first step', 'Before')).toEqual([
    ['Install', '1', '100.0%', '100.0%'],
    ['Purchase', '0', '0.0%', '33.3%'],
  ]);
  expect((await page(`${later}&compare=none`)).table(caption).headings).not.toContain('Before');
});

it('lists the funnels that were saved for this application', async () => {
  const { page, browser, app } = await withHistory();
  const address =
    (await page('/funnels?step=install&step=purchase&window=24')).query('Save this funnel').for ?? '';
  expect(queryOf(address)).toEqual({
    app: app,
    period: 'custom',
    from: '2026-03-01',
    to: '2026-03-07',
    steps: 'install,purchase',
    window: '24',
  });
  const saved = async () => (await pageOf(await browser.get(`/funnels?app=${app}`))).links;
  expect((await saved()).has('First day buyers')).toBe(false);
  expect((await browser.post('/views', { address, name: 'First day buyers' })).status).toBe(303);
  const link = (await saved()).get('First day buyers') ?? '';
  expect((await pageOf(await browser.get(link))).value('window')).toBe('24');
});

it('shows a funnel’s fault beside its field, and keeps the input', async () => {
  const { browser, app } = await withHistory();
  const open = async (query: string) => {
    const answer = await browser.get(`/funnels?app=${app}&${PERIOD}&step=install&${query}`);
    expect(answer.status).toBe(400);
    return pageOf(answer);
  };
  const page = await open('step=purchase&window=never');
  expect(page.faults).toEqual({ window: 'Within must be a number of hours above 0, at most 87600' });
  expect(page.value('window')).toBe('never');
  const steps = await open('step=nonsense');
  expect(steps.faults).toEqual({
    'step-1': 'Step 2 must be 1 to 10 of install, retention, purchase, ad, event:<name>',
  });
});

it('compares two creatives side by side, and says how certain the difference is', async () => {
  const { page, id, other, browser, app } = await withHistory();
  const shown = await page(`/compare?by=creative&a=${id}&b=${other}`);
  expect(shown.texts('main p')[1]).toBe('A has 2 devices, B has 0 devices.');
  const [names = ''] = shown.tables;
  expect(names).toBe('Dragon (Summer › All) against Castle (Winter › All)');
  expect(shown.cells(names, 'Metric', 'A', 'B', 'Certainty').slice(0, 3)).toEqual([
    ['Retention, day 1', '0%', '–', 'Too few devices to tell'],
    ['Paying devices, day 1', '50%', '–', 'Too few devices to tell'],
    ['Revenue per device, day 1', '$2.50', '–', 'Too few devices to tell'],
  ]);
  const csv = await browser.get(`/compare?by=creative&a=${id}&b=${other}&app=${app}&${PERIOD}&format=csv`);
  expect((await csv.text()).split(/\r?\n/)[0]).toBe(
    'metric,day,a_devices,a_count,a,b_devices,b_count,b,difference,low,high,p_value,test,unconverted',
  );
});

it('offers the creatives with the most installs first, then the newest', async () => {
  const { page, id, other } = await withHistory();
  const found = await page('/compare?by=creative&q=drag');
  expect(found.texts('select[name="a"] option').every((name) => name.startsWith('Dragon'))).toBe(true);
  const shown = await page('/compare?by=creative');
  expect([shown.value('a'), shown.value('b')]).toEqual([id, other]);
  expect(shown.texts('select[name=a] option')).toEqual(['Dragon (Summer › All)', 'Castle (Winter › All)']);
});

it('compares a period with the one before, and says if there is none', async () => {
  const { page, browser, app } = await withHistory();
  expect((await page('/compare?by=period')).texts('main p')[1]).toBe('A has 3 devices, B has 0 devices.');
  const all = await browser.get(`/compare?by=period&app=${app}&period=all`);
  expect((await pageOf(all)).texts('main p')).toEqual([
    'All time has no period before it. Choose another period above.',
  ]);
  const today = await browser.get(`/compare?by=period&app=${app}&period=today`);
  expect((await pageOf(today)).texts('main p')).toEqual([
    'No day of this period is over. Choose another period above.',
  ]);
});

it('refuses to compare a creative with itself', async () => {
  const { id, browser, app } = await withHistory();
  const answer = await browser.get(`/compare?by=creative&a=${id}&b=${id}&app=${app}&${PERIOD}`);
  expect(answer.status).toBe(400);
  expect((await pageOf(answer)).faults).toEqual({ b: 'B must not be the same as A' });
});

it('makes no prediction from too little data, and says why', async () => {
  const { page } = await withHistory();
  const predicted = await page('/ltv?predict=90');
  expect(predicted.cards).toEqual([
    'Lifetime value of a device',
    'ROAS',
    'Predicted LTV after another 90 days',
    'LTV by cohort',
  ]);
  const [caption = ''] = predicted.card('Predicted LTV after another 90 days').tables;
  expect(predicted.table(caption)).toEqual({
    headings: [
      'Devices of',
      'Devices',
      'Payers',
      'Revenue per device so far',
      'From purchases',
      'From ads',
      'Predicted LTV',
      'Likely between',
    ],
    rows: [['1 Mar – 7 Mar', '3', '1', '$1.67', '–', '$0.00', '–', '–']],
    totals: [],
  });
  expect(predicted.card('Predicted LTV after another 90 days').texts('.hint')[0]).toBe(
    'Purchases: The cohort has fewer than 20 devices.',
  );
  expect((await page('/ltv')).cards).toEqual(['Lifetime value of a device', 'ROAS', 'LTV by cohort']);
});

it('predicts without being asked once there is enough data, but not against a choice', async () => {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'viewer');
  await sendCohort(tenant, { ago: 40, devices: 200, payers: 100 });
  const cards = async (query: string) =>
    (await pageOf(await browser.get(`/ltv?app=${tenant.application.id}&period=90d${query}`))).cards;
  const predicted = 'Predicted LTV after another 90 days';
  expect(await cards('')).toContain(predicted);
  expect(await cards('&predict=none')).not.toContain(predicted);
});

it('finds the sides of a comparison among all creatives', async () => {
  const { browser, app, tenant, id } = await withHistory();
  await addCreatives(tenant, 200);
  const offered = async (query: string) => {
    const shown = await pageOf(await browser.get(`/compare?by=creative&app=${app}&${PERIOD}${query}`));
    return shown.texts('#field-a option');
  };
  // Those with installs come first, then the newest; older ones are found by their names only.
  expect((await offered('')).join()).not.toContain('Creative 57 (');
  expect((await offered('&q=creative+57')).join()).toMatch(/^Creative 57 \(/);
  expect((await offered(`&q=creative+57&a=${id}`))[0]).toBe('Dragon (Summer › All)');
});

it('offers countries and systems as filters, and narrows the figures to them', async () => {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'viewer');
  const app = tenant.application.id;
  const created_at = `${addDays(dayIn('UTC', Date.now()), -1)}T10:00:00.000Z`;
  for (const country of ['DE', 'DE', 'FR'])
    await fetchToken(worker, tenant, { created_at, data: { country } });
  await browser.get(`/?app=${app}`);
  const list = await pageOf(await browser.get(`/filters?app=${app}&kind=country&back=/`));
  expect([...list.links].filter(([, href]) => href.includes('country='))).toEqual([
    ['Germany', '/?country=DE'],
    ['France', '/?country=FR'],
  ]);
  const installs = async (filter: string) =>
    (await pageOf(await browser.get(`/?app=${app}${filter}`))).one('[data-metric=installs]').text;
  expect([await installs(''), await installs('&country=de'), await installs('&country=fr')]).toEqual([
    '3',
    '2',
    '1',
  ]);
});

it.each([
  [{ p_value: 0.001, low: 0.1, high: 0.2 }, 'Very likely a real difference'],
  [{ p_value: 0.03, low: 0.1, high: 0.2 }, 'Likely a real difference'],
  [{ p_value: 0.4, low: -0.1, high: 0.2 }, 'May be chance'],
  [{ p_value: null, low: null, high: null }, 'Too few devices to tell'],
])('says of %j: %s', (row, words) =>
  expect(certainty({ ...row, day: 7, a_devices: 9, b_devices: 8 }, { a: 9, b: 9 })).toBe(words),
);

it.each([
  [0, 8, 'Day 30 is not over yet'],
  [8, 0, 'Too few devices to tell'],
])('says why %i devices of 9 cannot be compared with %i of 0: %s', (a_devices, b_devices, words) => {
  const row = { p_value: null, low: null, high: null, day: 30, a_devices, b_devices };
  expect(certainty(row, { a: 9, b: 0 })).toBe(words);
});

it.each([
  [null, '–'],
  [0, '0 s'],
  [59.4, '59 s'],
  [3_600, '1 h'],
  [3_725, '1 h 2 min'],
  [200_000, '2 d 7 h'],
])('writes %s seconds as %s', (seconds, text) => expect(duration(seconds)).toBe(text));
