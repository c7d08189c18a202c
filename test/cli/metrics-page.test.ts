import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ALL_METRICS } from '#catalogue';
import { metricsPage } from '../../src/cli/docs/metrics-page.ts';

it('keeps docs/metrics.md current: run `npm run docs:metrics`', () => {
  expect(readFileSync('docs/metrics.md', 'utf8')).toBe(metricsPage());
});

it('describes every metric and when it is null', () => {
  const lines = metricsPage().split('\n');
  for (const name of ALL_METRICS)
    expect(lines.filter((line) => line.startsWith(`| \`${name}\` |`)).length).toBeGreaterThan(0);
  const cells = (name: string) => {
    const line = lines.find((one) => one.startsWith(`| \`${name}\` |`)) ?? '';
    return line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  };
  const [, name, unit, , formula, nullWhere] = cells('cpi');
  expect([name, unit, formula, nullWhere]).toEqual([
    'CPI',
    'money, in units of the reporting currency; paid',
    'spend / attributed installs',
    'by `hour`, `app_version`, `sdk_version`, `source`, `media_source`, `placement`, `item`, `event_name`, `currency`; without spend; if the divisor is 0',
  ]);
  expect(cells('impressions')[5]).toBe('by `item`, `event_name`');
});
