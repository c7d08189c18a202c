import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

type Finished = { command: string; failed: boolean; seconds: number; output: string };

async function runStep(command: string): Promise<Finished> {
  const startedAt = performance.now();
  // The shell puts both streams into one, in the order in which they are written.
  const child = spawn(`exec 2>&1; ${command}`, { shell: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [output, code] = await Promise.all([text(child.stdout), exited]);
  return { command, failed: code !== 0, seconds: (performance.now() - startedAt) / 1000, output };
}

/**
 * Runs shell commands, `atOnce` at a time in the order given, and reports each with its whole output when it ends. All of them run,
 * even if one fails. Returns the commands that failed.
 */
export async function runSteps(
  commands: readonly string[],
  atOnce: number,
  report: (text: string) => void,
): Promise<string[]> {
  const waiting = [...commands];
  const failures: string[] = [];
  async function work(): Promise<void> {
    for (let command = waiting.shift(); command !== undefined; command = waiting.shift()) {
      const { failed, seconds, output } = await runStep(command);
      if (failed) failures.push(command);
      report(`${failed ? '✗' : '✓'} ${command} (${seconds.toFixed(1)} s)\n${output}`);
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work));
  return failures;
}
