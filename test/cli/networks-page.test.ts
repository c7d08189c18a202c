import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { IMPRESSION_PRESETS, type ImpressionPreset, NETWORKS } from '#networks';
import { networksPage } from '../../src/cli/docs/networks-page.ts';

it('keeps docs/networks.md current: run `npm run docs:networks`', () => {
  expect(readFileSync('docs/networks.md', 'utf8')).toBe(networksPage());
});

it('describes every network with its link and what is not verified', () => {
  const page = networksPage();
  for (const { name, unverified, macros } of NETWORKS) {
    expect(page).toContain(`\n## ${name}\n`);
    for (const text of [...unverified, ...Object.values(macros ?? {})]) expect(page).toContain(text);
  }
});

it('has the address of every preset of impression callbacks, and what is not verified', () => {
  const page = networksPage();
  const presets: [string, ImpressionPreset][] = Object.entries(IMPRESSION_PRESETS);
  for (const [name, { label, query, unverified }] of presets) {
    expect(page).toContain(`\n### ${label}\n\nThe preset \`${name}\`.`);
    for (const text of [`/impression/<secret>?${query}`, ...unverified]) expect(page).toContain(text);
  }
});
