import { expect, it } from 'vitest';
import { addDays, dayIn } from '#lib/time';
import { certainty } from '../../src/dashboard/compare.tsx';
import { duration } from '../../src/dashboard/format.ts';
import { createCreative } from '../helpers/creatives.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });
const PERIOD = 'from=2026-03-01&to=2026-03-07';

/** Two devices of a creative and one organic; each sees a level, one of them buys an hour later. */
async function withHistory() {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'viewer');
  const { id, token } = await createCreative(worker, tenant, { creative: 'Dragon', campaign: 'Summer' });
  const other = await createCreative(worker, tenant, { creative: 'Castle', campaign: 'Winter' });
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
  const page = async (path: string) => {
    const answer = await browser.get(`${path}${path.includes('?') ? '&' : '?'}app=${app}&${PERIOD}`);
    const html = await answer.text();
    return { status: answer.status, html, text: html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ') };
  };
  return { page, id, other: other.id, browser, app };
}

it('shows the median time of each step, and the funnel of each group', async () => {
  const { page } = await withHistory();
  const { text, html } = await page(
    '/funnels?step=install&step=event%3Alevel%2C+1&step=purchase&group=creative',
  );
  expect(text).toContain('level, 1 3 100% – 100% 30 min');
  expect(text).toContain('Purchase 1 33.3% – 33.3% 1 h');
  expect(text).toMatch(/by creative Creative Install level, 1 Purchase Dragon 2 2 \(100%\) 1 \(50%\)/);
  expect(html).toMatch(/attribution=organic[^"]*"[^>]*>Organic</);
});

it('shows what share reached each step before, and not where there is no comparison', async () => {
  const { page } = await withHistory();
  const later = '/funnels?from=2026-03-08&to=2026-03-14&step=install&step=purchase';
  expect((await page(later)).text).toMatch(/Before Of previous step .* Purchase 0 – 33.3% – –/);
  expect((await page(`${later}&compare=none`)).text).not.toContain('Before');
});

it('lists the funnels that were saved for this application', async () => {
  const { page, browser, app } = await withHistory();
  const { html } = await page('/funnels?step=install&step=purchase&window=24');
  const link = /href="\/views\?([^"]*)">\s*Save this funnel/.exec(html)?.[1]?.replaceAll('&amp;', '&');
  const address = new URLSearchParams(link).get('for') ?? '';
  expect(address).toContain('steps=install%2Cpurchase&window=24');
  const of = async () => (await browser.get(`/funnels?app=${app}`)).text();
  expect(await of()).not.toContain('First day buyers');
  expect((await browser.post('/views', { address, name: 'First day buyers' })).status).toBe(303);
  const saved = /<a href="([^"]*)">First day buyers</.exec(await of())?.[1]?.replaceAll('&amp;', '&') ?? '';
  expect(await (await browser.get(saved)).text()).toMatch(/<option value="24" selected/);
});

it('says beside its field what is wrong with a funnel, and keeps what was asked', async () => {
  const { page } = await withHistory();
  const { status, html } = await page('/funnels?step=install&step=purchase&window=never');
  expect(status).toBe(400);
  expect(html).toMatch(/id="window-fault">Within must be a number of hours/);
  expect(html).toMatch(/<option value="never" selected/);
  const steps = await page('/funnels?step=install&step=nonsense');
  expect(steps.html).toMatch(/id="step-1-fault">Step 2 must be 1 to 10 of install/);
});

it('puts two creatives side by side, and says how sure the difference is', async () => {
  const { page, id, other, browser, app } = await withHistory();
  const { text } = await page(`/compare?by=creative&a=${id}&b=${other}`);
  expect(text).toMatch(/Dragon \(Summer › [^)]*\) against Castle/);
  expect(text).toContain('2 devices. B: Castle');
  expect(text).toContain('Too few devices to tell');
  const csv = await browser.get(`/compare?by=creative&a=${id}&b=${other}&app=${app}&${PERIOD}&format=csv`);
  expect((await csv.text()).split(/\r?\n/)[0]).toContain('metric,day,a_devices');
});

it('compares a period with the one before, and says where there is none', async () => {
  const { page, browser, app } = await withHistory();
  expect((await page('/compare?by=period')).text).toMatch(
    /A: 1 Mar – 7 Mar, 3 devices. B: 22 Feb – 28 Feb, 0 devices/,
  );
  const all = await (await browser.get(`/compare?by=period&app=${app}&period=all`)).text();
  expect(all).toContain('All time has no period before it');
});

it('refuses to compare a creative with itself', async () => {
  const { page, id } = await withHistory();
  const { status, html } = await page(`/compare?by=creative&a=${id}&b=${id}`);
  expect(status).toBe(400);
  expect(html).toMatch(/id="b-fault">B must not be the same as a/);
});

it('predicts nothing from too little, and says why', async () => {
  const { page } = await withHistory();
  const { text } = await page('/ltv?predict=90');
  expect(text).toContain('Predicted LTV after another 90 days');
  expect(text).toContain('Fewer than 50 devices have purchased.');
  expect((await page('/ltv')).text).not.toContain('Predicted LTV after');
});

it('offers countries and systems as filters, and narrows the figures to them', async () => {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'viewer');
  const app = tenant.application.id;
  const created_at = `${addDays(dayIn('UTC', Date.now()), -1)}T10:00:00.000Z`;
  for (const country of ['DE', 'DE', 'FR'])
    await fetchToken(worker, tenant, { created_at, data: { country } });
  await browser.get(`/?app=${app}`);
  const list = await (await browser.get(`/filters?app=${app}&kind=country&back=/`)).text();
  expect(list).toMatch(/country=de"[^>]*>Germany/);
  const overview = async (filter: string) =>
    (await (await browser.get(`/?app=${app}${filter}`)).text()).match(/data-metric="installs">(\d+)/)?.[1];
  expect([await overview(''), await overview('&country=de'), await overview('&country=fr')]).toEqual([
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
