import { env } from 'cloudflare:workers';
import Papa from 'papaparse';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { addDays } from '#lib/time';
import { curveAxis, curveOf } from '../../src/dashboard/charts/cohort-curves.tsx';
import { createCreative } from '../helpers/creatives.ts';
import { addFigures } from '../helpers/figures.ts';
import { pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });
const TODAY = '2026-03-15';
const ago = (days: number) => addDays(TODAY, -days);
let tenant: Tenant;
let browser: Browser;
let creative: string;

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(TODAY) });
  tenant = await createTenant();
  browser = await signedIn(worker, tenant.team, 'viewer');
  ({ id: creative } = await createCreative(worker, tenant, { creative: 'Dragon', campaign: 'Summer' }));
  const app = tenant.application.id;
  const activity = (day: string, id: string, age: number, active: number) => ({
    ...{ acquired_day: day, creative_id: id, age },
    active_devices: active,
    last_active_devices: active,
  });
  const revenue = (day: string, id: string, age: number, dollars: number) => ({
    ...{ acquired_day: day, creative_id: id, day: addDays(day, age), currency: 'usd' },
    purchase_revenue: dollars * 1_000_000_000,
  });
  await addFigures(env.DB, app, 'cohort_activity', [
    activity(ago(5), creative, 0, 10),
    activity(ago(5), creative, 1, 4),
    activity(ago(5), '', 0, 20),
    activity(ago(5), '', 1, 2),
    activity(ago(40), creative, 0, 8),
    activity(ago(40), creative, 1, 6),
  ]);
  await addFigures(env.DB, app, 'cohort_revenue', [
    revenue(ago(5), creative, 0, 5),
    revenue(ago(5), creative, 3, 20),
  ]);
  await env.DB.prepare(
    `INSERT INTO costs (application_id, day, campaign, creative, currency, amount, updated_at)
     VALUES (?1, ?2, 'Summer', 'Dragon', 'usd', 20000000000, 0)`,
  )
    .bind(app, ago(5))
    .run();
});

afterAll(() => {
  vi.useRealTimers();
});

const page = async (path: string) => pageOf(await browser.get(`${path}&app=${tenant.application.id}`));

const RETENTION = 'Retention by cohort and day since acquisition';
const LTV = 'Lifetime value by cohort and day since acquisition';
const BEFORE = 'Before: 18 Jan – 14 Feb';

it('groups retention by creative, each name a filter', async () => {
  const shown = await page('/retention?period=28d&group=creative');
  expect(shown.cells(RETENTION, 'Creative', 'Devices', 'Day 0', 'Day 1')).toEqual([
    ['Organic', '20', '100%', '10%'],
    ['Dragon', '10', '100%', '40%'],
    [BEFORE, '8', '100%', '75%'],
  ]);
  const asked = { app: tenant.application.id, cohort: 'all', group: 'creative', kind: 'classic' };
  expect(shown.row(RETENTION, 'Dragon').query('Dragon')).toEqual({
    ...asked,
    creative_id: creative,
  });
  expect(shown.row(RETENTION, 'Organic').query('Organic')).toEqual({
    ...asked,
    attribution: 'organic',
  });
});

it('colours every day but day 0, relative to the highest', async () => {
  const shown = await page('/retention?period=28d&group=creative');
  const kinds = (name: string) =>
    shown
      .row(RETENTION, name)
      .all('td.heat')
      .slice(0, 2)
      .map((cell) => cell.getAttribute('class'));
  expect(kinds('Dragon')).toEqual(['number heat', 'number heat h10']);
  expect(kinds('Organic')).toEqual(['number heat', 'number heat h3']);
});

it('leaves unfinished days blank, and says when they will be known', async () => {
  const cells = (await page('/retention?period=28d&group=creative')).row(RETENTION, 'Dragon').all('td.heat');
  expect([cells[7], cells.at(-1)].map((cell) => [cell?.text, cell?.getAttribute('title')])).toEqual([
    ['not over yet', 'Day 7 is not over yet for any of these devices'],
    ['not over yet', 'Day 30 is not over yet: known from 18 Mar'],
  ]);
});

it('sets apart the values of fewer than half of the devices, without a colour', async () => {
  const shown = await page(`/retention?from=${ago(45)}&to=${ago(1)}&group=creative&compare=none`);
  const cells = shown.row(RETENTION, 'Dragon').all('td.heat');
  // Day 1 is over for all 18, day 7 for the 8 of the older cohort.
  expect(
    [cells[1], cells[7]].map((cell) => [cell?.getAttribute('class'), cell?.getAttribute('title')]),
  ).toEqual([
    ['number heat h10', '18 devices'],
    ['number heat few', '8 of 18 devices: those whose day 7 is over'],
  ]);
  expect(shown.text).toContain('Italic: fewer than half of the devices have completed that day.');
});

it('adds the curve of the earlier period, unless there is no comparison', async () => {
  const curves = async (query: string) => (await page(query)).chart.series.map(({ name }) => name);
  expect(await curves('/retention?period=28d')).toEqual(['Classic', 'Rolling', 'Classic, 18 Jan – 14 Feb']);
  expect(await curves('/retention?period=28d&compare=none')).toEqual(['Classic', 'Rolling']);
});

