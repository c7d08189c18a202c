import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { ROOT } from '../../src/cli/local-state.ts';
import { COMPILE_CACHE } from '../helpers/compile-cache.ts';

/** A command that runs, with what it prints. `SERVICE_NAME` is the default unless `env` names another. */
export function runCommand(
  command: string,
  args: readonly string[],
  { cwd = ROOT, env = {} }: { cwd?: string; env?: Record<string, string> } = {},
) {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...COMPILE_CACHE, SERVICE_NAME: 'service', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const waiting: { phrase: string; resolve: () => void }[] = [];
  const read = (chunk: Buffer) => {
    output += chunk.toString();
    for (const { phrase, resolve } of waiting) if (output.includes(phrase)) resolve();
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    child,
    ended,
    output: () => output,
    until: (phrase: string) =>
      Promise.race([
        new Promise<void>((resolve) => waiting.push({ phrase, resolve })),
        ended.then((code) => {
          throw new Error(`ended with ${code} before "${phrase}":\n${output}`);
        }),
      ]),
  };
}

/** A script of `src/cli`, as its npm script runs it. */
export function runScript(script: string, more: { args?: string[]; env?: Record<string, string> } = {}) {
  const { args = [], env = {} } = more;
  return runCommand(process.execPath, [path.join(ROOT, 'src/cli', script), ...args], { env });
}

/** Runs a script to its end. */
export async function linesOf(
  script: string,
  args: string[],
): Promise<{ code: number | null; lines: string[] }> {
  const { ended, output } = runScript(script, { args });
  const code = await ended;
  return { code, lines: output().trim().split('\n') };
}

export async function stop({
  child,
  ended,
}: {
  child: ChildProcess;
  ended: Promise<unknown>;
}): Promise<void> {
  child.kill('SIGTERM');
  await ended;
}
