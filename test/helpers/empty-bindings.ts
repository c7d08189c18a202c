import { applyD1Migrations, type D1Migration } from 'cloudflare:test';
import { env } from 'cloudflare:workers';

// Test files share isolates and bindings (vitest.config.ts). Each starts with an empty database and an empty bucket; counters and
// creative registries belong to applications, whose ids are new. `reset()` of cloudflare:test would leave a database that still answers.

const { results } = await env.DB.prepare(
  `SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'`,
).all<{ type: string; name: string }>();
const drops = results.map(({ type, name }) => env.DB.prepare(`DROP ${type} "${name}"`));
if (drops.length > 0) await env.DB.batch(drops);
await applyD1Migrations(env.DB, (env as unknown as { MIGRATIONS: D1Migration[] }).MIGRATIONS);

let truncated = true;
while (truncated) {
  const listed = await env.RAW_EVENTS.list();
  if (listed.objects.length > 0) await env.RAW_EVENTS.delete(listed.objects.map(({ key }) => key));
  truncated = listed.truncated;
}
