import { randomBytes } from 'node:crypto';
import { access, chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '../..');
export const WRANGLER = path.join(ROOT, 'node_modules/wrangler/bin/wrangler.js');
const SECRETS = ['TOKEN_SECRET', 'KEY_ENCRYPTION_SECRET', 'SESSION_SECRET'];

export type LocalState = { directory: string; secretsFile: string; demoFile: string };

export function localState(): LocalState {
  const directory = path.resolve(ROOT, process.env.STATE_DIR ?? '.wrangler/state');
  return {
    directory,
    secretsFile: path.join(directory, 'secrets.env'),
    demoFile: path.join(directory, 'demo.json'),
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
  if (lines.length > 0) await writeFile(secretsFile, existing + lines.join(''), { mode: 0o600 });
  await chmod(secretsFile, 0o600);
}

/** A top-level setting of `wrangler.toml`, in the form `name = "value"`. */
export async function configured(name: string): Promise<string> {
  const config = await readFile(path.join(ROOT, 'wrangler.toml'), 'utf8');
  const value = new RegExp(`^${name} = "(.+?)"`, 'm').exec(config)?.[1];
  if (!value) throw new Error(`wrangler.toml has no ${name}`);
  return value;
}

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
