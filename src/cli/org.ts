import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { checkUrl, runCommand, UsageError } from './command.ts';
import { ROOT } from './local-state.ts';
import { checkOrg } from './org/check.ts';
import { Cloudflare, toReadable } from './org/cloudflare.ts';
import { planCopy } from './org/copy-secrets.ts';
import { type OrgStep, planCreate, planDeploy, planDestroy, planRotate } from './org/plan.ts';
import { SecretsCopy } from './org/secrets.ts';
import { Configuration } from './org/section.ts';

const USAGE = `Usage: npm run org -- create <org> [domain] [--secrets <file> | --no-secrets-copy] [--adopt] [--yes]
       npm run org -- deploy <org> [--secrets <file>] [--yes]
       npm run org -- check <org> [--secrets <file>]
       npm run org -- secrets <org> [--secrets <file>] [--url <url>] [--yes]
       npm run org -- rotate <org> <secret> --secrets <file> [--end] [--yes]
       npm run org -- list
       npm run org -- destroy <org> [--yes]

Each org is a deployment of its own: Worker, D1 database, queues, R2 bucket for raw events, secrets, rate limits. Every command
shows what it will do and asks first, unless you pass --yes. After a failure, run it again: it continues where it stopped. Requires
CLOUDFLARE_API_TOKEN, and CLOUDFLARE_ACCOUNT_ID if the token has access to several accounts.

create stops if the org is live but wrangler.toml does not know it. With --adopt, it deploys it again with default settings.

create keeps a copy of the org's secrets, which Cloudflare does not show, in <org>.age, unless --no-secrets-copy is passed; --secrets names another
file. It writes new ones to the file, and takes those that the deployment lacks from it if it exists. secrets makes the copy later, by asking the
deployment, at --url if that is not its domain. check tells what a live org lacks. The file is encrypted with a passphrase, which is asked for or in ORG_PASSPHRASE; age
(https://age-encryption.org) decrypts it, too. rotate puts a new value before the present one, in the copy and in the deployment, and with
--end drops the former one.`;

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

