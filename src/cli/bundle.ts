import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';

/**
 * Puts a file in place unless it is there already, or a watcher would never come to rest. It is written in `folder`, of
 * the same file system, and renamed, because a server may be starting from it at the same time.
 */
export async function putFile(file: string, contents: Uint8Array, folder: string): Promise<void> {
  const present = await readFile(file).catch(() => null);
  if (present?.equals(contents)) return;
  const unfinished = path.join(folder, `.${process.pid}`);
  await writeFile(unfinished, contents);
  await rename(unfinished, file);
}

/**
 * Bundles a Worker into ES modules in `folder`; answers their paths, the entry's first. What is imported dynamically becomes
 * modules of its own, which an isolate loads when it first needs them. Repeatable: a file that would be the same is not
 * touched, and modules of an earlier build are taken away.
 */
export async function bundleWorker(entry: string, folder: string): Promise<string[]> {
  const { outputFiles } = await build({
    entryPoints: { index: entry },
    chunkNames: 'parts/[name]-[hash]',
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2024',
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
    loader: { '.sql': 'text' },
    define: { 'process.env.NODE_ENV': '"production"' },
    jsx: 'automatic',
    jsxImportSource: 'hono/jsx',
    // Half the size is half the start-up; the maps give stack traces their names back.
    minify: true,
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
