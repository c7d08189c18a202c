import { describe, expect, it } from 'vitest';
import { parseCostFile } from '#money';
import { parseAmount } from '../../src/money/cost-file.ts';

describe('an amount', () => {
  it.each([
    ['12', 12],
    ['12.5', 12.5],
    ['12,5', 12.5],
    ['1,234.50', 1234.5],
    ['1.234,50', 1234.5],
    ['1 234,5', 1234.5],
    ['1’234.50'.replace('’', "'"), 1234.5],
    ['1,234,567', 1234567],
    ['1.234.567', 1234567],
    ['$12.30', 12.3],
    ['12,30 €', 12.3],
    ['0', 0],
    // One separator before three digits may be either.
    ['1,234', null],
    ['1.234', null],
    ['1.5e3', null],
    ['-5', null],
    ['', null],
    ['a lot', null],
    ['1,2,3', null],
  ])('%j is %s', (text, amount) => {
    expect(parseAmount(text)).toBe(amount);
  });
});

const only = (text: string, currency = 'usd') => {
  const { format, rows, faults } = parseCostFile(text, currency);
  expect(faults).toEqual([]);
  return { format, rows };
};

describe('an export of', () => {
  const row = { date: '2026-11-19', campaign: 'Summer', adset: 'Broad', creative: 'Cat' };

  it.each([
    [
      'own',
      'date,campaign,adset,creative,currency,amount,impressions,clicks\n2026-11-19,Summer,Broad,Cat,eur,12.50,1000,20',
      { ...row, currency: 'eur', amount: 12.5, impressions: '1000', clicks: '20' },
    ],
    [
      'meta',
      'Day,Campaign name,Ad set name,Ad name,Amount spent (EUR),Impressions,Link clicks,Reporting starts,Reporting ends\n2026-11-19,Summer,Broad,Cat,12.5,"1,000",20,2026-11-19,2026-11-19\n,,,,12.5,1000,20,,',
      { ...row, currency: 'eur', amount: 12.5, impressions: '1000', clicks: '20' },
    ],
    [
      'google',
      'Ad report\n"November 19, 2026 - November 19, 2026"\nDay;Campaign;Ad group;Ad name;Currency code;Cost;Impr.;Clicks\n2026-11-19;Summer;Broad;Cat;EUR;12,50;1.000;20\nTotal: account;;;--;EUR;12,50;1.000;20',
      { ...row, currency: 'EUR', amount: 12.5, impressions: '1000', clicks: '20' },
    ],
    [
      'tiktok',
      'Campaign name\tAd group name\tAd name\tBy Day\tCost\tImpressions\tClicks (destination)\tCurrency\nSummer\tBroad\tCat\t2026-11-19\t12.50\t1000\t20\tUSD\nTotal of 1 results\t\t\t\t12.50\t1000\t20\t',
      { ...row, currency: 'USD', amount: 12.5, impressions: '1000', clicks: '20' },
    ],
    [
      'applovin',
      'Day,Campaign,Creative Set,Ad,Impressions,Clicks,Cost\n2026-11-19,Summer,Broad,Cat,1000,20,12.50',
      { ...row, currency: 'usd', amount: 12.5, impressions: '1000', clicks: '20' },
    ],
    [
      'unity',
      'timestamp,campaign name,creative pack name,starts,clicks,spend\n2026-11-19T00:00:00.000Z,Summer,Cat,1000,20,12.50',
      {
        date: '2026-11-19',
        campaign: 'Summer',
        creative: 'Cat',
        currency: 'usd',
        amount: 12.5,
        impressions: '1000',
        clicks: '20',
      },
    ],
  ])('%s is accepted as exported', (format, text, expected) => {
    expect(only(`\uFEFF${text}\n`)).toEqual({ format, rows: [expected] });
  });
});

it.each([
  ['', 'The header line needs the columns date, campaign and amount, or those of a network’s export'],
  [
    'date,campaign\n2026-01-01,x',
    'The header line needs the columns date, campaign and amount, or those of a network’s export',
  ],
  ['date,campaign,currency,amount\n2026-01-01,x,usd,1,2', 'Line 2: has more fields than the header line'],
  ['date,campaign,currency,amount\n2026-01-01,x,usd,1\n\n2026-01-02,x,usd,', 'Line 4: amount is required'],
  ['date,campaign,currency,amount\n2026-01-01,x,usd,"1,234"', 'Line 2: amount must be a number, not "1,234"'],
])('names the fault of %j', (text, fault) => {
  const { faults } = parseCostFile(text, 'usd');
  expect(faults.map(({ path, message }) => `${path} ${message}`.trim())).toEqual([fault]);
});
