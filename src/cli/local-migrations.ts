import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'drizzle-orm';
import { toStatement } from '#db';
import { ROOT } from './local-state.ts';

/** As wrangler makes it. */
const RECORDS = sql`CREATE TABLE IF NOT EXISTS d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`;

const FOLDER = path.join(ROOT, 'migrations');

type Migration = { name: string; statements: string[] };

/** The migrations of the database, in their order. */
export async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(path.join(FOLDER, name), 'utf8');
      return { name, statements: text.split('--> statement-breakpoint') };
    }),
  );
}

/**
 * Applies the migrations that a local database does not have yet, each in a transaction. They are recorded as `wrangler d1 migrations apply`
 * does it, which would start a database anew for each of them: that
 * took most of the first start's time. Throws with the name of one that fails, after those before it.
 */
export async function applyMigrations(db: D1Database, migrations?: readonly Migration[]): Promise<void> {
  await toStatement(db, RECORDS).run();
  const { results } = await toStatement(db, sql`SELECT name FROM d1_migrations`).all<{ name: string }>();
  const applied = new Set(results.map(({ name }) => name));
  for (const { name, statements } of migrations ?? (await readMigrations())) {
    if (applied.has(name)) continue;
    const templates = [
      ...statements.map((text) => sql.raw(text)),
      sql`INSERT INTO d1_migrations (name) VALUES (${name})`,
    ];
    const migrated = db.batch(templates.map((template) => toStatement(db, template)));
    await migrated.catch((error) => {
      throw new Error(`The migration ${name} failed: ${error.message}`);
    });
  }
}
