import { CommandError } from './command.ts';
import { localState } from './local-state.ts';
import { runWrangler } from './run-wrangler.ts';

/** A deployment's database, or the local one. */
export type Where = { remote: boolean; env?: string | undefined };

/** Runs SQL by wrangler and returns the rows of its last statement. */
export async function executeSql(sql: string, { remote, env }: Where): Promise<unknown[]> {
  const where = remote
    ? ['--remote', '--yes', ...(env ? ['--env', env] : [])]
    : ['--local', '--persist-to', localState().directory];
  const args = ['d1', 'execute', 'DB', '--json', '--command', sql, ...where];
  // Wrangler prints the result as a log line.
  const stdout = await runWrangler(args, { WRANGLER_LOG: 'log' }).catch((error) => {
    throw new CommandError(`The database could not be reached:\n${error.stdout}\n${error.stderr}`);
  });
  const results = JSON.parse(stdout.slice(stdout.indexOf('['))) as { results: unknown[] }[];
  return results.at(-1)?.results ?? [];
}
