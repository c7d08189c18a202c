import Client, { APIError, NotFoundError } from 'cloudflare';

/** The calls of Cloudflare's API for which wrangler has no non-interactive, idempotent command. See `toReadable` for its errors. */
export class Cloudflare {
  readonly accountId: string;
  private readonly client: Client;
  private readonly account: { account_id: string };

  private constructor(client: Client, accountId: string) {
    this.client = client;
    this.accountId = accountId;
    this.account = { account_id: accountId };
  }

  /** Uses CLOUDFLARE_API_TOKEN, and CLOUDFLARE_ACCOUNT_ID if the token can access several accounts. */
  static async connect(env: NodeJS.ProcessEnv): Promise<Cloudflare> {
    const apiToken = env.CLOUDFLARE_API_TOKEN;
    if (!apiToken) throw new Error('Set CLOUDFLARE_API_TOKEN; docs/operations.md lists its permissions.');
    const baseURL = env.CLOUDFLARE_API_BASE_URL;
    // A failed change may have been applied, so there are no retries; the next run checks first.
    const client = new Client({ apiToken, maxRetries: 0, ...(baseURL ? { baseURL } : {}) });
    if (env.CLOUDFLARE_ACCOUNT_ID) return new Cloudflare(client, env.CLOUDFLARE_ACCOUNT_ID);
    const accounts = await allOf(client.accounts.list());
    const [account, ...others] = accounts;
    if (!account) throw new Error('The API token has access to no account.');
    if (others.length > 0) {
      const names = accounts.map(({ id, name }) => `${id} (${name})`).join(', ');
      throw new Error(
        `The API token has access to several accounts; set CLOUDFLARE_ACCOUNT_ID to one of ${names}`,
      );
    }
    return new Cloudflare(client, account.id);
  }

  async findDatabase(name: string): Promise<string | null> {
    const found = await allOf(this.client.d1.database.list({ ...this.account, name }));
    return found.find((database) => database.name === name)?.uuid ?? null;
  }

  async createDatabase(name: string): Promise<string> {
    const { uuid } = await this.client.d1.database.create({ ...this.account, name });
    if (!uuid) throw new Error(`Cloudflare did not return the id of the database ${name}.`);
    return uuid;
  }

  /** The rows of a query, whose parameters are text. */
  async queryDatabase(id: string, sql: string, params: string[] = []): Promise<Record<string, unknown>[]> {
    const results = await allOf(this.client.d1.database.query(id, { ...this.account, sql, params }));
    return results.flatMap(({ results: rows }) => (rows ?? []) as Record<string, unknown>[]);
  }

  async deleteDatabase(id: string): Promise<void> {
    await this.client.d1.database.delete(id, this.account);
  }

  async findQueue(name: string): Promise<string | null> {
    const found = await allOf(this.client.queues.list(this.account, { query: { name } }));
    return found.find((queue) => queue.queue_name === name)?.queue_id ?? null;
  }

  async createQueue(name: string): Promise<void> {
    await this.client.queues.create({ ...this.account, queue_name: name });
  }

  /** For how many seconds a queue keeps a message; null if there is no such queue. */
  async queueRetention(name: string): Promise<number | null> {
    const id = await this.findQueue(name);
    if (id === null) return null;
    const { settings } = await this.client.queues.get(id, this.account);
    return settings?.message_retention_period ?? 0;
  }

  async setQueueRetention(name: string, seconds: number): Promise<void> {
    const id = await this.findQueue(name);
    if (id === null) throw new Error(`There is no queue ${name}.`);
    const settings = { message_retention_period: seconds };
    await this.client.queues.edit(id, { ...this.account, queue_name: name, settings });
  }

  /** A Worker that consumes a queue cannot be deleted, so its consumers are deleted first. */
  async deleteConsumers(queueId: string): Promise<void> {
    for (const { consumer_id } of await allOf(this.client.queues.consumers.list(queueId, this.account))) {
      if (!consumer_id) continue;
      await this.client.queues.consumers.delete(consumer_id, { ...this.account, queue_id: queueId });
    }
  }

