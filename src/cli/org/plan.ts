import { randomBytes } from 'node:crypto';
import { secretsIn } from '#lib/crypto';
import type { Cloudflare } from './cloudflare.ts';
import { refuseNewerStores } from './newer-stores.ts';
import type { SecretsCopy } from './secrets.ts';
import {
  Configuration,
  type OrgQueue,
  type OrgSettings,
  postbackPatterns,
  registrableDomain,
} from './section.ts';
import { applyRemoteMigrations, deployWorker } from './wrangler.ts';

/** One step, whose title tells the operator what will change. Idempotent, so it may be repeated after a failure. */
export type OrgStep = { title: string; run: () => Promise<void> };

export type OrgOptions = {
  org: string;
  domain?: string | undefined;
  /** Whether to take over a deployment that the configuration does not know. */
  adopt?: boolean;
};

/** How long the queue of dead letters keeps messages: the most that Cloudflare allows. */
export const DEAD_LETTER_RETENTION_SECONDS = 14 * 86_400;

/** Wrangler's placeholder until the database exists. */
const NO_DATABASE = '';

/**
 * The steps still needed to complete an org's deployment, judging by the account and the configuration; empty if it is complete.
 * Resources of a run that failed halfway are found by name, so the next run continues from there. Throws if the account has the org's
 * Worker but the configuration has no section for it: its settings are elsewhere, and the defaults would replace them.
 */
export async function planCreate(
  api: Cloudflare,
  file: string,
  wanted: OrgOptions,
  copy: SecretsCopy | null,
): Promise<OrgStep[]> {
  const configuration = await Configuration.read(file);
  const known = configuration.settingsOf(wanted.org);
  const names = configuration.namesOf(wanted.org);
  // A run writes the section before it deploys, so a Worker without one was deployed from another copy of the file.
  if (!known && !wanted.adopt && (await api.secretNames(names.worker)) !== null) {
    throw new Error(
      `${wanted.org} is live in this account, but ${file} has no section [env.${wanted.org}]. Restore the file that deployed it, or pass --adopt to deploy it again with default settings.`,
    );
  }
  const steps: OrgStep[] = [];
  const domain = wanted.domain ?? known?.domain ?? null;
  const settings: OrgSettings = {
    org: wanted.org,
    domain,
    zone: await zoneFor(api, configuration, { org: wanted.org, domain }),
    databaseId: (await api.findDatabase(names.database)) ?? NO_DATABASE,
    deployed: known?.deployed ?? false,
  };
  await refuseTakenDomain(api, names.worker, settings.domain);
  if (settings.databaseId !== NO_DATABASE) await refuseNewer(api, settings.databaseId);
  else {
    steps.push({
      title: `create the D1 database ${names.database}`,
      run: async () => {
        settings.databaseId = await api.createDatabase(names.database);
      },
    });
  }
  steps.push(...(await queueSteps(api, configuration.queuesOf(wanted.org))));
  if (!(await api.hasBucket(names.bucket))) {
    steps.push({ title: `create the R2 bucket ${names.bucket}`, run: () => api.createBucket(names.bucket) });
  }
  const unchanged = configuration.holds(settings);
  const missing = await missingSecrets(api, configuration, wanted.org);
  const secrets = await newSecrets(configuration, missing, copy);
  if (steps.length === 0 && unchanged && settings.deployed && missing.length === 0) return [];
  if (!unchanged || settings.deployed) {
    settings.deployed = false;
    steps.push(writeSection(configuration, settings));
  }
  const former = known && known.domain !== domain ? known.domain : null;
  return [
    ...steps,
    ...deploySteps(api, file, { org: wanted.org, domain, zone: settings.zone, former }, secrets),
  ];
}

/** `settings` are those at the time of the step: an earlier one may have filled in what was not there. */
const writeSection = (configuration: Configuration, settings: OrgSettings): OrgStep => ({
  title: `write the section [env.${settings.org}] of ${configuration.file}`,
  run: () => configuration.save(configuration.withSection(settings)),
});

async function queueSteps(api: Cloudflare, queues: readonly OrgQueue[]): Promise<OrgStep[]> {
  const steps: OrgStep[] = [];
  for (const { name, deadName } of queues) {
    for (const queue of [deadName, name]) {
      if (await api.findQueue(queue)) continue;
      steps.push({ title: `create the queue ${queue}`, run: () => api.createQueue(queue) });
    }
    // Dead letters are retried for longer than a queue keeps messages by default.
    if ((await api.queueRetention(deadName)) === DEAD_LETTER_RETENTION_SECONDS) continue;
    steps.push({
      title: `keep the messages of the queue ${deadName} for ${DEAD_LETTER_RETENTION_SECONDS / 86_400} days`,
      run: () => api.setQueueRetention(deadName, DEAD_LETTER_RETENTION_SECONDS),
    });
  }
  return steps;
}

