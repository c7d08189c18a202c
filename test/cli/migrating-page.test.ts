import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { migratingPage } from '../../src/cli/docs/migrating-page.ts';

it('keeps the columns in docs/migrating.md current: run `npm run docs:migrating`', () => {
  const page = readFileSync('docs/migrating.md', 'utf8');
  expect(page).toBe(migratingPage(page));
  expect(page).toContain('`Is Primary Attribution`');
  expect(page).toContain('`{reporting_currency}`');
});
