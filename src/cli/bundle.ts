import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';

/**
 * Writes a file unless it already has these contents, because writing it would trigger a watcher again. Writes to `folder`, on the same file
 * system, and then renames, because a server may be starting from the file at the same time.
 */
export async function putFile(file: string, contents: Uint8Array, folder: string): Promise<void> {
  const present = await readFile(file).catch(() => null);
  if (present?.equals(contents)) return;
  const unfinished = path.join(folder, `.${process.pid}`);
  await writeFile(unfinished, contents);
  await rename(unfinished, file);
}

/**
 * Modules that are imported and never used: attestations of authenticators and the roots of their certificates, which no passkey is asked for;
 * JSON web tokens and providers, for sign-ins by other services; and the languages of zod besides English.
 * Together they are a fifth of the bundle.
 */
const leaveOutUnused: Plugin = {
  name: 'leave-out-unused',
  setup({ onResolve, onLoad }) {
    const empty = { path: 'empty', namespace: 'unused' };
    onResolve(
      { filter: /\/verifyAttestation\w+\.js$|\/defaultRootCerts\/|^@peculiar\/x509$|^jose$/ },
      () => empty,
    );
    onResolve({ filter: /\/locales\/index\.js$/ }, ({ importer }) =>
      importer.includes('/node_modules/zod/') ? empty : undefined,
    );
    onResolve({ filter: /^\.\/[\w-]+\.mjs$/ }, ({ importer }) =>
      importer.endsWith('/@better-auth/core/dist/social-providers/index.mjs') ? empty : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'unused' }, () => ({ contents: 'module.exports = {};' }));
    // better-auth looks up the types of its fields by name, which would keep all of zod, at once with what we use of it.
    const types = { path: 'types-of-fields', namespace: 'types-of-fields' };
    onResolve({ filter: /^zod$/ }, ({ importer, resolveDir }) =>
      importer.endsWith('/better-auth/dist/db/to-zod.mjs') ? { ...types, pluginData: resolveDir } : undefined,
    );
    onLoad({ filter: /.*/, namespace: types.namespace }, ({ pluginData }) => ({
      contents: "export { any, array, boolean, date, json, number, object, string } from 'zod';",
      resolveDir: pluginData,
    }));
  },
};

const OPTIONS = {
  bundle: true,
  format: 'esm',
  target: 'es2024',
  platform: 'browser',
  conditions: ['workerd', 'worker', 'browser'],
  external: ['node:*', 'cloudflare:*'],
  plugins: [leaveOutUnused],
  loader: { '.sql': 'text' },
  define: { 'process.env.NODE_ENV': '"production"' },
  jsx: 'automatic',
  jsxImportSource: 'hono/jsx',
  // Half the size takes half the time to start; the source maps restore names in stack traces.
  minify: true,
} satisfies BuildOptions;

/** Bundles a Worker into a single ES module. */
export async function bundleIntoOne(entry: string): Promise<Uint8Array> {
  const { outputFiles } = await build({ ...OPTIONS, entryPoints: [entry], write: false });
  return outputFiles[0]?.contents ?? new Uint8Array();
}

/**
 * Bundles a Worker into ES modules in `folder` and returns their paths, the entry's first. Dynamic imports become modules of their own,
 * which an isolate loads when it first needs them. Idempotent: unchanged files are not touched, and modules of an earlier build are
 * removed.
 */
export async function bundleWorker(entry: string, folder: string): Promise<string[]> {
  const { outputFiles } = await build({
    ...OPTIONS,
    entryPoints: { index: entry },
    chunkNames: 'parts/[name]-[hash]',
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    write: false,
    splitting: true,
    sourcemap: 'linked',
  });
  const made = new Set(outputFiles.map((file) => file.path));
  const parts = path.join(folder, 'parts');
  await mkdir(parts, { recursive: true });
  for (const name of await readdir(parts)) {
    if (!made.has(path.join(parts, name))) await rm(path.join(parts, name), { force: true });
  }
  for (const file of outputFiles) await putFile(file.path, file.contents, folder);
  const modules = outputFiles.map((file) => file.path).filter((file) => file.endsWith('.mjs'));
  const index = path.join(folder, 'index.mjs');
  return [index, ...modules.filter((file) => file !== index)];
}

/** Bundles a module of `src` for browsers into one file. Idempotent: an unchanged file is not touched. `folder` is where it is first written. */
export async function bundleScript(entry: string, file: string, folder: string): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    write: false,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    minify: true,
  });
  await mkdir(path.dirname(file), { recursive: true });
  for (const { contents } of outputFiles) await putFile(file, contents, folder);
}