/**
 * The zone on which an org receives Apple's postbacks, beside its domain, which is in it. Null if the domain was registered itself, if the account
 * does not have the zone, and if another Worker receives its postbacks already: a route leads to one Worker.
 */
async function zoneFor(
  api: Cloudflare,
  configuration: Configuration,
  { org, domain }: Pick<OrgSettings, 'org' | 'domain'>,
): Promise<string | null> {
  const apex = domain && registrableDomain(domain);
  if (!apex || apex === domain) return null;
  if (configuration.orgs().some((other) => other.org !== org && other.zone === apex)) return null;
  const zoneId = await api.findZone(apex);
  if (zoneId === null) return null;
  const { worker } = configuration.namesOf(org);
  const routes = await api.routesOf(zoneId);
  const isTaken = postbackPatterns(apex).some((pattern) => (routes.get(pattern) ?? worker) !== worker);
  return isTaken ? null : apex;
}

const refuseNewer = (api: Cloudflare, databaseId: string) =>
  refuseNewerStores((sql) => api.queryDatabase(databaseId, sql));

/** Without a terminal, wrangler moves a domain from another Worker without asking. */
async function refuseTakenDomain(api: Cloudflare, worker: string, domain: string | null): Promise<void> {
  const owner = domain && (await api.workerOf(domain));
  if (owner && owner !== worker) throw new Error(`${domain} already belongs to the Worker ${owner}.`);
}

/** Updates an existing deployment to this version and its settings: its queues, its section, its tables, its code. */
export async function planDeploy(
  api: Cloudflare,
  file: string,
  org: string,
  copy: SecretsCopy | null,
): Promise<OrgStep[]> {
  const configuration = await Configuration.read(file);
  const known = configuration.settingsOf(org);
  if (!known) throw new Error(`There is no org "${org}". Create it with \`npm run org -- create ${org}\`.`);
  const { worker } = configuration.namesOf(org);
  await refuseTakenDomain(api, worker, known.domain);
  if (known.databaseId !== NO_DATABASE) await refuseNewer(api, known.databaseId);
  const missing = await missingSecrets(api, configuration, org);
  const current = { ...known, zone: await zoneFor(api, configuration, known) };
  const begun = { ...current, deployed: false };
  return [
    ...(await queueSteps(api, configuration.queuesOf(org))),
    ...(configuration.holds(begun) ? [] : [writeSection(configuration, begun)]),
    ...deploySteps(api, file, current, await newSecrets(configuration, missing, copy)),
  ];
}

async function missingSecrets(api: Cloudflare, configuration: Configuration, org: string): Promise<string[]> {
  const there = (await api.secretNames(configuration.namesOf(org).worker)) ?? [];
  return configuration.requiredSecrets.filter((name) => !there.includes(name));
}

type NewSecrets = { values: Record<string, string>; steps: OrgStep[]; source: string };

const NO_NEW_SECRETS: NewSecrets = { values: {}, steps: [], source: '' };

const newSecret = () => randomBytes(32).toString('base64url');

/**
 * The secrets that a deployment lacks: those of the copy, or else new ones, which are in the copy before they are deployed. A run
 * that failed in between thus finds them there. Throws if a new copy would be incomplete.
 */
async function newSecrets(
  { requiredSecrets }: Configuration,
  missing: string[],
  copy: SecretsCopy | null,
): Promise<NewSecrets> {
  const there = requiredSecrets.filter((name) => !missing.includes(name));
  if (copy && !copy.exists && there.length > 0) {
    if (copy.isDefault && missing.length === 0) return NO_NEW_SECRETS;
    throw new Error(
      `The deployment has ${there.join(', ')} already, and Cloudflare does not show them. ${copy.file} would lack them. Make the copy with \`npm run org -- secrets <org>\`.`,
    );
  }
  const names = missing.join(', ');
  if (missing.length === 0) return NO_NEW_SECRETS;
  if (!copy) {
    const values = Object.fromEntries(missing.map((name) => [name, newSecret()]));
    return { values, steps: [], source: ` with new secrets ${names}, of which no copy is kept` };
  }
  const kept = await copy.read();
  const values = Object.fromEntries(missing.map((name) => [name, kept[name] ?? newSecret()]));
  const added = missing.filter((name) => kept[name] === undefined);
  const steps = [
    { title: `write ${added.join(', ')} to ${copy.file}, encrypted`, run: () => copy.save(values) },
  ];
  return { values, steps: added.length > 0 ? steps : [], source: ` with ${names} of ${copy.file}` };
}

