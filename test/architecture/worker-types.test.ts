import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../src/cli/local-state.ts';

// A Worker has no Node: what a module of `src` uses of it must not compile, or not pass the linter where Cloudflare's own types
// declare the name.

function run(tool: string, args: string[], cwd: string): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = execFile(path.join(ROOT, 'node_modules/.bin', tool), args, { cwd }, (_, out, err) =>
      resolve({ code: child.exitCode, output: out + err }),
    );
  });
}

async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(path.join(tmpdir(), 'worker-types-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The errors of a module that is compiled as those of `src` are. */
const compile = (code: string) =>
  inFolder(async (folder) => {
    const config = { extends: path.join(ROOT, 'src/tsconfig.json'), include: ['module.ts'], exclude: [] };
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
    await writeFile(path.join(folder, 'module.ts'), code);
    const { output } = await run('tsc', ['--pretty', 'false'], folder);
    return [...output.matchAll(/error TS\d+: (.+)/g)].map(([, message = '']) => message);
  });

it('compiles the APIs of a Worker, and of Node only what is declared', async () => {
  const code = `import { Buffer } from 'node:buffer';
export const bytes: Uint8Array = Buffer.from(crypto.getRandomValues(new Uint8Array(4)));
export const url: string = new URL('https://example.com').host;
`;
  expect(await compile(code)).toEqual([]);
});

it('compiles no other global or module of Node', async () => {
  const code = `import { readFile } from 'node:fs/promises';
export const file = readFile;
export const folder = __dirname;
export const timer: NodeJS.Timeout | null = null;
export const loaded = require('fs');
`;
  expect(await compile(code)).toEqual([
    expect.stringContaining("Cannot find name 'node:fs/promises'"),
    expect.stringContaining("Cannot find name '__dirname'"),
    expect.stringContaining("Cannot find namespace 'NodeJS'"),
    expect.stringContaining("Cannot find name 'require'"),
  ]);
});

it('lints Node globals that Cloudflare declares as `any`', async () => {
  const lintedGlobals = await inFolder(async (folder) => {
    await copyFile(path.join(ROOT, 'biome.json'), path.join(folder, 'biome.json'));
    const modules = path.join(folder, 'src/lib');
    await mkdir(modules, { recursive: true });
    for (const name of ['fetch', 'process', 'Buffer', 'global', 'setImmediate']) {
      await writeFile(path.join(modules, `${name}.ts`), `export const used = ${name};\n`);
    }
    const args = ['lint', '--only=style/noRestrictedGlobals', '--vcs-enabled=false', '--colors=off'];
    const { code, output } = await run('biome', args, folder);
    expect(code, output).toBe(1);
    return [...output.matchAll(/lib\/(\w+)\.ts:\d+:\d+ lint\/style\/noRestrictedGlobals/g)];
  });
  const names = lintedGlobals.map(([, name]) => name).sort();
  expect(names).toEqual(['Buffer', 'global', 'process', 'setImmediate']);
});
