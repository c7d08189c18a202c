import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { CommandError, runCommand, UsageError } from './command.ts';
import { ROOT } from './local-state.ts';
import { Cloudflare } from './org-cloudflare.ts';
import { planCreate, planDeploy, planDestroy, type Step } from './org-plan.ts';
import { Configuration } from './org-section.ts';

const USAGE = `Usage: npm run org -- create <org> [domain] [--adopt] [--yes]
       npm run org -- deploy <org> [--yes]
       npm run org -- list
       npm run org -- destroy <org> [--yes]

Each org is a deployment of its own: Worker, D1 database, queues, R2 bucket for raw events, secrets, rate limits. Every command
shows what it will do and asks first, unless you pass --yes. After a failure, run it again: it continues where it stopped. Requires
CLOUDFLARE_API_TOKEN, and CLOUDFLARE_ACCOUNT_ID if the token has access to several accounts.

create stops if the org is live but wrangler.toml does not know it. With --adopt, it deploys it again with default settings.`;

/** An org's name. It is part of its queues' names, which may have 63 characters. */
const ORG = /^[a-z](?:[a-z0-9-]{0,28}[a-z0-9])?$/;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,}$/;

async function isConfirmed(question: string, expected: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    console.error('Cannot ask for confirmation without a terminal. Pass --yes to skip it.');
    return false;
  }
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await lines.question(question)).trim().toLowerCase() === expected;
  } finally {
    lines.close();
  }
}

async function runSteps(steps: Step[]): Promise<void> {
  for (const [index, { title, run }] of steps.entries()) {
    console.log(`[${index + 1}/${steps.length}] ${title} …`);
    try {
      await run();
    } catch (error) {
      console.error(error instanceof Error ? error.message : String(error));
      throw new Error('Stopped. Run the same command again to continue from this step.');
    }
  }
}

async function list(config: string): Promise<number> {
  const configuration = await Configuration.read(config);
  for (const { org, domain, databaseId, deployed } of configuration.orgs()) {
    const { worker } = configuration.namesOf(org);
    const facts = [
      org,
      domain ? `https://${domain}` : `${worker} on workers.dev`,
      `D1 ${databaseId}`,
      deployed ? 'deployed' : 'has undeployed changes',
    ];
    console.log(facts.join('  '));
  }
  return 0;
}

const COMMANDS = ['create', 'deploy', 'list', 'destroy'] as const;
type Given = {
  command: string;
  org: string;
  domain: string | undefined;
  config: string;
  yes: boolean;
  adopt: boolean;
};

async function main({ command, org, domain, config, yes, adopt }: Given): Promise<number> {
  if (command === 'list' && org === '') return list(config);
  if (command === 'list') throw new UsageError('list takes no org.');
  if (!COMMANDS.some((known) => known === command)) {
    throw new UsageError(
      command === '' ? `Pass a command: ${COMMANDS.join(', ')}.` : `There is no command "${command}".`,
    );
  }
  if (adopt && command !== 'create') throw new UsageError(`${command} takes no --adopt.`);
  if (domain && command !== 'create') throw new UsageError(`${command} takes no domain.`);
  if (!ORG.test(org))
    throw new UsageError(
      `"${org}" is not a valid org name: use 1 to 30 of a-z, 0-9 and "-", starting with a letter.`,
    );
  if (domain && !DOMAIN.test(domain)) throw new UsageError(`"${domain}" is not a domain name.`);
  const api = await Cloudflare.connect(process.env);
  const steps = await {
    create: () => planCreate(api, config, { org, domain, adopt }),
    deploy: () => planDeploy(api, config, org),
    destroy: () => planDestroy(api, config, org),
  }[command as 'create' | 'deploy' | 'destroy']();
  if (steps.length === 0) {
    console.log(command === 'destroy' ? `${org} is fully removed.` : `${org} is up to date.`);
    return 0;
  }
  console.log(`In account ${api.accountId}:`);
  for (const { title } of steps) console.log(`  - ${title}`);
  const [question, expected] =
    command === 'destroy'
      ? [`This cannot be undone. Type "${org}" to continue: `, org]
      : ['Continue? (yes/no) ', 'yes'];
  if (!yes && !(await isConfirmed(question, expected))) return 1;
  await runSteps(steps);
  if (command === 'create') {
    const settings = (await Configuration.read(config)).settingsOf(org);
    const address = settings?.domain ? `https://${settings.domain}` : 'its address on workers.dev';
    console.log(`${org} is deployed: ${address}. Open /setup there now, before anyone else does.`);
  } else console.log('Done.');
  return 0;
}

await runCommand(
  {
    usage: USAGE,
    options: {
      yes: { type: 'boolean', default: false },
      adopt: { type: 'boolean', default: false },
      config: { type: 'string', default: path.join(ROOT, 'wrangler.toml') },
    },
    positionals: ['command', 'org', 'domain'],
  },
  async ({ values, positionals: [command = '', org = '', domain] }) => {
    try {
      return await main({
        command,
        org,
        domain,
        yes: values.yes,
        adopt: values.adopt,
        config: path.resolve(values.config),
      });
    } catch (error) {
      if (error instanceof CommandError || !(error instanceof Error)) throw error;
      throw new CommandError(error.message);
    }
  },
);
