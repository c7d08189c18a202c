import { expect, it } from 'vitest';
import { type Message, toHtml, toText } from '../../src/alerts/message.ts';
import { Page } from '../helpers/page.ts';

const ORIGIN = 'https://dash.test';

const DIGEST: Message = {
  heading: 'Test game · Saturday, 2026-03-28',
  figures: [
    { label: 'Revenue', value: '€50.00', changes: ['−50%', '+10%'] },
    { label: 'Installs', value: '2', changes: ['', '+100%'] },
    { label: 'Spend', value: '–', changes: ['', ''] },
    { label: 'ROAS so far', value: '20%', changes: [] },
  ],
  comparedWith: ['the day before', 'Saturday a week before'],
  sentences: ['Top campaigns by revenue: <!channel> & <b>Summer</b> (€30.00).'],
  link: { path: '/?app=app_1&from=2026-03-28&to=2026-03-28', label: 'Open the overview of these days' },
};

const ALERT: Message = {
  heading: 'Test game · Alert: CPI is above €2.00',
  figures: [],
  comparedWith: [],
  sentences: ['CPI of the last seven days is €3.00, above €2.00.'],
  link: { path: '/alerts?app=app_1', label: 'Open the alerts' },
};

it('writes a digest as text, one fact per line', () => {
  expect(toText(DIGEST, ORIGIN).split('\n')).toEqual([
    'Test game · Saturday, 2026-03-28',
    'Revenue: €50.00 (−50%, +10%)',
    'Installs: 2 (–, +100%)',
    'Spend: –',
    'ROAS so far: 20%',
    'In parentheses: the change from the day before and from Saturday a week before.',
    'Top campaigns by revenue: <!channel> & <b>Summer</b> (€30.00).',
    'https://dash.test/?app=app_1&from=2026-03-28&to=2026-03-28',
  ]);
});

it('writes an alert as text', () => {
  expect(toText(ALERT, ORIGIN)).toBe(
    'Test game · Alert: CPI is above €2.00\nCPI of the last seven days is €3.00, above €2.00.\nhttps://dash.test/alerts?app=app_1',
  );
});

it('writes a digest as HTML with a table, and no markup of names', async () => {
  const page = new Page(await toHtml(DIGEST, ORIGIN));
  expect(page.texts('h1')).toEqual(['Test game · Saturday, 2026-03-28']);
  expect(page.texts('thead th')).toEqual(['', '', 'vs. the day before', 'vs. Saturday a week before']);
  expect(page.all('tbody tr').map((row) => new Page(row).texts('th, td'))).toEqual([
    ['Revenue', '€50.00', '−50%', '+10%'],
    ['Installs', '2', '–', '+100%'],
    ['Spend', '–', '–', '–'],
    ['ROAS so far', '20%', '–', '–'],
  ]);
  expect(page.texts('p')[0]).toBe('Top campaigns by revenue: <!channel> & <b>Summer</b> (€30.00).');
  expect(page.all('b')).toEqual([]);
  expect(page.links).toEqual(
    new Map([
      ['Open the overview of these days', 'https://dash.test/?app=app_1&from=2026-03-28&to=2026-03-28'],
    ]),
  );
});

it('writes an alert as HTML without a table', async () => {
  const page = new Page(await toHtml(ALERT, ORIGIN));
  expect(page.all('table')).toEqual([]);
  expect(page.texts('h1, p')).toEqual([
    'Test game · Alert: CPI is above €2.00',
    'CPI of the last seven days is €3.00, above €2.00.',
    'Open the alerts',
  ]);
});
