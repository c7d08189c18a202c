import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { esModules, migrate } from '../helpers/workerd.ts';

// The process that is killed: workerd with its state on disk. Its first line of output says where it listens.

const [modules = '[]', state = '', harnessUrl = '', seed = ''] = process.argv.slice(2);
const converted = convertV4MiniflareOptions({
  workers: [
    {
      name: 'chaos',
      ...esModules(JSON.parse(modules)),
      compatibilityDate: '2026-10-01',
      compatibilityFlags: ['nodejs_compat'],
      bindings: {
        HARNESS_URL: harnessUrl,
        CHAOS_SEED: seed,
        TOKEN_SECRET: 'a-token-secret-of-the-chaos-run-00000000',
        KEY_ENCRYPTION_SECRET: 'a-key-encryption-secret-of-the-chaos-run',
        SESSION_SECRET: 'a-session-secret-of-the-chaos-run-000000',
        EXCHANGE_RATES_URL: '',
        FURTHER_RATES_URL: '',
        OUTBOUND_LOCAL: 'true',
      },
      d1Databases: { DB: 'chaos' },
      r2Buckets: { RAW_EVENTS: 'chaos' },
      // A new version on every start: what was sent before a kill is validated again after it.
      versionMetadata: 'CF_VERSION_METADATA',
      durableObjects: {
        COUNTERS: { className: 'Counter', useSQLite: true },
        DESTINATIONS: { className: 'Destination', useSQLite: true },
      },
      unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
    },
  ],
});
const miniflare = new Miniflare({ ...converted, resourcePersistencePath: state });
const db = await miniflare.getD1Database('DB', 'chaos');
const migrated = await db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'applications'").first();
if (!migrated) await migrate(db);
console.log(String(await miniflare.unsafeGetDirectURL('chaos')));
