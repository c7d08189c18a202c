import { STORE_FORMATS } from '#lib/encoding/store-formats';
import { readMigrations } from '../local-migrations.ts';
import { exists } from '../local-state.ts';
import type { Cloudflare } from './cloudflare.ts';
import { findNewerStores } from './newer-stores.ts';
import { DEAD_LETTER_RETENTION_SECONDS } from './plan.ts';
import { Configuration } from './section.ts';

/** What a live org lacks, and what to do about it. */
export type OrgFinding = { what: string; todo: string };

const DEPLOY = (org: string) => `npm run org -- deploy ${org}`;

/** Everything that a live org lacks. `copyFile`: where the copy of its secrets should be. Changes nothing. */
export async function checkOrg(
  api: Cloudflare,
  file: string,
  { org, copyFile }: { org: string; copyFile: string },
): Promise<OrgFinding[]> {
  const configuration = await Configuration.read(file);
  const settings = configuration.settingsOf(org);
  if (!settings)
    return [{ what: `${file} has no section [env.${org}]`, todo: `npm run org -- create ${org}` }];
  const { worker, bucket, database } = configuration.namesOf(org);
  const bound = await api.bindingsOf(worker);
  if (!bound) return [{ what: `the Worker ${worker} is not deployed`, todo: DEPLOY(org) }];
  const given = (await api.secretNames(worker)) ?? [];
  const wanted = configuration.deployedOf(org);
  const missing = (kind: string, names: readonly string[], todo = DEPLOY(org)): OrgFinding[] =>
    names.map((name) => ({ what: `${kind} ${name} is missing`, todo }));
  const crons = await api.cronsOf(worker);
  return [
    ...(settings.deployed ? [] : [{ what: 'the section has undeployed changes', todo: DEPLOY(org) }]),
    ...missing(
      'the secret',
      configuration.requiredSecrets.filter((name) => !given.includes(name)),
    ),
    ...((await exists(copyFile))
      ? []
      : [{ what: `there is no copy of the secrets (${copyFile})`, todo: `npm run org -- secrets ${org}` }]),
    ...(given.includes('METRICS_TOKEN')
      ? []
      : [
          { what: '/metrics is off: there is no METRICS_TOKEN', todo: 'docs/operations.md#what-to-alert-on' },
        ]),
    ...Object.entries(wanted.vars).flatMap(([name, value]) => {
      const text = bound.find((binding) => binding.name === name)?.text;
      if (text === String(value)) return [];
      const live = text === undefined ? 'not set' : `"${text}"`;
      return [{ what: `the setting ${name} is ${live} instead of "${value}"`, todo: DEPLOY(org) }];
    }),
    ...missing(
      'the binding',
      wanted.bindings.filter((name) => !bound.some((binding) => binding.name === name)),
    ),
    ...missing(
      'the rate limit',
      wanted.limits.filter((name) => !bound.some((binding) => binding.name === name)),
    ),
    ...missing(
      'the schedule',
      wanted.crons.filter((cron) => !crons.includes(cron)),
    ),
    ...(await findMissingQueues(api, configuration, org)),
    ...((await api.hasBucket(bucket)) ? [] : missing('the bucket', [bucket], `npm run org -- create ${org}`)),
    ...(settings.domain && (await api.workerOf(settings.domain)) !== worker
      ? [{ what: `${settings.domain} is not served by ${worker}`, todo: DEPLOY(org) }]
      : []),
    ...findMailProblems(wanted),
    ...((await api.findDatabase(database)) === settings.databaseId
      ? await checkDatabase((sql) => api.queryDatabase(settings.databaseId, sql), org)
      : [
          {
            what: `the database ${database} is not the one of the section`,
            todo: `npm run org -- create ${org}`,
          },
        ]),
  ];
}

async function findMissingQueues(
  api: Cloudflare,
  configuration: Configuration,
  org: string,
): Promise<OrgFinding[]> {
  const { worker } = configuration.namesOf(org);
  const found: OrgFinding[] = [];
  for (const { name, deadName } of configuration.queuesOf(org)) {
    for (const queue of [name, deadName]) {
      if ((await api.consumerOf(queue)) !== worker)
        found.push({ what: `the queue ${queue} is not consumed by ${worker}`, todo: DEPLOY(org) });
    }
    const kept = await api.queueRetention(deadName);
    if (kept !== null && kept < DEAD_LETTER_RETENTION_SECONDS)
      found.push({ what: `the queue ${deadName} keeps messages for too short a time`, todo: DEPLOY(org) });
  }
  return found;
}

/** Email takes a sender and a binding. Without both, only webhooks work, which may be what is wanted. */
function findMailProblems({
  vars,
  hasMail,
}: {
  vars: Record<string, unknown>;
  hasMail: boolean;
}): OrgFinding[] {
  const todo = 'docs/operations.md#alerts-and-digests';
  if (hasMail && !vars.MAIL_FROM) return [{ what: 'emails have no sender: MAIL_FROM is empty', todo }];
  if (!hasMail && vars.MAIL_FROM)
    return [{ what: 'MAIL_FROM is set, but the binding MAIL is missing', todo }];
  return hasMail ? [] : [{ what: 'emails are off: alerts reach webhooks only', todo }];
}

async function checkDatabase(
  ask: (sql: string) => Promise<Record<string, unknown>[]>,
  org: string,
): Promise<OrgFinding[]> {
  const [table] = await ask("SELECT name FROM sqlite_schema WHERE name = 'd1_migrations'");
  const applied = new Set(table ? (await ask('SELECT name FROM d1_migrations')).map(({ name }) => name) : []);
  const pending = (await readMigrations()).filter(({ name }) => !applied.has(name));
  const newer = await findNewerStores(ask);
  return [
    ...(pending.length > 0
      ? [
          {
            what: `${pending.length} migrations of ${STORE_FORMATS.database.name} are pending`,
            todo: DEPLOY(org),
          },
        ]
      : []),
    ...newer.map((what) => ({ what, todo: 'docs/operations.md#roll-back' })),
  ];
}
