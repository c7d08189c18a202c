import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { bundleWorker } from '../../src/cli/bundle.ts';
import { QUIET, ROOT, WRANGLER } from '../../src/cli/local-state.ts';
import { esModules } from '../helpers/workerd.ts';
import { measureHeap } from './measure-heap.ts';
import type { Figures } from './options.ts';
import { findWorkerd, threadCpuSeconds, untilIdle } from './processes.ts';
import { COMPATIBILITY, OUT } from './rig.ts';
import { median } from './workload.ts';

/** How often `step` is called. */
export const SCRIPT_STEPS = 3;

/** What needs no server: the script's size, its start-up in so many isolates, and the memory of a run. */
export async function measureScript(isolates: number, step: (what: string) => void): Promise<Figures> {
  step('bundle');
  const folder = path.join(OUT, 'service');
  const modules = await bundleWorker(path.join(ROOT, 'src/index.ts'), folder);
  const sizes = await Promise.all(modules.map(async (file) => gzipSync(await readFile(file)).length));
  step('start-up');
  const startup = await measureStartup(folder, modules, isolates);
  const profiled = await profileStartup();
  step('heap of a run');
  return {
    // The smallest heap of a V8 in which it works, of 56, 64, 72, 96 and 128 MB; SQLite's own memory is outside of it.
    settle_heap_mb_200k: await measureHeap('--events', '200000'),
    settle_heap_mb_20k_of_6_kb: await measureHeap('--events', '20000', '--bytes', '6000'),
    bundle_gzip_kib: sizes.reduce((sum, size) => sum + size, 0) / 1024,
    startup_cpu_ms: startup,
    startup_profiled_ms: profiled,
  };
}

/**
 * CPU milliseconds of evaluating the deployed entry in a fresh isolate, which is what Cloudflare limits: the median over several isolates of
 * one workerd, all its threads included. Each isolate imports the entry in its first request, so that nothing else is measured.
 */
async function measureStartup(folder: string, modules: string[], isolates: number): Promise<number> {
  const { modules: files, modulesRoot } = esModules(modules);
  const importer = {
    type: 'ESModule' as const,
    path: path.join(folder, 'import-entry.mjs'),
    contents:
      'export default { async fetch() { await import("./index.mjs"); return new Response(null, { status: 204 }); } }',
  };
  // The first isolate also pays for what workerd loads once, such as its Node.js modules.
  const names = Array.from({ length: isolates + 1 }, (_, index) => `isolate-${index}`);
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      workers: names.map((name) => ({
        name,
        modules: [importer, ...files],
        modulesRoot,
        ...COMPATIBILITY,
        unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
      })),
    }),
  );
  try {
    await miniflare.ready;
    const workerd = await findWorkerd();
    const spent: number[] = [];
    for (const name of names) {
      const url = await miniflare.unsafeGetDirectURL(name);
      await untilIdle(workerd);
      const before = await threadCpuSeconds(workerd);
      const { status } = await fetch(url);
      if (status !== 204) throw new Error(`The entry could not be evaluated: ${status}`);
      spent.push(((await threadCpuSeconds(workerd)) - before) * 1000);
    }
    return median(spent.slice(1));
  } finally {
    await miniflare.dispose();
  }
}

type CpuProfile = {
  nodes: { id: number; callFrame: { functionName: string } }[];
  samples: number[];
  timeDeltas: number[];
};

/** The same as wrangler shows it: milliseconds by the clock of the samples that are not idle, those of the profiler itself included. */
async function profileStartup(): Promise<number> {
  const file = path.join(OUT, 'startup.cpuprofile');
  const env = { ...process.env, ...QUIET };
  const args = [WRANGLER, 'check', 'startup', '--outfile', file];
  await promisify(execFile)(process.execPath, args, { cwd: ROOT, env });
  const profile: CpuProfile = JSON.parse(await readFile(file, 'utf8'));
  const idle = new Set(
    profile.nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id),
  );
  const busy = profile.timeDeltas.filter((_, index) => !idle.has(profile.samples[index] ?? -1));
  return busy.reduce((sum, delta) => sum + delta, 0) / 1000;
}
