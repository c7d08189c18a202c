import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { IMPRESSION_PRESETS, type ImpressionPreset, NETWORKS } from '#networks';
import { withCostFormats } from '../../src/cli/docs/cost-formats.ts';
import { networkPages } from '../../src/cli/docs/networks-page.ts';

const pages = networkPages();

it('keeps docs/networks.md and the page of each network current: run `npm run docs:networks`', () => {
  const written = ['networks.md', ...readdirSync('docs/networks').map((file) => `networks/${file}`)];
  expect(Object.fromEntries(written.map((file) => [file, readFileSync(`docs/${file}`, 'utf8')]))).toEqual(
    pages,
  );
});

it('keeps the table of exports in docs/costs.md current', () => {
  const page = readFileSync('docs/costs.md', 'utf8');
  expect(withCostFormats(page)).toBe(page);
  expect(() => withCostFormats('')).toThrow('no place');
});

it.each(NETWORKS)('describes $name: its link, ids, and what is not verified', (network) => {
  const { id, name, unverified, macros, postback, clickIds, skadnetworkIds } = network;
  const page = pages[`networks/${id}.md`] ?? '';
  expect(page).toContain(`\n# ${name}\n`);
  const said = [...unverified, ...clickIds, ...skadnetworkIds, ...Object.values(macros ?? {})];
  for (const text of [...said, ...(postback ? [postback.url, postback.unverified] : [])]) {
    expect(page).toContain(text);
  }
});

it('links to pages that exist', () => {
  const broken = Object.entries(pages).flatMap(([file, text]) =>
    [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)]
      .map(([, target = '']) => path.join('docs', path.dirname(file), target))
      .filter((target) => !existsSync(target)),
  );
  expect(broken).toEqual([]);
});

it('has the address of every preset of impression callbacks, and what is not verified', () => {
  const presets: [string, ImpressionPreset][] = Object.entries(IMPRESSION_PRESETS);
  for (const [name, { label, query, unverified }] of presets) {
    expect(pages['networks.md']).toContain(`\n### ${label}\n\nThe preset \`${name}\`.`);
    for (const text of [`/impression/<secret>?${query}`, ...unverified]) {
      expect(pages['networks.md']).toContain(text);
    }
  }
});
