import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withLocalDatabase } from '../../src/cli/local-database.ts';
import { applyMigrations, readMigrations } from '../../src/cli/local-migrations.ts';
import { QUIET, ROOT, WRANGLER } from '../../src/cli/local-state.ts';
import { COMPILE_CACHE } from '../helpers/compile-cache.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'migrations-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const BROKEN = { name: '9998_broken.sql', statements: ['CREATE TABLE kept (a)', 'CREATE TABLE kept (a)'] };
const MENDED = { ...BROKEN, statements: ['CREATE TABLE kept (a)'] };
const LAST = { name: '9999_last.sql', statements: ['CREATE TABLE last (a)'] };

it('applies what is missing, in order, each whole or not at all, and wrangler finds nothing left to apply', async () => {
  const all = await readMigrations();
  await withLocalDatabase(directory, async (db) => {
    const tables = async () => {
      const { results } = await db
        .prepare(
          `SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('teams', 'kept', 'last') ORDER BY 1`,
        )
        .all<{ name: string }>();
      return results.map(({ name }) => name);
    };
    const broken = applyMigrations(db, [...all, BROKEN, LAST]);
    await expect(broken).rejects.toThrow(
      'The migration 9998_broken.sql failed: D1_ERROR: table kept already exists',
    );
    expect(await tables()).toEqual(['teams']);
    await applyMigrations(db, [...all, MENDED, LAST]);
    expect(await tables()).toEqual(['kept', 'last', 'teams']);
    const records = await db.prepare('SELECT name FROM d1_migrations ORDER BY id').all<{ name: string }>();
    expect(records.results.map(({ name }) => name)).toEqual([...all, MENDED, LAST].map(({ name }) => name));
    await applyMigrations(db);
  });
  const list = ['d1', 'migrations', 'list', 'DB', '--local', '--persist-to', directory];
  const env = { ...process.env, ...QUIET, ...COMPILE_CACHE, WRANGLER_LOG: 'log' };
  const { stdout } = await promisify(execFile)(process.execPath, [WRANGLER, ...list], { cwd: ROOT, env });
  expect(stdout).toContain('No migrations to apply');
});