/**
 * Gives a secret a new value before the former one, or ends the former one. The copy is written first, so that a repeated run goes on with the
 * same values.
 */
export async function planRotate(
  api: Cloudflare,
  file: string,
  { org, name, end }: { org: string; name: string; end: boolean },
  copy: SecretsCopy,
): Promise<OrgStep[]> {
  const configuration = await Configuration.read(file);
  if (!configuration.requiredSecrets.includes(name)) {
    throw new Error(`The secret must be one of ${configuration.requiredSecrets.join(', ')}.`);
  }
  const { worker } = configuration.namesOf(org);
  if (!(await api.secretNames(worker))?.includes(name)) throw new Error(`${org} has no ${name}.`);
  if (!copy.exists) throw new Error(`There is no file ${copy.file}.`);
  const current = (await copy.read())[name];
  if (current === undefined) {
    throw new Error(`${copy.file} has no ${name}, whose present value is needed for an overlap.`);
  }
  const [newest = '', ...former] = secretsIn(current);
  const overlapping = former.length > 0 ? current : `${newSecret()} ${newest}`;
  const next = end ? newest : overlapping;
  const write = { title: `write it to ${copy.file}, encrypted`, run: () => copy.save({ [name]: next }) };
  return [
    ...(next === current ? [] : [write]),
    {
      title: end
        ? `set ${name} of ${worker} to its newest value alone, which ends the former one`
        : `set ${name} of ${worker} to a new value with the former one behind it`,
      run: () => api.setSecret(worker, name, next),
    },
  ];
}

function deploySteps(
  api: Cloudflare,
  file: string,
  {
    org,
    domain,
    zone,
    former = null,
  }: Pick<OrgSettings, 'org' | 'domain' | 'zone'> & { former?: string | null },
  secrets: NewSecrets,
): OrgStep[] {
  const deployment = { config: file, org, accountId: api.accountId };
  const postbacks = zone ? `, and Apple's postbacks on ${zone}` : '';
  const address = domain ? ` and serve it on ${domain}, replacing any DNS record there${postbacks}` : '';
  // Wrangler detaches custom domains that a section no longer has, without asking.
  const leaving = former
    ? `. ${former} is no longer served, and its DNS record is deleted: tracking links, postbacks, SDKs and passkeys of that host end`
    : '';
  return [
    {
      title: 'apply pending database migrations',
      run: () => applyRemoteMigrations(deployment),
    },
    ...secrets.steps,
    {
      title: `deploy the Worker${secrets.source}${address}${leaving}`,
      run: () => deployWorker(deployment, secrets.values),
    },
    {
      title: `mark ${org} as deployed in ${file}`,
      run: async () => {
        const configuration = await Configuration.read(file);
        const settings = configuration.settingsOf(org);
        if (settings) await configuration.save(configuration.withSection({ ...settings, deployed: true }));
      },
    },
  ];
}

/**
 * The steps that delete what exists of an org: the Worker before what it depends on, and the data last. The bucket is kept, because only an
 * empty one can be deleted.
 */
export async function planDestroy(api: Cloudflare, file: string, org: string): Promise<OrgStep[]> {
  const configuration = await Configuration.read(file);
  const names = configuration.namesOf(org);
  const steps: OrgStep[] = [];
  const queues: { name: string; id: string }[] = [];
  for (const name of configuration.queuesOf(org).flatMap((own) => [own.name, own.deadName])) {
    const id = await api.findQueue(name);
    if (id) queues.push({ name, id });
  }
  for (const { name, id } of queues) {
    steps.push({ title: `remove the consumer from the queue ${name}`, run: () => api.deleteConsumers(id) });
  }
  if (await api.secretNames(names.worker)) {
    steps.push({
      title: `delete the Worker ${names.worker} with its secrets and its address`,
      run: () => api.deleteWorker(names.worker),
    });
  }
  for (const { name, id } of queues) {
    steps.push({
      title: `delete the queue ${name} with the events in it`,
      run: () => api.deleteQueue(id),
    });
  }
  const databaseId = await api.findDatabase(names.database);
  if (databaseId) {
    steps.push({
      title: `delete the D1 database ${names.database} with ALL its data`,
      run: () => api.deleteDatabase(databaseId),
    });
  }
  if (configuration.settingsOf(org)) {
    steps.push({
      title: `remove the section [env.${org}] from ${file}`,
      run: () => configuration.save(configuration.withoutSection(org)),
    });
  }
  return steps;
}