  async deleteQueue(id: string): Promise<void> {
    await this.client.queues.delete(id, this.account);
  }

  async hasBucket(name: string): Promise<boolean> {
    return (await unlessMissing(this.client.r2.buckets.get(name, this.account))) !== null;
  }

  async createBucket(name: string): Promise<void> {
    await this.client.r2.buckets.create({ ...this.account, name });
  }

  /** The names of a Worker's secrets; null if there is no such Worker. */
  async secretNames(worker: string): Promise<string[] | null> {
    const secrets = await unlessMissing(
      allOf(this.client.workers.scripts.secrets.list(worker, this.account)),
    );
    return secrets?.map(({ name }) => name) ?? null;
  }

  async setSecret(worker: string, name: string, text: string): Promise<void> {
    await this.client.workers.scripts.secrets.update(worker, {
      ...this.account,
      name,
      text,
      type: 'secret_text',
    });
  }

  /** What a Worker is bound to, as it is deployed; null if there is no such Worker. */
  async bindingsOf(worker: string): Promise<{ type: string; name: string; text?: string }[] | null> {
    const settings = await unlessMissing(
      this.client.workers.scripts.scriptAndVersionSettings.get(worker, this.account),
    );
    return settings && (settings.bindings ?? []);
  }

  async cronsOf(worker: string): Promise<string[]> {
    const { schedules } = await this.client.workers.scripts.schedules.get(worker, this.account);
    return schedules.map(({ cron }) => cron);
  }

  /** The Worker that consumes a queue; null if there is none. */
  async consumerOf(queue: string): Promise<string | null> {
    const id = await this.findQueue(queue);
    if (id === null) return null;
    const [consumer] = await allOf(this.client.queues.consumers.list(id, this.account));
    return consumer && 'script' in consumer && consumer.script ? String(consumer.script) : null;
  }

  /** Where a Worker without a domain is served. */
  async workersDevUrl(worker: string): Promise<string> {
    const { subdomain } = await this.client.workers.subdomains.get(this.account);
    return `https://${worker}.${subdomain}.workers.dev`;
  }

  /** The Worker that serves a domain; null if there is none. */
  async workerOf(domain: string): Promise<string | null> {
    const found = await allOf(this.client.workers.domains.list({ ...this.account, hostname: domain }));
    return found.find(({ hostname }) => hostname === domain)?.service ?? null;
  }

  /** The id of the zone with a name; null if the account has none. */
  async findZone(name: string): Promise<string | null> {
    const found = await allOf(this.client.zones.list({ name, account: { id: this.accountId } }));
    return found.find((zone) => zone.name === name)?.id ?? null;
  }

  /** The Workers behind routes of a zone, by their patterns. */
  async routesOf(zoneId: string): Promise<Map<string, string>> {
    const routes = await allOf(this.client.workers.routes.list({ zone_id: zoneId }));
    return new Map(routes.map(({ pattern, script = '' }) => [pattern, script]));
  }

  async deleteWorker(worker: string): Promise<void> {
    await unlessMissing(this.client.workers.scripts.delete(worker, { ...this.account, force: true }));
  }
}

async function allOf<Row>(pages: AsyncIterable<Row>): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of pages) rows.push(row);
  return rows;
}

async function unlessMissing<Result>(request: Promise<Result>): Promise<Result | null> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof NotFoundError) return null;
    throw error;
  }
}

/** An error of Cloudflare in readable words; the client's own would dump the body. Any other error is returned as it is. */
export function toReadable(cause: unknown): unknown {
  if (!(cause instanceof APIError)) return cause;
  if (cause.status === undefined) {
    return new Error(`Cloudflare cannot be reached: ${cause.message}`, { cause });
  }
  const reasons = cause.errors.map(({ code, message }) => `${message} [${code}]`).join('; ');
  return new Error(`Cloudflare answered ${cause.status}: ${reasons || 'no reason given'}`, { cause });
}
