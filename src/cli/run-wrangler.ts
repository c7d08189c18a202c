import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { QUIET, ROOT, WRANGLER } from './local-state.ts';

/** Runs wrangler, and returns what it prints. If it fails, throws an error that has its `stdout` and `stderr`. */
export async function runWrangler(args: readonly string[], env: Record<string, string>): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [WRANGLER, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...QUIET, ...env },
  });
  return stdout;
}
