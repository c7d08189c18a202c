import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { NETWORKS } from '#networks';
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
