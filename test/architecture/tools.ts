import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from '../../src/cli/local-state.ts';

/** Runs one of the project's tools in a folder. */
export function run(
  tool: string,
  args: string[],
  cwd: string,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = execFile(path.join(ROOT, 'node_modules/.bin', tool), args, { cwd }, (_, out, err) =>
      resolve({ code: child.exitCode, output: out + err }),
    );
  });
}

/** Does some work in a folder of its own, which is then deleted. */
export async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(path.join(tmpdir(), 'architecture-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
