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
  const settings = { org: 'acme', domain: null, zone: null, databaseId: '', deployed: false };
  await configuration.save(configuration.withSection(settings));
  expect(await plan()).toContain('apply pending database migrations');
});

it.each([
  ['attr.example.com', 'example.com', 'example.com'],
  ['a.b.example.co.uk', 'example.co.uk', 'example.co.uk'],
  ['example.com', 'example.com', null],
  ['attr.example.com', 'other.com', null],
  // Apple posts to no subdomain, also if it has a zone of its own.
  ['a.attr.example.com', 'attr.example.com', null],
])('receives the postbacks of %s, with the zone %s, on %s', async (domain, zone, apex) => {
  account.zones.set(zone, {});
  const steps = await planCreate(api, file, { org: 'acme', domain }, null);
  const deploy = steps.find(({ title }) => title.startsWith('deploy the Worker'))?.title ?? '';
  expect(/Apple's postbacks on (.*)$/.exec(deploy)?.[1] ?? null).toBe(apex);
  for (const { title, run } of steps) if (title.startsWith('write the section')) await run();
  expect((await Configuration.read(file)).settingsOf('acme')).toMatchObject({ domain, zone: apex });
});

it('says what becomes of the domain that another one replaces', async () => {
  const deployment = async (domain?: string) => {
    const steps = await planCreate(api, file, { org: 'acme', ...(domain ? { domain } : {}) }, null);
    for (const { title, run } of steps) if (title.startsWith('write the section')) await run();
    return steps.find(({ title }) => title.startsWith('deploy the Worker'))?.title;
  };
  expect(await deployment('one.example.com')).not.toContain('no longer served');
  expect(await deployment()).not.toContain('no longer served');
  expect(await deployment('two.example.com')).toContain(
    'serve it on two.example.com, replacing any DNS record there. one.example.com is no longer served, and its DNS record is deleted',
  );
});

it('leaves the postbacks of a zone to the Worker that receives them', async () => {
  const zoneOf = async (org: string) => {
    const steps = await planCreate(api, file, { org, domain: `${org}.example.com` }, null);
    for (const { title, run } of steps) if (title.startsWith('write the section')) await run();
    return (await Configuration.read(file)).settingsOf(org)?.zone;
  };
  account.zones.set('example.com', { 'example.com/.well-known/skadnetwork/*': 'another-worker' });
  expect(await zoneOf('acme')).toBeNull();
  account.zones.set('example.com', { 'example.com/.well-known/skadnetwork/*': 'attribution-acme' });
  expect(await zoneOf('acme')).toBe('example.com');
  account.zones.set('example.com', {});
  expect(await zoneOf('beta')).toBeNull();
  expect(await zoneOf('acme')).toBe('example.com');
});
