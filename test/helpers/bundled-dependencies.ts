import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import type { VitestPluginContext } from 'vitest/node';

/** What is imported of packages that consist of many files. */
const ENTRIES = [
  '@hono/zod-validator',
  '@better-auth/passkey',
  '@better-auth/utils/otp',
  ...['adapters/drizzle', 'api', 'crypto', 'minimal', 'plugins/two-factor'].map(
    (part) => `better-auth/${part}`,
  ),
  'drizzle-orm',
  ...['d1', 'durable-sqlite', 'durable-sqlite/migrator', 'sqlite-core'].map((part) => `drizzle-orm/${part}`),
  'hono',
  ...['body-limit', 'cookie', 'factory', 'html', 'http-exception', 'jsx', 'jsx/jsx-dev-runtime'].map(
    (part) => `hono/${part}`,
  ),
  ...['method-not-allowed', 'request-id', 'route', 'router/trie-router', 'utils/html', 'validator'].map(
    (part) => `hono/${part}`,
  ),
  'hyparquet',
  ...['column', 'datapage', 'encoding', 'plain'].map((part) => `hyparquet/src/${part}.js`),
  'hyparquet-writer',
  ...['client', 'server'].map((part) => `@modelcontextprotocol/${part}`),
  'zod',
  'zod-openapi',
];

const packageOf = (specifier: string) => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0];
const PACKAGES = new Set(ENTRIES.map(packageOf));

const OPTIONS = {
  entryPoints: Object.fromEntries(ENTRIES.map((entry) => [entry, entry])),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2024',
  platform: 'browser',
  conditions: ['workerd', 'worker', 'module', 'browser'],
  external: ['node:*', 'cloudflare:*'],
} as const satisfies BuildOptions;

/** Does nothing if the same packages are bundled there already. */
async function bundleInto(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  await mkdir(path.dirname(folder), { recursive: true });
  const unfinished = await mkdtemp(`${folder}-`);
  await build({ ...OPTIONS, outdir: unfinished });
  // Another run may have been faster.
  await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true }));
}

/**
 * A plugin of Vite that loads each of these packages as a few files instead of some four hundred, which every isolate of the
 * tests would fetch one by one.
 */
export async function bundledDependencies(root: string) {
  const lockfile = await readFile(path.join(root, 'package-lock.json'));
  const hash = createHash('sha256').update(lockfile).update(JSON.stringify(OPTIONS)).digest('hex');
  const folder = path.join(root, 'node_modules/.cache', `bundled-dependencies-${hash.slice(0, 16)}`);
  await bundleInto(folder);
  return {
    name: 'bundled-dependencies',
    enforce: 'pre' as const,
    // Transformed files import from the folder. Kept with that of another lockfile, they would load a second copy of each package.
    configureVitest: ({ defineCacheKeyGenerator }: VitestPluginContext) => {
      defineCacheKeyGenerator(() => folder);
    },
    resolveId(id: string): string | undefined {
      if (ENTRIES.includes(id)) return path.join(folder, `${id}.mjs`);
      // It would be a second copy of the package.
      if (PACKAGES.has(packageOf(id)))
        throw new Error(`Add ${id} to ENTRIES in test/helpers/bundled-dependencies.ts`);
      return undefined;
    },
  };
}
