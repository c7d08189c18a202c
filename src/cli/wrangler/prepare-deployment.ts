import { CommandError } from '../command.ts';
import { refuseNewerStores } from '../org/newer-stores.ts';
import { Configuration } from '../org/section.ts';
import { BY_ORG, runWrangler } from '../run-wrangler.ts';
import { configFile, type WranglerCall } from './wrangler-call.ts';

const UPLOADS = ['deploy', 'versions upload'];

/** Whether wrangler is about to change a deployment. */
export const isUpload = ({ command = '', isDryRun }: WranglerCall): boolean =>
  UPLOADS.includes(command) && !isDryRun;

const SET_UP = 'Set one up with `npm run org -- create <org> [domain]`, then deploy it with';

/**
 * Makes a plain `wrangler deploy --env <org>` deploy what `npm run org` has set up: applies the migrations before the code that needs them. Throws
 * what to do if it names no org that is set up, before anything is uploaded.
 */
export async function prepareDeployment(call: WranglerCall): Promise<void> {
  if (process.env[BY_ORG]) return;
  const file = configFile(call);
  const { env: org } = call;
  const known = (await Configuration.read(file)).orgs();
  if (!org) {
    const names = known.map((one) => `\`npx wrangler deploy --env ${one.org}\``).join(' or ');
    throw new CommandError(
      names
        ? `Nothing was deployed: this project has a deployment per org. Name it: ${names}.`
        : `Nothing was deployed: this project has a deployment per org, and there is none yet. ${SET_UP} \`npx wrangler deploy --env <org>\`.`,
    );
  }
  const settings = known.find((one) => one.org === org);
  if (!settings?.databaseId) {
    throw new CommandError(
      `Nothing was deployed: ${org} is not set up yet. ${SET_UP} \`npx wrangler deploy --env ${org}\`.`,
    );
  }
  await refuseNewerStores(async (sql) => {
    const query = [
      'd1',
      'execute',
      'DB',
      '--remote',
      '--json',
      '--command',
      sql,
      '--env',
      org,
      '--config',
      file,
    ];
    const printed = await runWrangler(query, { WRANGLER_LOG: 'log' });
    const results = JSON.parse(printed.slice(printed.indexOf('['))) as {
      results: Record<string, unknown>[];
    }[];
    return results.at(-1)?.results ?? [];
  });
  console.log(`Applying pending migrations to the database of ${org} …`);
  const args = ['d1', 'migrations', 'apply', 'DB', '--remote', '--env', org, '--config', file];
  await runWrangler(args, {}).catch(({ stdout, stderr }) => {
    throw new CommandError(`Nothing was deployed: the migrations of ${org} failed.\n${stdout}${stderr}`);
  });
}
