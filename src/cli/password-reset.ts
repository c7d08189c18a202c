import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { passwordResetSql } from '#members';
import { CommandError, runCommand, UsageError } from './command.ts';
import { localState, QUIET, ROOT, WRANGLER } from './local-state.ts';
import type { Demo } from './seed-demo.ts';

const USAGE = `Usage: npm run password-reset -- <email>
       npm run password-reset -- <email> --remote --url https://<your deployment> [--env <org>]

Prints a link with which a member chooses a new password, in the local database of \`npm start\` or, with --remote, in that of a
deployment.`;

/** Runs SQL and returns the rows of its last statement. */
async function execute(sql: string, where: string[]): Promise<unknown[]> {
  const args = [WRANGLER, 'd1', 'execute', 'DB', '--json', '--command', sql, ...where];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: ROOT,
    // Wrangler prints the result as a log line.
    env: { ...process.env, ...QUIET, WRANGLER_LOG: 'log' },
  }).catch((error) => {
    throw new CommandError(`The database could not be reached:\n${error.stdout}\n${error.stderr}`);
  });
  const results = JSON.parse(stdout.slice(stdout.indexOf('['))) as { results: unknown[] }[];
  return results.at(-1)?.results ?? [];
}

async function localOrigin(): Promise<string> {
  const demo = await readFile(localState().demoFile, 'utf8').catch(() => null);
  return demo ? (JSON.parse(demo) as Demo).base_url : 'http://localhost:8787';
}

async function printLink(
  email: string,
  { remote, url, env }: { remote: boolean; url?: string | undefined; env?: string | undefined },
): Promise<void> {
  const { statements, secret } = await passwordResetSql(email, Date.now());
  const where = remote
    ? ['--remote', '--yes', ...(env ? ['--env', env] : [])]
    : ['--local', '--persist-to', localState().directory];
  const rows = await execute(statements, where);
  if (rows.length === 0) throw new CommandError(`No member has the email ${email}.`);
  const origin = new URL(url ?? (await localOrigin())).origin;
  console.log(
    `Open this link within 24 hours to choose a new password. It works once.\n\n${origin}/reset-password/${secret}`,
  );
}

await runCommand(
  {
    usage: USAGE,
    options: {
      remote: { type: 'boolean', default: false },
      url: { type: 'string' },
      env: { type: 'string' },
    },
    positionals: ['email'],
  },
  async ({ values, positionals: [email] }) => {
    if (!email?.includes('@')) throw new UsageError('Pass the email of one member.');
    if (values.remote && !values.url)
      throw new UsageError('--remote needs --url, the URL of the deployment.');
    if (values.url && !URL.canParse(values.url)) {
      throw new UsageError(`--url must be a URL, not "${values.url}".`);
    }
    await printLink(email, values);
  },
);