async function runSteps(steps: OrgStep[]): Promise<void> {
  for (const [index, { title, run }] of steps.entries()) {
    console.log(`[${index + 1}/${steps.length}] ${title} …`);
    try {
      await run();
    } catch (cause) {
      const error = toReadable(cause);
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

type Given = {
  command: string;
  org: string;
  /** The domain of a new org, or the name of the secret to rotate. */
  third: string | undefined;
  config: string;
  yes: boolean;
  adopt: boolean;
  secrets?: string | undefined;
  'no-secrets-copy': boolean;
  url?: string | undefined;
  end: boolean;
};

/** What each command takes besides the org, and its steps; `list` changes nothing. */
const COMMANDS: Record<string, { takes: readonly string[]; plan?: PlanCommand }> = {
  create: {
    takes: ['domain', 'secrets', 'adopt', 'no-secrets-copy'],
    plan: (api, { config, org, third, adopt }, copy) =>
      planCreate(api, config, { org, domain: third, adopt }, copy),
  },
  deploy: { takes: ['secrets'], plan: (api, { config, org }, copy) => planDeploy(api, config, org, copy) },
  rotate: {
    takes: ['secret', 'secrets', 'end'],
    plan: async (api, { config, org, third = '', end }, copy) =>
      copy ? planRotate(api, config, { org, name: third, end }, copy) : [],
  },
  secrets: {
    takes: ['secrets', 'url'],
    plan: async (api, { config, org, url }, copy) => (copy ? planCopy(api, config, { org, url }, copy) : []),
  },
  check: { takes: ['secrets'] },
  list: { takes: [] },
  destroy: { takes: [], plan: (api, { config, org }) => planDestroy(api, config, org) },
};
type PlanCommand = (api: Cloudflare, given: Given, copy: SecretsCopy | null) => Promise<OrgStep[]>;

/** Throws a `UsageError` for whatever the command does not take. */
function checkArguments({ command, org, third, adopt, secrets, url, end, ...given }: Given): void {
  const taken = COMMANDS[command]?.takes;
  if (!taken) {
    throw new UsageError(
      command === ''
        ? `Pass a command: ${Object.keys(COMMANDS).join(', ')}.`
        : `There is no command "${command}".`,
    );
  }
  if (command === 'list' && org !== '') throw new UsageError('list takes no org.');
  const flags = { adopt, secrets: secrets !== undefined, url: url !== undefined, end };
  const noCopy = given['no-secrets-copy'];
  if (noCopy && secrets !== undefined) throw new UsageError('Pass either --secrets or --no-secrets-copy.');
  checkUrl(url);
  for (const [name, isGiven] of Object.entries({ ...flags, 'no-secrets-copy': noCopy })) {
    if (isGiven && !taken.includes(name)) throw new UsageError(`${command} takes no --${name}.`);
  }
  if (third && command !== 'rotate' && !taken.includes('domain'))
    throw new UsageError(`${command} takes no domain.`);
  if (command !== 'list' && !ORG.test(org))
    throw new UsageError(
      `"${org}" is not a valid org name: use 1 to 30 of a-z, 0-9 and "-", starting with a letter.`,
    );
  if (third && command === 'create' && !DOMAIN.test(third))
    throw new UsageError(`"${third}" is not a domain name.`);
  if (command === 'rotate' && !(third && secrets)) {
    throw new UsageError('rotate needs the name of a secret, and --secrets with the copy that has it.');
  }
}

const copyFileOf = ({ org, config, secrets }: Given) =>
  secrets ?? path.join(path.dirname(config), `${org}.age`);

/** The copy of the secrets that a command reads and writes; null for none. */
async function findCopy(given: Given): Promise<SecretsCopy | null> {
  const isDefault = given.secrets === undefined;
  const isWanted = given.command === 'secrets' || (given.command === 'create' && !given['no-secrets-copy']);
  return isDefault && !isWanted ? null : SecretsCopy.find(copyFileOf(given), { isDefault });
}

async function check(api: Cloudflare, given: Given): Promise<number> {
  const { org, config } = given;
  const findings = await checkOrg(api, config, { org, copyFile: copyFileOf(given) });
  for (const { what, todo } of findings) console.log(`- ${what}: ${todo}`);
  if (findings.length === 0) console.log(`${org} lacks nothing.`);
  return findings.length === 0 ? 0 : 1;
}

async function main(given: Given): Promise<number> {
  const { command, org, config, yes } = given;
  checkArguments(given);
  const plan = COMMANDS[command]?.plan;
  if (command === 'list') return list(config);
  const api = await Cloudflare.connect(process.env);
  if (!plan) return check(api, given);
  const copy = await findCopy(given);
  const steps = await plan(api, given, copy);
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
    if (copy) console.log(`Keep ${copy.file} and its passphrase outside of this account, and apart.`);
  } else if (command === 'rotate' && !given.end) {
    console.log(
      'Done. Both values are accepted. docs/operations.md says when to drop the former one with --end.',
    );
  } else console.log('Done.');
  return 0;
}

await runCommand(
  {
    usage: USAGE,
    options: {
      yes: { type: 'boolean', default: false },
      adopt: { type: 'boolean', default: false },
      secrets: { type: 'string' },
      'no-secrets-copy': { type: 'boolean', default: false },
      url: { type: 'string' },
      end: { type: 'boolean', default: false },
      config: { type: 'string', default: path.join(ROOT, 'wrangler.toml') },
    },
    positionals: ['command', 'org', 'domain or secret'],
    showsErrors: true,
  },
  async ({ values, positionals: [command = '', org = '', third] }) => {
    const config = path.resolve(values.config);
    return main({ command, org, third, ...values, config }).catch((error) => {
      throw toReadable(error);
    });
  },
);
