import { applyD1Migrations, type D1Migration, reset } from 'cloudflare:test';
import { env } from 'cloudflare:workers';

/** Lasts as long as the isolate, also where a file resets its modules. */
const isolate = globalThis as { migrated?: readonly string[] };

const OWN = "name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'";

/** What the migrations made of an empty database, which one transaction repeats: applying them one by one takes ten times as long. */
async function readMigrated(): Promise<string[]> {
  const [made, applied] = await env.DB.batch<{ sql: string }>([
    env.DB.prepare(`SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND ${OWN} ORDER BY rowid`),
    env.DB.prepare(
      "SELECT 'INSERT INTO d1_migrations VALUES (' || id || ', ' || quote(name) || ', ' || quote(applied_at) || ')' AS sql FROM d1_migrations",
    ),
  ]);
  return [...(made?.results ?? []), ...(applied?.results ?? [])].map(({ sql }) => sql);
}

async function migrate(): Promise<void> {
  if (isolate.migrated) {
    await env.DB.batch(isolate.migrated.map((sql) => env.DB.prepare(sql)));
    return;
  }
  await applyD1Migrations(env.DB, (env as unknown as { MIGRATIONS: D1Migration[] }).MIGRATIONS);
  isolate.migrated = await readMigrated();
}

/**
 * Empties the database, the bucket and all objects. `reset` ends the counters with their alarms, but a database that was in use may keep its
 * rows, so its tables are dropped as well.
 */
export async function emptyStores(): Promise<void> {
  await reset();
  const { results: tables } = await env.DB.prepare(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND ${OWN}`,
  ).all<{ name: string }>();
  if (tables.length > 0) await env.DB.batch(tables.map(({ name }) => env.DB.prepare(`DROP TABLE "${name}"`)));
  await migrate();
}
