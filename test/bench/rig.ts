import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { bundleWorker } from '../../src/cli/bundle.ts';
import { QUIET, ROOT, WRANGLER } from '../../src/cli/local-state.ts';
import { esModules, migrate } from '../helpers/workerd.ts';
import { TOKEN_SECRET } from './credentials.ts';
import { cpuSeconds, findWorkerd, peakMemoryMb, untilIdle } from './processes.ts';

const run = promisify(execFile);
const COMPATIBILITY_DATE = '2026-10-01';
export const OUT = path.join(ROOT, '.wrangler/bench');

async function wrangler(...args: string[]): Promise<void> {
  await run(process.execPath, [WRANGLER, ...args], { cwd: ROOT, env: { ...process.env, ...QUIET } });
}

/** The size of the whole deployed script, its modules gzipped one by one, in KiB. */
export async function measureBundle(): Promise<number> {
  const modules = await bundleWorker(path.join(ROOT, 'src/index.ts'), path.join(OUT, 'service'));
  const sizes = await Promise.all(modules.map(async (file) => gzipSync(await readFile(file)).length));
  return sizes.reduce((sum, size) => sum + size, 0) / 1024;
}

type CpuProfile = {
  nodes: { id: number; callFrame: { functionName: string } }[];
  samples: number[];
  timeDeltas: number[];
};

/** CPU milliseconds of loading the script in a fresh isolate: the samples of workerd's profile that are not idle. */
export async function measureStartup(): Promise<number> {
  const file = path.join(OUT, 'startup.cpuprofile');
  await wrangler('check', 'startup', '--outfile', file);
  const profile: CpuProfile = JSON.parse(await readFile(file, 'utf8'));
  const idle = new Set(
    profile.nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id),
  );
  const busy = profile.timeDeltas.filter((_, index) => !idle.has(profile.samples[index] ?? -1));
  return busy.reduce((sum, delta) => sum + delta, 0) / 1000;
}

const ROLES = [
  'service',
  'service-without-queue',
  'enqueue-only',
  'two-round-trips',
  'bare',
  'control',
] as const;
export type Role = (typeof ROLES)[number];

export type Rig = {
  url: (role: Role) => Promise<URL>;
  db: D1Database;
  /** CPU seconds that workerd has used; NaN where the system does not tell. */
  cpuSeconds: () => Promise<number>;
  /** Waits until workerd has done what earlier requests left behind, such as delivering its queue. */
  untilIdle: () => Promise<void>;
  peakMemoryMb: () => Promise<number>;
  stop: () => Promise<void>;
};

/** What every Worker of the benchmarks has. Its counters are in the Worker `counters`. */
export const workerOptions = (name: string, modules: string[], counters: string) => ({
  name,
  ...esModules(modules),
  compatibilityDate: COMPATIBILITY_DATE,
  compatibilityFlags: ['nodejs_compat'],
  bindings: {
    ROLE: name,
    TOKEN_SECRET,
    KEY_ENCRYPTION_SECRET: 'a-key-encryption-secret-of-the-benchmark',
    SESSION_SECRET: 'a-session-secret-of-the-benchmark-000000',
  },
  d1Databases: { DB: 'bench' },
  r2Buckets: { RAW_EVENTS: 'bench' },
  durableObjects: {
    COUNTERS: {
      className: 'Counter',
      useSQLite: true,
      ...(name === counters ? {} : { scriptName: counters }),
    },
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
    cpuSeconds: () => cpuSeconds(workerd),
    untilIdle: () => untilIdle(workerd),
    peakMemoryMb: () => peakMemoryMb(workerd),
    stop: () => miniflare.dispose(),
  };
}
