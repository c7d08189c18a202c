import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { parseArgs, promisify } from 'node:util';
import { passwordResetSql } from '#members';
import { CommandError, runCommand } from './command-error.ts';
import { localState, QUIET, ROOT, WRANGLER } from './local-state.ts';
import type { Demo } from './seed-demo.ts';

// `npm run password-reset -- <email> [--remote --url https://… [--env <org>]]`: prints a link with which a member chooses a new
// password, in the local database of `npm start` or, with --remote, in that of a deployment.

const USAGE = `Usage: npm run password-reset -- <email>
       npm run password-reset -- <email> --remote --url https://<your deployment> [--env <org>]`;

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        remote: { type: 'boolean', default: false },
        url: { type: 'string' },
        env: { type: 'string' },
      },
    });
    const [email] = positionals;
    if (!email?.includes('@') || positionals.length > 1) throw new Error('Pass the email of one member.');
    if (values.remote && !values.url) throw new Error('--remote needs --url, the URL of the deployment.');
    if (values.url && !URL.canParse(values.url)) throw new Error(`--url must be a URL, not "${values.url}".`);
    return { ...values, email };
  } catch (error) {
    throw new CommandError(`${error instanceof Error ? error.message : error}\n${USAGE}`);
  }
}

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

await runCommand(async () => {
  const { email, remote, url, env } = readArguments();
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
});
