import { readFile, writeFile } from 'node:fs/promises';
import { parse, stringify } from 'smol-toml';
import { getDomain } from 'tldts';
import type { Unstable_RawConfig, Unstable_RawEnvironment } from 'wrangler';
import { EventQueueCount } from '#env';
import { numberOfBinding, queueBinding, queueName } from '#lib/event-queues';

type OrgNames = {
  worker: string;
  database: string;
  bucket: string;
};

/** An event queue and the queue of its dead letters. */
export type OrgQueue = { binding: string; name: string; deadName: string };

/** The resources of an org's deployment. Orgs share none of them. */
export type OrgSettings = {
  org: string;
  /** Null if it is only on workers.dev. */
  domain: string | null;
  /** The zone of the domain, which gets Apple's postbacks; null if the domain itself does, or the account has no zone for it. */
  zone: string | null;
  databaseId: string;
  deployed: boolean;
};

/** The first rate limit namespace of an org. Lower numbers belong to the top level. */
const FIRST_NAMESPACE = 2001;
const DEPLOYED = '# Deployed.';
const NOT_DEPLOYED = '# Has undeployed changes: run `npm run org -- deploy`.';

const begin = (org: string) =>
  `# >>> ${org}: written by \`npm run org\`. Edit only its vars; the rest is copied from the top level.`;
const end = (org: string) => `# <<< ${org}`;

/** The optional mail binding, which a single org may have. */
const sendEmail = (binding: Unstable_RawEnvironment['send_email']) =>
  binding && binding.length > 0 ? { send_email: binding } : {};

/** The domain that was registered for a host, by the Public Suffix List: `example.co.uk` of `attr.example.co.uk`. Null if nobody can. */
export const registrableDomain = (host: string): string | null =>
  getDomain(host, { allowPrivateDomains: true });

/** Apple's devices post to the registrable domain alone, without its subdomains. The rest of that domain stays where it is. */
export const postbackPatterns = (zone: string): string[] =>
  ['skadnetwork', 'appattribution'].map((framework) => `${zone}/.well-known/${framework}/*`);

/** The configuration of all deployments: wrangler's file, in which each org has its own section. */
export class Configuration {
  readonly file: string;
  private readonly text: string;
  private readonly raw: Unstable_RawConfig;

  private constructor(file: string, text: string, raw: Unstable_RawConfig) {
    this.file = file;
    this.text = text;
    this.raw = raw;
  }

  static async read(file: string): Promise<Configuration> {
    const text = await readFile(file, 'utf8');
    return new Configuration(file, text, parse(text) as Unstable_RawConfig);
  }

  get requiredSecrets(): string[] {
    return this.raw.secrets?.required ?? [];
  }

  namesOf(org: string): OrgNames {
    const worker = `${this.raw.name}-${org}`;
    return { worker, database: worker, bucket: `${worker}-raw-events` };
  }

  /**
   * As many queues as the org's EVENT_QUEUES says, and those that its section already has: they may hold events after the number was lowered.
   * Each has dead letters of its own, because a queue accepts no more messages per second than another. Throws if the number is invalid.
   */
  queuesOf(org: string): OrgQueue[] {
    const section = this.raw.env?.[org];
    const wanted = EventQueueCount.safeParse({ ...this.raw.vars, ...section?.vars }.EVENT_QUEUES);
    if (!wanted.success) {
      const [issue] = wanted.error.issues;
      throw new Error(`EVENT_QUEUES of ${org} in ${this.file} is invalid: ${issue?.message}.`);
    }
    const bound = (section?.queues?.producers ?? []).map(({ binding }) => numberOfBinding(binding) ?? 0);
    return Array.from({ length: Math.max(wanted.data, ...bound.map((last) => last + 1)) }, (_, number) => {
      const name = queueName(`${this.namesOf(org).worker}-events`, number);
      // The Worker recognizes dead letters by the suffix of their queue's name.
      return { binding: queueBinding(number), name, deadName: `${name}-dead` };
    });
  }

  /** What a deployed org should have of its section and of the top level, which sections inherit. */
  deployedOf(org: string) {
    const section = this.raw.env?.[org];
    return {
      vars: section?.vars ?? {},
      bindings: [
        ...(section?.d1_databases ?? []).map(({ binding }) => binding),
        ...(section?.r2_buckets ?? []).map(({ binding }) => binding),
        ...(section?.queues?.producers ?? []).map(({ binding }) => binding),
        ...(section?.durable_objects?.bindings ?? []).map(({ name }) => name),
      ],
      limits: (section?.ratelimits ?? []).map(({ name }) => name),
      crons: section?.triggers?.crons ?? this.raw.triggers?.crons ?? [],
      hasMail: (section?.send_email ?? []).length > 0,
    };
  }

  orgs(): OrgSettings[] {
    return Object.keys(this.raw.env ?? {}).flatMap((org) => this.settingsOf(org) ?? []);
  }

