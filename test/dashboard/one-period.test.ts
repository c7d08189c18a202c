import { expect, it } from 'vitest';
import { money } from '#lib/format';
import { addDays } from '#lib/time';
import { daysIn, TODAY, useComparedHistory } from '../helpers/compared-history.ts';
import { pageOf } from '../helpers/page.ts';

// One period has one range of days: on a page, in its cards, tables, charts and file, compared or not, and in the API.

const { api, open } = useComparedHistory();
const revenueOf = async (days: { from: string; to: string }) =>
  (await api<{ totals: { revenue: number } }>('performance', days, { group_by: 'month' })).totals.revenue;

it.each([
  ['28d', addDays(TODAY, -28), addDays(TODAY, -1)],
  ['7d', addDays(TODAY, -7), addDays(TODAY, -1)],
  ['week', '2026-03-09', TODAY],
  ['month', '2026-03-01', TODAY],
  ['today', TODAY, TODAY],
  [`custom&from=2026-03-05&to=${TODAY}`, '2026-03-05', TODAY],
])('%s is the days %s to %s everywhere', async (period, from, to) => {
  const revenue = money(await revenueOf({ from, to }), 'usd');
  for (const compare of ['previous', 'none', 'year']) {
    const query = `period=${period}&compare=${compare}`;
    const overview = await pageOf(await open('/', query));
    const card = overview.card('This period').figures.Revenue ?? '';
    const ofToday = to === TODAY ? ' so far' : '';
    expect(card.startsWith(revenue + ofToday), card).toBe(true);
    expect(daysIn(overview.texts('.view-bar summary')[0]?.split(/[·,] /).at(-1) ?? '')).toMatchObject({
      from,
      to,
    });
    const breakdown = await pageOf(await open('/breakdown', `${query}&by=country`));
    const { headings, totals } = breakdown.table('Figures by country');
    expect(totals[headings.indexOf('Revenue')]?.startsWith(revenue)).toBe(true);
    const file = await open('/breakdown', `${query}&by=day&format=csv`);
    expect(file.headers.get('Content-Disposition')).toContain(`${from}-${to}`);
    const [head = '', ...rows] = (await file.text()).trim().split(/\r?\n/);
    const at = head.replace('\ufeff', '').split(',').indexOf('revenue');
    const sum = rows.reduce((total, row) => total + Number(row.split(',')[at]), 0);
    expect(money(sum, 'usd')).toBe(revenue);
  }
});

it('marks today in the chart and the table, where it was asked for', async () => {
  const page = await pageOf(await open('/breakdown', 'period=week&by=day&compare=none'));
  expect(page.table('Figures by day').rows.map(([day]) => day)).toContain('Sun 15 Mar, so far');
  const overview = await pageOf(await open('/', 'period=week&compare=none'));
  expect(overview.card('Revenue by day').chart.labels.at(-1)).toBe('Sun 15 Mar, so far');
  const whole = await pageOf(await open('/breakdown', 'period=28d&by=day&compare=none'));
  expect(whole.text).not.toContain('so far');
});
