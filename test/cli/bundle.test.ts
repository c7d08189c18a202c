import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleWorker } from '../../src/cli/bundle.ts';
import { ROOT } from '../../src/cli/local-state.ts';
import { MAX_BUNDLE_KIB } from '../bench/bars.ts';
import { slowIt } from '../helpers/thorough.ts';

const ENTRY = path.join(ROOT, 'src/index.ts');
let folder: string;
let modules: string[];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'bundle-test-'));
  modules = await bundleWorker(ENTRY, folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The modules that an isolate has to have before it can answer anything: the entry, and what is imported statically. */
async function neededAtOnce(): Promise<string[]> {
  const [entry = ''] = modules;
  const found = new Set([entry]);
  for (const file of found) {
    const code = await readFile(file, 'utf8');
    for (const [, name = ''] of code.matchAll(/(?:from|import)\s*"(\.[^"]+)"/g)) {
      found.add(path.resolve(path.dirname(file), name));
    }
  }
  return [...found];
}

async function sourcesOf(files: string[]): Promise<string> {
  const maps = await Promise.all(files.map((file) => readFile(`${file}.map`, 'utf8')));
  return maps.flatMap((map) => JSON.parse(map).sources as string[]).join('\n');
}

describe('bundleWorker', () => {
  it('starts an isolate with only what events and clicks need', async () => {
    const atOnce = await sourcesOf(await neededAtOnce());
    const all = await sourcesOf(modules);
    expect(atOnce).toContain('src/ingestion/accept-events.ts');
    expect(atOnce).toContain('src/tracking/record.ts');
    for (const later of [
      'src/dashboard/app.tsx',
      'src/service.ts',
      'src/schedule.ts',
      'src/creatives/create-creative.ts',
      'src/lib/encoding/gzip.ts',
      'src/connectors/',
      'src/deletion/',
      'src/devices/routes.ts',
      'src/impressions/',
      'src/money/',
      'src/reports/',
      'src/skan/',
      'src/stores/',
      'src/teams/',
      'node_modules/papaparse',
      'node_modules/better-auth',
      'hono/dist/jsx',
      'src/docs/document.ts',
      'src/docs/describe-endpoint.ts',
      'node_modules/zod-openapi',
      'node_modules/@modelcontextprotocol/server',
      'node_modules/hyparquet/',
      'node_modules/hyparquet-writer/',
    ]) {
      expect(all).toContain(later);
      expect(atOnce).not.toContain(later);
    }
  });

  it('has nothing of zod that nobody uses', async () => {
    const all = await sourcesOf(modules);
    expect(all).toContain('node_modules/zod/v4/classic/schemas.js');
    expect(all).not.toContain('node_modules/zod/v4/classic/from-json-schema.js');
  });

  it('starts an isolate without modules of Node that take long to load', async () => {
    const code = await Promise.all((await neededAtOnce()).map((file) => readFile(file, 'utf8')));
    const imported = code.join('\n').matchAll(/(?:from|import)\s*"(node:[^"]+)"/g);
    expect(new Set([...imported].map(([, name]) => name))).toEqual(new Set(['node:buffer', 'node:module']));
  });

  const gzippedKib = async (files: readonly string[]) => {
    const sizes = await Promise.all(files.map(async (file) => gzipSync(await readFile(file)).length));
    return sizes.reduce((sum, size) => sum + size, 0) / 1024;
  };

  // 4 of them are what the document says of the endpoints for events and clicks: an endpoint is one record, with its handler.
  it('starts an isolate with less than 268 KiB, gzipped', async () => {
    expect(await gzippedKib(await neededAtOnce())).toBeLessThan(268);
  });

  // The platform takes 3 MB on its free plan. How much an isolate loads at once is what costs time: see above.
  it('keeps the whole service under its limit, gzipped', async () => {
    expect(await gzippedKib(modules)).toBeLessThan(MAX_BUNDLE_KIB);
  });

  slowIt('leaves unchanged files alone, and deletes files of an earlier build', async () => {
    const stale = path.join(folder, 'parts/stale.mjs');
    await writeFile(stale, '');
    const before = await Promise.all(modules.map(async (file) => (await stat(file)).mtimeMs));
    expect(await bundleWorker(ENTRY, folder)).toEqual(modules);
    expect(await Promise.all(modules.map(async (file) => (await stat(file)).mtimeMs))).toEqual(before);
    expect(await readdir(path.dirname(stale))).not.toContain('stale.mjs');
  });
});
