import path from 'node:path';
import { readMigrations } from '../../src/cli/local-migrations.ts';

/** The modules of a bundled Worker as Miniflare expects them, the entry first. */
export function esModules(files: readonly string[]) {
  return {
    modules: files.map((file) => ({ type: 'ESModule' as const, path: file })),
    modulesRoot: path.dirname(files[0] ?? ''),
  };
}

/** Makes the tables of an empty database, as a deployment's migrations do, in one transaction. */
export async function migrate(db: D1Database): Promise<void> {
  const statements = (await readMigrations()).flatMap(({ statements }) => statements);
  await db.batch(statements.map((statement) => db.prepare(statement)));
}