  settingsOf(org: string): OrgSettings | null {
    const section = this.raw.env?.[org];
    if (!section) return null;
    const [route, ofZone] = section.routes ?? [];
    return {
      org,
      domain: typeof route === 'object' ? route.pattern : null,
      zone: typeof ofZone === 'object' && 'zone_name' in ofZone ? ofZone.zone_name : null,
      databaseId: section.d1_databases?.[0]?.database_id ?? '',
      deployed: this.blockOf(org)?.includes(DEPLOYED) ?? false,
    };
  }

  /** The file's text with the org's section up to date. The same settings produce the same text. */
  withSection(settings: OrgSettings): string {
    const block = [
      begin(settings.org),
      settings.deployed ? DEPLOYED : NOT_DEPLOYED,
      stringify({ env: { [settings.org]: this.sectionFor(settings) } }).trim(),
      end(settings.org),
      '',
    ].join('\n');
    const old = this.blockOf(settings.org);
    return old === null ? `${this.text.trimEnd()}\n\n${block}` : this.text.replace(old, () => block);
  }

  withoutSection(org: string): string {
    const old = this.blockOf(org);
    return old === null ? this.text : `${this.text.replace(old, '').trimEnd()}\n`;
  }

  /** Whether the file already has exactly these settings for the org, and bindings that match the top level. */
  holds(settings: OrgSettings): boolean {
    return this.withSection(settings) === this.text;
  }

  async save(text: string): Promise<void> {
    if (text !== this.text) await writeFile(this.file, text);
  }

  private blockOf(org: string): string | null {
    const from = this.text.indexOf(`${begin(org)}\n`);
    const last = `${end(org)}\n`;
    const to = this.text.indexOf(last, from);
    if (from < 0 || to < 0) {
      if (this.raw.env?.[org]) {
        throw new Error(`${this.file} has a section [env.${org}] that \`npm run org\` did not write.`);
      }
      return null;
    }
    return this.text.slice(from, to + last.length);
  }

  /** Sections inherit everything except bindings. Settings that an operator may have changed are kept. */
  private sectionFor({ org, domain, zone, databaseId }: OrgSettings) {
    const { raw } = this;
    const names = this.namesOf(org);
    const existing = raw.env?.[org];
    const [database] = raw.d1_databases ?? [];
    const queues = this.queuesOf(org);
    return {
      name: names.worker,
      workers_dev: domain === null,
      ...(domain === null
        ? {}
        : {
            routes: [
              { pattern: domain, custom_domain: true },
              ...(zone ? postbackPatterns(zone) : []).map((pattern) => ({ pattern, zone_name: zone })),
            ],
          }),
      vars: { ...raw.vars, ...existing?.vars, POSTBACK_DOMAIN: this.postbackDomainOf(org, domain) },
      d1_databases: [{ ...database, database_name: names.database, database_id: databaseId }],
      queues: {
        producers:
          raw.queues?.producers?.flatMap((producer) =>
            queues.map(({ binding, name }) => ({ ...producer, binding, queue: name })),
          ) ?? [],
        consumers:
          raw.queues?.consumers?.flatMap((consumer) =>
            queues.map(({ name, deadName }) =>
              consumer.dead_letter_queue
                ? { ...consumer, queue: name, dead_letter_queue: deadName }
                : { ...consumer, queue: deadName },
            ),
          ) ?? [],
      },
      durable_objects: raw.durable_objects,
      version_metadata: raw.version_metadata,
      ratelimits: this.rateLimitsFor(existing),
      ...sendEmail(existing?.send_email ?? raw.send_email),
      r2_buckets: raw.r2_buckets?.map((bucket) => ({ ...bucket, bucket_name: names.bucket })) ?? [],
      // Inherited too, but written out, because a section that sets only a part of it would log request URLs again.
      observability: raw.observability,
      secrets: raw.secrets,
    };
  }

  /** Follows the domain. What an operator has put there is kept while the domain stays: it may be one that was registered for postbacks alone. */
  private postbackDomainOf(org: string, domain: string | null): string {
    const kept = this.settingsOf(org)?.domain === domain && this.raw.env?.[org]?.vars?.POSTBACK_DOMAIN;
    return String(kept || (domain && registrableDomain(domain)) || '');
  }

  /** Namespaces belong to the account, so each org needs its own: two that share a number would share a limit. */
  private rateLimitsFor(existing: Unstable_RawEnvironment | undefined) {
    const taken = Object.values(this.raw.env ?? {}).flatMap((section) => section.ratelimits ?? []);
    let last = Math.max(FIRST_NAMESPACE - 1, ...taken.map(({ namespace_id }) => Number(namespace_id)));
    return (this.raw.ratelimits ?? []).map(({ name, simple }) => {
      const known = existing?.ratelimits?.find((limit) => limit.name === name)?.namespace_id;
      return { name, namespace_id: known ?? String(++last), simple };
    });
  }
}
