import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { addDays, dayIn } from '#lib/time';
import { curveAxis, curveOf } from '../../src/dashboard/cohort-parts.tsx';
import { paybackDay } from '../../src/dashboard/ltv.tsx';
import { createCreative } from '../helpers/creatives.ts';
import { addFigures } from '../helpers/figures.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });
const TODAY = dayIn('UTC', Date.now());
const ago = (days: number) => addDays(TODAY, -days);
let tenant: Tenant;
let browser: Browser;
let creative: string;

beforeAll(async () => {
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
    purchase_revenue: dollars * 1_000_000,
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
     VALUES (?1, ?2, 'Summer', 'Dragon', 'usd', 20000000, 0)`,
  )
    .bind(app, ago(5))
    .run();
});

async function page(path: string) {
  const html = await (await browser.get(`${path}&app=${tenant.application.id}`)).text();
  return { html, text: html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ') };
}

/** The cells of the row that begins with a name. */
const cellsOf = (html: string, name: string) => {
  const row = html.split('<tr>').find((part) => part.includes(`>${name}</a></td>`)) ?? '';
  return [...row.matchAll(/<td class="([^"]*)"(?: title="([^"]*)")?>(.*?)<\/td>/gs)].map(
    ([, kind = '', title = '', content = '']) => ({ kind, title, text: content.replaceAll(/<[^>]+>/g, '') }),
  );
};

it('groups retention by creative, each name a filter', async () => {
  const { html } = await page('/retention?period=28d&group=creative');
  const [, devices, day0, day1] = cellsOf(html, 'Dragon');
  expect([devices?.text, day0?.text, day1?.text]).toEqual(['10', '100%', '40%']);
  expect(cellsOf(html, 'Organic')[3]?.text).toBe('10%');
  expect(html).toMatch(new RegExp(`creative_id=${creative}[^"]*"[^>]*>Dragon<`));
  expect(html).toMatch(/attribution=organic[^"]*"[^>]*>Organic</);
});

it('leaves day 0 out of the colours and measures the others by the highest of them', async () => {
  const { html } = await page('/retention?period=28d&group=creative');
  const kinds = (name: string) => cellsOf(html, name).map(({ kind }) => kind);
  expect(kinds('Dragon').slice(2, 4)).toEqual(['number heat', 'number heat h10']);
  expect(kinds('Organic')[3]).toBe('number heat h3');
});

it('leaves blank what is not over, and says when it will be known', async () => {
  const { html } = await page('/retention?period=28d&group=creative');
  const day7 = cellsOf(html, 'Dragon')[2 + 7];
  expect(day7?.text).toBe('not over yet');
  expect(day7?.title).toMatch(/^Day 7 is not over yet: known from \d+ \w+$/);
});

it('adds the curve of the period before, and not where there is no comparison', async () => {
  expect((await page('/retention?period=28d')).html).toMatch(/class="line s1 before"/);
  expect((await page('/retention?period=28d&compare=none')).html).not.toMatch(/class="line s1 before"/);
});

it.each([
  ['/retention?period=28d', /^\|Before: [^|]+\|8\|100%\|75%\|/],
  ['/ltv?period=28d&cohort=week', /^\|Before: [^|]+\|8\|–\|\$0\.00\|/],
])(
  '%s ends with the period before, uncoloured, and not where there is no comparison',
  async (path, expected) => {
    const lastRow = async (query: string) => {
      const [, table = ''] = (await page(query)).html.split('class="heat-map"');
      return table.slice(0, table.indexOf('</tbody>')).split('<tr>').at(-1) ?? '';
    };
    const row = await lastRow(path);
    expect(row.replaceAll(/<[^>]+>/g, '|').replaceAll(/\|+/g, '|')).toMatch(expected);
    expect(row).not.toMatch(/heat h\d/);
    expect(await lastRow(`${path}&compare=none`)).not.toContain('Before: ');
    expect(await lastRow(`${path}&group=creative`)).not.toContain('Before: ');
  },
);

it('says when a cohort had brought back what it cost, and draws 100%', async () => {
  const { html, text } = await page('/ltv?period=28d&group=creative');
  const [, devices, payback, day0] = cellsOf(html, 'Dragon');
  expect([devices?.text, payback?.text, day0?.text]).toEqual(['10', 'Day 3', '$0.50']);
  expect(html).toContain('class="level"');
  expect(text).toContain('100%, where revenue has paid back the spend');
  const roas = cellsOf((await page('/ltv?period=28d&group=creative&show=roas')).html, 'Dragon');
  expect(roas[3]?.text).toBe('25%');
});

it.each([
  [{ 0: { roas: 0.2 }, 3: { roas: 1 }, 4: { roas: 1.5 } }, 3],
  [{ 0: { roas: 1.2 } }, 0],
  [{ 0: { roas: 0.2 } }, null],
  [{ 0: { roas: null } }, null],
])('finds the day of payback of %j: %s', (days, day) => expect(paybackDay(days)).toBe(day));

it('draws curves no further than they are known', () => {
  const { days, ticks } = curveAxis([{ values: [1, 0.5, null] }, { values: [1, null, null] }]);
  expect(days).toEqual([0, 1]);
  expect(ticks).toEqual([
    { index: 0, text: 'Day 0' },
    { index: 1, text: 'Day 1' },
  ]);
  const month = curveAxis([{ values: Array.from({ length: 31 }, () => 1) }]);
  expect(month.ticks.map(({ text }) => text)).toEqual(['Day 0', 'Day 7', 'Day 14', 'Day 21', 'Day 30']);
});

it('ends a curve where less than half of the devices are left in it', () => {
  const days = { 0: { eligible: 9, value: 1 }, 1: { eligible: 5, value: 0.5 }, 2: { eligible: 4, value: 2 } };
  expect(curveOf({ size: 9, days }, ({ value }) => value).slice(0, 3)).toEqual([1, 0.5, null]);
  expect(curveOf(undefined, () => 1)[0]).toBeNull();
});

it('writes the grouping to CSV', async () => {
  const csv = await (
    await browser.get(`/retention?app=${tenant.application.id}&period=28d&group=creative&format=csv`)
  ).text();
  expect(csv).toContain('Dragon');
  expect(csv.split(/\r?\n/)[0]).toContain('creative');
});
