import path from 'node:path';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { bundleWorker } from '../../src/cli/bundle.ts';
import { ROOT } from '../../src/cli/local-state.ts';
import { esModules, migrate } from '../helpers/workerd.ts';
import { TOKEN_SECRET } from './credentials.ts';
import { cpuSeconds, findWorkerd, peakMemoryMb, threadCpuSeconds, untilIdle } from './processes.ts';

export const COMPATIBILITY = { compatibilityDate: '2026-10-01', compatibilityFlags: ['nodejs_compat'] };
export const OUT = path.join(ROOT, '.wrangler/bench');

const ROLES = [
  'service',
  'service-without-queue',
  'service-with-slow-queue',
  'enqueue-only',
  'two-round-trips',
  'bare',
  'control',
] as const;
export type Role = (typeof ROLES)[number];

export type Rig = {
  url: (role: Role) => Promise<URL>;
  db: D1Database;
  /** CPU seconds of workerd's running threads, to the nanosecond; NaN where the system does not tell. */
  cpuSeconds: () => Promise<number>;
  /** Waits until workerd has done what earlier requests left behind, such as delivering its queue. */
  untilIdle: () => Promise<void>;
  peakMemoryMb: () => Promise<number>;
  stop: () => Promise<void>;
};

/** The objects of a class, which are in the Worker `host`. */
const objectOf = (className: string, name: string, host: string) => ({
  className,
  useSQLite: true,
  ...(name === host ? {} : { scriptName: host }),
});

/** What every Worker of the benchmarks has. Its counters are in the Worker `counters`, whose clock is put forward; its destinations are not. */
export const workerOptions = (name: string, modules: string[], counters: string) => ({
  name,
  ...esModules(modules),
  ...COMPATIBILITY,
  bindings: {
    ROLE: name,
    TOKEN_SECRET,
    KEY_ENCRYPTION_SECRET: 'a-key-encryption-secret-of-the-benchmark',
    SESSION_SECRET: 'a-session-secret-of-the-benchmark-000000',
    OUTBOUND_LOCAL: 'true',
    // Miniflare's own would give every role a version of its own, although all run the same code.
    CF_VERSION_METADATA: { id: 'bench', tag: '', timestamp: '' },
  },
  d1Databases: { DB: 'bench' },
  r2Buckets: { RAW_EVENTS: 'bench' },
  durableObjects: {
    COUNTERS: objectOf('Counter', name, counters),
    DESTINATIONS: objectOf('Destination', name, ROLES[0]),
  },
  queueProducers: { EVENTS: { queueName: 'events' } },
  ...(name === counters ? { queueConsumers: { events: { maxBatchSize: 100, maxBatchTimeout: 1 } } } : {}),
  unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
});

/** All roles in one workerd, each on a socket of its own, over a fresh database. */
export async function startRig(): Promise<Rig> {
  let workerd = Number.NaN;
  const modules = await bundleWorker(path.join(ROOT, 'test/bench/worker.ts'), path.join(OUT, 'roles'));
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      workers: ROLES.map((role) => ({
        ...workerOptions(role, modules, 'control'),
        // What an isolate can't know of its own process: see stopwatch.ts.
        serviceBindings: { CPU_SECONDS: async () => new Response(String(await cpuSeconds(workerd))) },
      })),
    }),
  );
  const db = await miniflare.getD1Database('DB', 'control');
  await migrate(db);
  workerd = await findWorkerd();
  return {
    url: (role) => miniflare.unsafeGetDirectURL(role),
    db,
    cpuSeconds: () => threadCpuSeconds(workerd),
    untilIdle: () => untilIdle(workerd),
    peakMemoryMb: () => peakMemoryMb(workerd),
    stop: () => miniflare.dispose(),
  };
}
