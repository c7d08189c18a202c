import { applyD1Migrations, type D1Migration, reset } from 'cloudflare:test';
import { env } from 'cloudflare:workers';

/**
 * Empties the database, the bucket and all objects. `reset` ends the counters with their alarms, but a database that was in use may keep its
 * rows, so its tables are dropped as well.
 */
export async function emptyStores(): Promise<void> {
  await reset();
  const { results: tables } = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'",
  ).all<{ name: string }>();
  if (tables.length > 0) await env.DB.batch(tables.map(({ name }) => env.DB.prepare(`DROP TABLE "${name}"`)));
  await applyD1Migrations(env.DB, (env as unknown as { MIGRATIONS: D1Migration[] }).MIGRATIONS);
}
