import { expect, it } from 'vitest';
import { count, money, percent } from '#lib/format';
import { useComparedHistory } from '../helpers/compared-history.ts';
import { pageOf } from '../helpers/page.ts';

// Each table ends with its total: that of the API, not a sum of what the page shows.

const { api, open } = useComparedHistory();
const DAYS = { from: '2026-02-10', to: '2026-03-01' };
type Totals = Record<string, number>;

async function totalsOf(report: string, more: Record<string, string>): Promise<Totals> {
  const { totals } = await api<{ totals: Totals & { days?: Record<string, Totals> } }>(report, DAYS, more);
  return { ...totals, ...(totals.days ? { day0: totals.days['0'], day7: totals.days['7'] } : {}) } as Totals;
}

async function tableOf(path: string, caption: string) {
  const page = await pageOf(
    await open(path, `from=${DAYS.from}&to=${DAYS.to}&compare=none&${QUERIES[path]}`),
  );
  const { headings, totals } = page.table(caption);
  return (heading: string) => totals[headings.indexOf(heading)];
}
const QUERIES: Record<string, string> = {
  '/breakdown': 'by=creative',
  '/ads': 'by=source',
  '/retention': 'cohort=week',
  '/ltv': 'cohort=week',
  '/costs': '',
};

it('in Breakdown', async () => {
  const cell = await tableOf('/breakdown', 'Figures by creative');
  const { revenue = 0, installs = 0, spend = 0 } = await totalsOf('performance', { group_by: 'creative' });
  expect([cell('Creative'), cell('Revenue'), cell('Installs'), cell('Spend')]).toEqual([
    'Total',
    money(revenue, 'usd'),
    count(installs),
    money(spend, 'usd'),
  ]);
});

it('in Ads, by format and in detail', async () => {
  const { impressions = 0, ad_revenue = 0 } = await totalsOf('ads', {});
  const cell = await tableOf('/ads', 'Ad figures by ad format');
  expect([cell('Impressions')]).toEqual([count(impressions)]);
  const detail = await tableOf('/ads', 'Ad figures by day, format and network');
  expect([detail('Day'), detail('Impressions')]).toEqual(['Total', count(impressions)]);
  expect(detail('Ad revenue')?.startsWith(`$${Math.floor(ad_revenue)}`)).toBe(true);
});

it('in Retention and LTV', async () => {
  const retention = await api<{ totals: { size: number; days: Record<string, Totals> } }>('retention', DAYS, {
    days: '0,1,7',
  });
  const cell = await tableOf('/retention', 'Retention by cohort and day since acquisition');
  expect([cell('Acquired'), cell('Devices'), cell('Day 0')]).toEqual([
    'Total',
    count(retention.totals.size),
    expect.stringContaining(percent(retention.totals.days['0']?.classic ?? 0).slice(0, 3)),
  ]);
  const ltv = await api<{ totals: { days: Record<string, Totals> } }>('ltv', DAYS, { days: '7' });
  const earned = await tableOf('/ltv', 'Lifetime value by cohort and day since acquisition');
  expect(earned('Devices')).toBe(count(retention.totals.size));
  expect(earned('Day 7')).toContain(money(ltv.totals.days['7']?.ltv ?? 0, 'usd'));
});

it('in the ledger, of all pages', async () => {
  const cell = await tableOf('/costs', 'Costs as uploaded');
  const { spend = 0 } = await totalsOf('performance', { group_by: 'day' });
  expect([cell('Day'), cell('Amount')]).toEqual(['Total of 20', money(spend, 'usd')]);
});
