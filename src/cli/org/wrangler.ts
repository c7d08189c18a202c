import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hideSecrets } from '#lib/input/hide-secrets';
import { BY_ORG, runWrangler } from '../run-wrangler.ts';

/** Runs wrangler for one org. Shows its output only if it fails, with secrets removed. */
async function wrangler(args: string[], accountId: string, secrets: string[]): Promise<void> {
  await runWrangler(args, { CLOUDFLARE_ACCOUNT_ID: accountId, [BY_ORG]: 'true' }).catch(
    ({ code, stdout, stderr }) => {
      const shown = hideSecrets(stdout + stderr, [...secrets, process.env.CLOUDFLARE_API_TOKEN ?? '']);
      throw new Error(`wrangler ${args.slice(0, 2).join(' ')} exited with ${code}:\n${shown.trim()}`);
    },
  );
}

type OrgDeployment = { config: string; org: string; accountId: string };

/** Idempotent: wrangler records which migrations it has applied. */
export async function applyRemoteMigrations({ config, org, accountId }: OrgDeployment): Promise<void> {
  const args = ['d1', 'migrations', 'apply', 'DB', '--remote', '--env', org, '--config', config];
  await wrangler(args, accountId, []);
}

/** Deploys the Worker with new secrets; it keeps its existing ones. Secrets are passed in a file that only its owner can read. */
export async function deployWorker(
  { config, org, accountId }: OrgDeployment,
  newSecrets: Record<string, string>,
): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'org-'));
  try {
    const args = ['deploy', '--env', org, '--config', config];
    if (Object.keys(newSecrets).length > 0) {
      const file = path.join(folder, 'secrets.json');
      await writeFile(file, JSON.stringify(newSecrets), { mode: 0o600 });
      args.push('--secrets-file', file);
    }
    await wrangler(args, accountId, Object.values(newSecrets));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
