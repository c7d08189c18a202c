import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ALL_METRICS } from '#catalogue';
import { metricsPage } from '../../src/cli/metrics-page.ts';

it('docs/metrics.md is current: run `npm run docs:metrics`', () => {
  expect(readFileSync('docs/metrics.md', 'utf8')).toBe(metricsPage());
});

it('describes every metric, and where it is null', () => {
  const lines = metricsPage().split('\n');
  for (const name of ALL_METRICS)
    expect(lines.filter((line) => line.startsWith(`| \`${name}\` |`)).length).toBeGreaterThan(0);
  const cpi = lines.find((line) => line.startsWith('| `cpi` |'));
  expect(cpi).toContain('spend / attributed installs');
  expect(cpi).toMatch(
    /by `hour`, `country`, .*`currency`; if the divisor is 0; if an amount has no exchange rate/,
  );
  expect(lines.find((line) => line.startsWith('| `impressions` |'))).toContain('by `item`, `event_name` |');
});
