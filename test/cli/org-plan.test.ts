import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ROOT } from '../../src/cli/local-state.ts';
import { Cloudflare } from '../../src/cli/org/cloudflare.ts';
import { planCreate } from '../../src/cli/org/plan.ts';
import { Configuration } from '../../src/cli/org/section.ts';
import { ACCOUNT, StandIn, TOKEN } from './cloudflare.ts';

let folder: string;
let file: string;
let account: StandIn;
let api: Cloudflare;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'org-plan-'));
  file = path.join(folder, 'wrangler.toml');
  await writeFile(file, await readFile(path.join(ROOT, 'wrangler.toml'), 'utf8'));
  account = new StandIn();
  api = await Cloudflare.connect({
    ...process.env,
    CLOUDFLARE_API_TOKEN: TOKEN,
    CLOUDFLARE_ACCOUNT_ID: ACCOUNT,
    CLOUDFLARE_API_BASE_URL: await account.open(),
  });
});
afterEach(async () => {
  account.close();
  await rm(folder, { recursive: true });
});

const plan = async (adopt = false) =>
  (await planCreate(api, file, { org: 'acme', adopt }, null)).map(({ title }) => title);

it('stops at a live org that the file does not know, unless it is to be adopted', async () => {
  expect(await plan()).toContain('create the D1 database attribution-acme');
  account.scripts.set('attribution-acme', {
    ...{ observability: null, bindings: [], secrets: new Map(), crons: [], workersDev: true },
  });
  await expect(plan()).rejects.toThrow(
    /^acme is live in this account, but .* has no section \[env\.acme\]\./,
  );
  expect(await plan(true)).toContain(`write the section [env.acme] of ${file}`);
  const configuration = await Configuration.read(file);
  const settings = { org: 'acme', domain: null, databaseId: '', deployed: false };
  await configuration.save(configuration.withSection(settings));
  expect(await plan()).toContain('apply pending database migrations');
});
