import { passwordResetSql } from '#members';
import { CommandError, checkUrl, runCommand, UsageError } from './command.ts';
import { readDemo } from './local-state.ts';
import { executeSql } from './wrangler-database.ts';

const USAGE = `Usage: npm run password-reset -- <email>
       npm run password-reset -- <email> --remote --url https://<your deployment> [--env <org>]

Prints a link with which a member chooses a new password, in the local database of \`npm start\` or, with --remote, in that of a
deployment.`;

async function printLink(
  email: string,
  { remote, url, env }: { remote: boolean; url?: string | undefined; env?: string | undefined },
): Promise<void> {
  const { statements, secret } = await passwordResetSql(email, Date.now());
  const [row] = (await executeSql(statements, { remote, env })) as { passkeys: string }[];
  if (!row) throw new CommandError(`No member has the email ${email}.`);
  const origin = new URL(url ?? (await readDemo())?.base_url ?? 'http://localhost:8787').origin;
  console.log(
    `Open this link within 24 hours to choose a new password. It works once.\n\n${origin}/reset-password/${secret}`,
  );
  const passkeys: string[] = JSON.parse(row.passkeys);
  if (passkeys.length > 0) {
    console.log(
      `\nThese passkeys of the member sign in without the password: ${passkeys.join(', ')}. The page removes them unless the member keeps them.`,
    );
  }
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
    checkUrl(values.url, values.remote);
    await printLink(email, values);
  },
);
