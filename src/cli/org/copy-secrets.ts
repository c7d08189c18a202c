import { randomSecret, sha256Hex } from '#lib/crypto';
import { askService } from '../ask-service.ts';
import { CommandError } from '../command.ts';
import type { Cloudflare } from './cloudflare.ts';
import type { OrgStep } from './plan.ts';
import type { SecretsCopy } from './secrets.ts';
import { Configuration } from './section.ts';

/** How long the deployment accepts the token. */
const TOKEN_MINUTES = 10;
/** A deployment on a new domain takes a while to be reachable. */
const RETRIES = { attempts: 10, waitMs: () => 2_000 };

/** Where an org is served. */
async function addressOf(api: Cloudflare, configuration: Configuration, org: string): Promise<string> {
  const { domain = null } = configuration.settingsOf(org) ?? {};
  return domain ? `https://${domain}` : api.workersDevUrl(configuration.namesOf(org).worker);
}

/**
 * Makes or completes the copy of a deployment's secrets. Only the deployment knows them, so it is asked, once, with a token whose hash is put into its
 * database. `url`: where it is served, unless on its domain.
 */
export async function planCopy(
  api: Cloudflare,
  file: string,
  { org, url }: { org: string; url: string | undefined },
  copy: SecretsCopy,
): Promise<OrgStep[]> {
  const configuration = await Configuration.read(file);
  const databaseId = configuration.settingsOf(org)?.databaseId;
  if (!databaseId) throw new CommandError(`There is no org "${org}" in ${file}.`);
  const address = url ?? (await addressOf(api, configuration, org));
  const kept = await copy.read();
  if (configuration.requiredSecrets.every((name) => kept[name] !== undefined)) return [];
  return [
    {
      title: `ask ${address} for its secrets, once, and write them to ${copy.file}, encrypted`,
      run: async () => copy.save({ ...(await askForSecrets(api, databaseId, address)), ...kept }),
    },
  ];
}

async function askForSecrets(
  api: Cloudflare,
  databaseId: string,
  address: string,
): Promise<Record<string, string>> {
  const token = randomSecret();
  const expiresAt = Date.now() + TOKEN_MINUTES * 60_000;
  await api.queryDatabase(
    databaseId,
    `INSERT INTO secret_copies (hash, expires_at) VALUES ('${await sha256Hex(token)}', ${expiresAt})`,
  );
  const { ok, text } = await askService(
    `${address}/secrets-copy`,
    { method: 'POST', headers: { Authorization: `Bearer ${token}` } },
    RETRIES,
  );
  if (!ok) throw new CommandError(`${address} did not give its secrets: ${text}. Deploy this release first.`);
  return (JSON.parse(text) as { secrets: Record<string, string> }).secrets;
}
