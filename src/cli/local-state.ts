import { randomBytes } from 'node:crypto';
import { access, chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { parse } from 'smol-toml';
import type { Unstable_RawConfig } from 'wrangler';
import { CommandError } from './command.ts';

export const ROOT = path.resolve(import.meta.dirname, '../..');
export const WRANGLER = path.join(ROOT, 'node_modules/wrangler/bin/wrangler.js');
const SECRETS = ['TOKEN_SECRET', 'KEY_ENCRYPTION_SECRET', 'SESSION_SECRET'];

export type LocalState = { directory: string; secretsFile: string; demoFile: string };

export function localState(chosen = process.env.STATE_DIR ?? '.wrangler/state'): LocalState {
  const directory = path.resolve(ROOT, chosen);
  return {
    directory,
    secretsFile: path.join(directory, 'secrets.env'),
    demoFile: path.join(directory, 'demo.json'),
  };
}

/** What `npm start` prints and stores in `demo.json`. */
export type Demo = {
  base_url: string;
  tracking_base_url: string;
  dashboard_url: string;
  /** Part of the credential headers' names: `<service_name>-api-key` and `<service_name>-Token`. */
  service_name: string;
  /** The password is null once the owner has changed it. */
  owner: { email: string; password: string | null };
  team: { id: string; name: string };
  team_token: string;
  application: { id: string; name: string };
  api_key: string;
};

/** The local service of `npm start`; null if there is none yet. */
export async function readDemo({ demoFile } = localState()): Promise<Demo | null> {
  const text = await readFile(demoFile, 'utf8').catch(() => null);
  return text === null ? null : JSON.parse(text);
}

type Service = {
  url: string;
  name: string;
  apiKey: string | undefined;
  teamToken: string | undefined;
  /** The demo application of the local service. */
  application?: string;
};

/** The service that a command is for: the one at `--url`, with credentials of the environment, or else the local one, which has its own. */
export async function serviceAt(url: string | undefined): Promise<Service> {
  const { API_KEY: apiKey, TEAM_TOKEN: teamToken, SERVICE_NAME: name = 'service' } = process.env;
  if (url) return { url: url.replace(/\/$/, ''), name, apiKey, teamToken };
  const demo = await readDemo();
  if (!demo) throw new CommandError('There is no local service yet. Run npm start first, or pass --url.');
  return {
    ...{ url: demo.base_url, name: demo.service_name, application: demo.application.id },
    ...{ apiKey: apiKey ?? demo.api_key, teamToken: teamToken ?? demo.team_token },
  };
}

/** Creates the state directory, readable only by its owner: it holds personal data, secrets and the database. */
export async function makeDirectory({ directory }: LocalState): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
}

/** Creates missing secrets. Existing ones are kept, because tokens and keys depend on them. */
export async function makeSecrets({ secretsFile }: LocalState): Promise<void> {
  const existing = await readFile(secretsFile, 'utf8').catch(() => '');
  const missing = SECRETS.filter((name) => !existing.includes(`${name}=`));
  const lines = missing.map((name) => `${name}=${randomBytes(32).toString('base64url')}\n`);
  const before = existing === '' || existing.endsWith('\n') ? existing : `${existing}\n`;
  if (lines.length > 0) await writeFile(secretsFile, before + lines.join(''), { mode: 0o600 });
  await chmod(secretsFile, 0o600);
}

/** What the file of secrets has beside the required ones, such as `METRICS_TOKEN`: of a file, wrangler reads only those that are required. */
export async function optionalSecrets({ secretsFile }: LocalState): Promise<[name: string, value: string][]> {
  const required: readonly string[] = SECRETS;
  return Object.entries(parseEnv(await readFile(secretsFile, 'utf8')))
    .filter(([name]) => !required.includes(name))
    .map(([name, value]) => [name, value ?? '']);
}

/** Wrangler's configuration. The local service has that of the top level. */
export const readConfig = async (): Promise<Unstable_RawConfig> =>
  parse(await readFile(path.join(ROOT, 'wrangler.toml'), 'utf8')) as Unstable_RawConfig;

/** Keeps wrangler from asking questions, sending metrics and logging anything but errors. */
export const QUIET = {
  CI: 'true',
  WRANGLER_LOG: 'error',
  WRANGLER_SEND_METRICS: 'false',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
};

/** Turns off wrangler's database explorer, which accepts SQL without a credential, and its trace store, which outgrows the database. */
export const NO_EXPLORER = { X_LOCAL_EXPLORER: 'false', X_LOCAL_OBSERVABILITY: 'false' };

export async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
