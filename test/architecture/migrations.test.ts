import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = path.join(import.meta.dirname, '../..');

/** What `drizzle-kit generate` prints in a copy of `folder`. It exits with 0 even if it fails. */
function generateIn(folder: string, options: readonly string[]): string {
  const parent = path.join(ROOT, '.wrangler');
  mkdirSync(parent, { recursive: true });
  const copy = mkdtempSync(path.join(parent, 'migrations-'));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  cpSync(path.join(ROOT, folder), copy, { recursive: true });
  const out = `./${path.relative(ROOT, copy)}`;
  return execFileSync('npx', ['drizzle-kit', 'generate', '--dialect', 'sqlite', '--out', out, ...options], {
    cwd: ROOT,
    stdio: 'pipe',
    encoding: 'utf8',
  });
}

test.each([
  ['migrations', './src/db/schema/*.ts', []],
  ['migrations/counter', './src/counting/schema.ts', ['--driver', 'durable-sqlite']],
  ['migrations/destination', './src/destinations/object/schema.ts', ['--driver', 'durable-sqlite']],
])('%s and its snapshot have every table and column of the schema', (folder, schema, options) => {
  expect(generateIn(folder, ['--schema', schema, ...options])).toContain(
    'No schema changes, nothing to migrate',
  );
});