it.each([
  ['/retention?period=28d', RETENTION, ['8', '100%', '75%']],
  ['/ltv?period=28d&cohort=week', LTV, ['8', '–', '$0.000']],
])(
  '%s ends with an uncoloured row for the earlier period, unless there is no comparison',
  async (path, caption, expected) => {
    const shown = await page(path);
    const row = shown.row(caption, BEFORE);
    expect(shown.table(caption).rows.at(-1)?.slice(0, 4)).toEqual([BEFORE, ...expected]);
    expect(row.all('td.heat').map((cell) => cell.getAttribute('class'))).toEqual(
      row.all('td.heat').map(() => 'number heat'),
    );
    const firsts = async (query: string) =>
      (await page(`${path}${query}`)).table(caption).rows.map(([first]) => first);
    expect(await firsts('&compare=none')).toEqual(['9 Mar – 14 Mar']);
  },
);

it.each([
  ['/retention?period=28d&group=creative', RETENTION, ['8', '100%', '75%']],
  ['/ltv?period=28d&group=creative', LTV, ['8', '–', '$0.00']],
])('%s has what each group had before below its row, uncoloured', async (path, caption, expected) => {
  const firsts = async (query: string) =>
    (await page(`${path}${query}`)).table(caption).rows.map(([first]) => first);
  const shown = await page(path);
  // Organic devices came in this period only.
  expect(await firsts('')).toEqual(['Organic', 'Dragon', BEFORE]);
  expect(shown.table(caption).rows[2]?.slice(0, 4)).toEqual([BEFORE, ...expected]);
  const kinds = shown.row(caption, BEFORE).all('td.heat');
  expect(new Set(kinds.map((cell) => cell.getAttribute('class')))).toEqual(new Set(['number heat']));
  expect(await firsts('&compare=none')).toEqual(['Organic', 'Dragon']);
  expect(await firsts('&cohort=week')).toEqual(['Organic', 'Dragon']);
});

it('says by app version why there is no ROAS', async () => {
  const texts = async (query: string) => (await page(`/ltv?period=28d&${query}`)).card('ROAS').texts('p');
  const sentence =
    'Costs are uploaded by campaign, ad set and creative, and may tell countries, operating systems and networks apart, so spend, CPI and ROAS are known by these only.';
  expect(await texts('group=app_version')).toEqual([sentence]);
  expect(await texts('group=creative')).not.toContain(sentence);
  const german = await createTenant();
  await fetchToken(worker, german, { created_at: `${ago(5)}T10:00:00.000Z`, app_version: '2' });
  const reader = await signedIn(worker, german.team, 'viewer');
  const filtered = await pageOf(await reader.get('/ltv?app_version=2'));
  expect(filtered.card('ROAS').texts('p')).toEqual([sentence]);
});

it('shows when a cohort paid back its cost, and draws a line at 100%', async () => {
  const shown = await page('/ltv?period=28d&group=creative');
  expect(shown.cells(LTV, 'Creative', 'Devices', 'Paid back', 'Day 0', 'Day 3', 'Day 7')).toEqual([
    ['Organic', '20', '–', '$0.00', '$0.00', 'not over yet'],
    ['Dragon', '10', 'Day 3', '$0.50', '$2.50', 'not over yet'],
    [BEFORE, '8', '–', '$0.00', '$0.00', '$0.00'],
  ]);
  expect(shown.cards).toEqual(['Lifetime value of a device', 'ROAS', 'LTV by cohort']);
  expect(shown.texts('.chart p, .chart .hint')).toEqual([
    'Horizontal line: 100%, where revenue has paid back the spend.',
  ]);
  expect(shown.all('line.level')).toHaveLength(1);
  const roas = await page('/ltv?period=28d&group=creative&show=roas');
  const ROAS = 'ROAS by cohort and day since acquisition';
  expect(roas.cells(ROAS, 'Creative', 'Paid back', 'Day 0', 'Day 3', 'Day 7')).toEqual([
    ['Organic', '–', '–', '–', 'not over yet'],
    ['Dragon', 'Day 3', '25%', '125%', 'not over yet'],
    [BEFORE, '–', '–', '–', '–'],
  ]);
});

it('draws curves only as far as they are known', () => {
  const { days, ticks } = curveAxis([{ values: [1, 0.5, null] }, { values: [1, null, null] }]);
  expect(days).toEqual([0, 1]);
  expect(ticks).toEqual([
    { index: 0, text: 'Day 0' },
    { index: 1, text: 'Day 1' },
  ]);
  const month = curveAxis([{ values: Array.from({ length: 31 }, () => 1) }]);
  expect(month.ticks.map(({ text }) => text)).toEqual(['Day 0', 'Day 7', 'Day 14', 'Day 21', 'Day 30']);
  // The first label begins at the edge, where a label near it would cover it on a phone.
  const longer = curveAxis([{ values: Array.from({ length: 32 }, () => 1) }]);
  expect(longer.ticks.map(({ text }) => text)).toEqual(['Day 0', 'Day 14', 'Day 21', 'Day 30']);
});

it('ends a curve where fewer than half of the devices remain', () => {
  const days = { 0: { eligible: 9, value: 1 }, 1: { eligible: 5, value: 0.5 }, 2: { eligible: 4, value: 2 } };
  expect(curveOf({ size: 9, days }, ({ value }) => value).slice(0, 3)).toEqual([1, 0.5, null]);
  expect(curveOf(undefined, () => 1)[0]).toBeNull();
});

it('writes the groups to CSV', async () => {
  const csv = await browser.get(
    `/retention?app=${tenant.application.id}&period=28d&group=creative&format=csv`,
  );
  const { data } = Papa.parse<Record<string, string>>((await csv.text()).trim(), { header: true });
  const firstDays = data.filter(({ day }) => day === '0' || day === '1');
  expect(firstDays.map(({ creative, size, day, classic }) => [creative, size, day, classic])).toEqual([
    ['', '20', '0', '1'],
    ['', '20', '1', '0.1'],
    ['Dragon', '10', '0', '1'],
    ['Dragon', '10', '1', '0.4'],
  ]);
});
