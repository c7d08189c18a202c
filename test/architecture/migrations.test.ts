import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import {
  type DrizzleSQLiteSnapshotJSON,
  generateSQLiteDrizzleJson,
  generateSQLiteMigration,
} from 'drizzle-kit/api';
import { expect, test } from 'vitest';

const ROOT = path.join(import.meta.dirname, '../..');

/** What the newest migration left, as drizzle-kit keeps it. */
function lastSnapshot(folder: string): DrizzleSQLiteSnapshotJSON {
  const names = globSync(`${folder}/meta/*_snapshot.json`, { cwd: ROOT }).sort();
  return JSON.parse(readFileSync(path.join(ROOT, names.at(-1) ?? ''), 'utf8'));
}

async function tablesIn(schema: string): Promise<Record<string, unknown>> {
  const modules: object[] = await Promise.all(
    globSync(schema, { cwd: ROOT }).map((file) => import(path.join(ROOT, file))),
  );
  return Object.assign({}, ...modules);
}

test.each([
  ['migrations', 'src/db/schema/*.ts'],
  ['migrations/counter', 'src/counting/schema.ts'],
  ['migrations/destination', 'src/destinations/object/schema.ts'],
])('%s and its snapshot have every table and column of the schema', async (folder, schema) => {
  const tables = await tablesIn(schema);
  const wanted = await generateSQLiteDrizzleJson(tables);
  expect(Object.keys(wanted.tables).length).toBeGreaterThan(0);
  expect(await generateSQLiteMigration(lastSnapshot(folder), wanted)).toEqual([]);
});
