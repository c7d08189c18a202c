import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = path.join(import.meta.dirname, '../..');

/** The names of the migrations after `drizzle-kit generate` in a copy of `folder`. */
function generated(folder: string, options: readonly string[]): string[] {
  const parent = path.join(ROOT, '.wrangler');
  mkdirSync(parent, { recursive: true });
  const copy = mkdtempSync(path.join(parent, 'migrations-'));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  cpSync(path.join(ROOT, folder), copy, { recursive: true });
  const out = `./${path.relative(ROOT, copy)}`;
  execFileSync('npx', ['drizzle-kit', 'generate', '--dialect', 'sqlite', '--out', out, ...options], {
    cwd: ROOT,
    stdio: 'pipe',
  });
  return migrationsOf(copy);
}

const migrationsOf = (folder: string): string[] =>
  readdirSync(folder).filter((name) => name.endsWith('.sql'));

test.each([
  ['migrations', './src/db/schema/*.ts', []],
  ['migrations/counter', './src/counting/schema.ts', ['--driver', 'durable-sqlite']],
])('%s and its snapshot have every table and column of the schema', (folder, schema, options) => {
  const written = migrationsOf(path.join(ROOT, folder));
  expect(written).not.toEqual([]);
  expect(generated(folder, ['--schema', schema, ...options])).toEqual(written);
});
