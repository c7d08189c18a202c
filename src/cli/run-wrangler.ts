import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { QUIET, ROOT, WRANGLER } from './local-state.ts';

/** Wrangler would be killed at more, whatever it has changed by then. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Set for a deployment by `npm run org`, which has applied the migrations and asked. */
export const BY_ORG = 'DEPLOYED_BY_ORG';

/** Runs wrangler, and returns what it prints. If it fails, throws an error that has its `stdout` and `stderr`. */
export async function runWrangler(args: readonly string[], env: Record<string, string>): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [WRANGLER, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...QUIET, ...env },
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  return stdout;
}
