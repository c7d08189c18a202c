import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../src/cli/local-state.ts';
import { inFolder, run } from './tools.ts';

// A Worker has no Node: what a module of `src` uses of it must not compile. `linter.test.ts` has the names that Cloudflare's own types
// declare.

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
