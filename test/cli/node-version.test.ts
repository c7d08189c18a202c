import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '../../src/cli/local-state.ts';
import { slowIt } from '../helpers/thorough.ts';
import { runCommand } from './process.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'node-version-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs a script of package.json's `start` line as if Node had this version. */
async function startWith(version: string) {
  const pretended = path.join(folder, `${version}.cjs`);
  await writeFile(pretended, `Object.defineProperty(process.versions, 'node', { value: '${version}' });`);
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    await readFile(path.join(ROOT, 'package.json'), 'utf8'),
  );
  const [, ...args] = scripts.start?.split(' ') ?? [];
  const { ended, output } = runCommand(process.execPath, ['-r', pretended, ...args, '--help']);
  return { code: await ended, output: output().trim() };
}

it.each(['18.20.0', '20.20.2', '24.8.1'])('says what to do on Node %s', async (version) => {
  const { code, output } = await startWith(version);
  expect(code).toBe(1);
  expect(output).toMatch(
    /^This is Node\.js [\d.]+, but the project needs 24\.9 or later\. .* Run `npm rebuild node/,
  );
  expect(output).toContain(version);
  expect(output.split('\n')).toHaveLength(1);
});

slowIt.each(['24.9.0', '24.21.0', '25.0.0'])('starts on Node %s', async (version) => {
  expect(await startWith(version)).toMatchObject({ code: 0, output: expect.stringMatching(/^Usage:/) });
});

it('is what every command checks first', async () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    await readFile(path.join(ROOT, 'package.json'), 'utf8'),
  );
  const commands = Object.values(scripts).filter((line) => line.includes('src/cli/'));
  expect(commands.length).toBeGreaterThan(5);
  for (const line of commands) expect(line).toMatch(/^node -r \.\/src\/cli\/require-node\.cjs src\/cli\//);
});
