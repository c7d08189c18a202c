import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from '../../src/cli/local-state.ts';

/** The modules of a bundled Worker as Miniflare expects them, the entry first. */
export function esModules(files: readonly string[]) {
  return {
    modules: files.map((file) => ({ type: 'ESModule' as const, path: file })),
    modulesRoot: path.dirname(files[0] ?? ''),
  };
}

/** Makes the tables of an empty database, as a deployment's migrations do, in one transaction. */
export async function migrate(db: D1Database): Promise<void> {
  const journal: { entries: { tag: string }[] } = JSON.parse(
    await readFile(path.join(ROOT, 'migrations/meta/_journal.json'), 'utf8'),
  );
  const scripts = await Promise.all(
    journal.entries.map(({ tag }) => readFile(path.join(ROOT, 'migrations', `${tag}.sql`), 'utf8')),
  );
  const statements = scripts.flatMap((sql) => sql.split('--> statement-breakpoint'));
  await db.batch(statements.map((statement) => db.prepare(statement)));
}
