import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { bundleIntoOne, bundleWorker } from '../../src/cli/bundle.ts';
import { ROOT, readConfig } from '../../src/cli/local-state.ts';
import { TEST_SECRETS } from '../helpers/secrets.ts';
import { esModules } from '../helpers/workerd.ts';
import { FIXTURES } from './released.ts';

// Releases of the service, run over stores on disk: today's code, or the Worker that a release kept with its stores.

const WORKER = path.join(ROOT, 'test/upgrade/worker.ts');

/** Within the folder of a release: `worker.ts` as that release had it, in one module, compressed with Brotli. */
const BUNDLE = 'worker.js.br';

/** Keeps today's Worker in the folder of a release. */
export const keepWorker = async (folder: string): Promise<void> =>
  writeFile(path.join(folder, BUNDLE), brotliCompressSync(await bundleIntoOne(WORKER)));

/** The modules of today's Worker, the entry first. */
export const bundleToday = (folder: string): Promise<string[]> => bundleWorker(WORKER, folder);

/** The modules of a release's Worker. */
export async function unpackRelease(version: string, folder: string): Promise<string[]> {
  const file = path.join(folder, 'index.mjs');
  await mkdir(folder, { recursive: true });
  await writeFile(file, brotliDecompressSync(await readFile(path.join(FIXTURES, version, BUNDLE))));
  return [file];
}

/** Throws unless the answer is a success. */
export async function call<Answer>(url: URL, init?: RequestInit): Promise<Answer> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url.pathname} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Answer;
}

/** Runs a Worker over the stores in `directory`, which it creates without tables, while `work` does something with it. */
export async function runRelease<Result>(
  modules: readonly string[],
  directory: string,
  work: (address: URL, miniflare: Miniflare) => Promise<Result>,
): Promise<Result> {
  const config = await readConfig();
  const miniflare = new Miniflare({
    ...convertV4MiniflareOptions({
      workers: [
        {
          name: 'upgrade',
          ...esModules(modules),
          compatibilityDate: config.compatibility_date ?? '',
          compatibilityFlags: ['nodejs_compat'],
          bindings: {
            ...TEST_SECRETS,
            ...{ EXCHANGE_RATES_URL: '', FURTHER_RATES_URL: '', OUTBOUND_LOCAL: 'true' },
            TRACKING_BASE_URL: 'https://links.example.com/t',
          },
          d1Databases: { DB: config.d1_databases?.[0]?.database_id ?? '' },
          r2Buckets: { RAW_EVENTS: 'raw-events' },
          durableObjects: {
            COUNTERS: { className: 'Counter', useSQLite: true },
            CREATIVES: { className: 'CreativeRegistry', useSQLite: true },
            DESTINATIONS: { className: 'Destination', useSQLite: true },
          },
          ratelimits: { CLICK_LIMIT: { namespace_id: '1', simple: { limit: 1_000, period: 60 } } },
          unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
        },
      ],
    }),
    resourcePersistencePath: path.join(directory, 'v3'),
  });
  try {
    return await work(await miniflare.unsafeGetDirectURL('upgrade'), miniflare);
  } finally {
    await miniflare.dispose();
  }
}
