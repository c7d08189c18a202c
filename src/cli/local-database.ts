import path from 'node:path';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { readConfig } from './local-state.ts';

/**
 * Opens the D1 database in a local state directory, whether or not a service is running on it, until `work` ends. `env`: an org whose section
 * of the configuration names the database.
 */
export async function withLocalDatabase<Result>(
  directory: string,
  work: (db: D1Database) => Promise<Result>,
  env?: string,
): Promise<Result> {
  const config = await readConfig();
  const [database] = (env ? config.env?.[env] : config)?.d1_databases ?? [];
  const local = new Miniflare({
    ...convertV4MiniflareOptions({
      modules: true,
      script: 'export default {}',
      // Wrangler uses this id for the local database too.
      d1Databases: { DB: database?.database_id ?? '' },
    }),
    resourcePersistencePath: path.join(directory, 'v3'),
  });
  try {
    return await work(await local.getD1Database('DB'));
  } finally {
    await local.dispose();
  }
}
