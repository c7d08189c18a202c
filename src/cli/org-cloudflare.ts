/** A request that Cloudflare's API refused; the message never holds the token. */
export class CloudflareError extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

type Answer<Result> = {
  success: boolean;
  result: Result;
  errors?: { code: number; message: string }[];
};
type Named = { id: string; name: string };
type QueueRow = { queue_id: string; queue_name: string };

/** The few calls of Cloudflare's API that wrangler has no quiet, repeatable command for. */
export class Cloudflare {
  readonly accountId: string;
  private readonly baseUrl: string;
  private readonly token: string;

  constructor(baseUrl: string, token: string, accountId: string) {
    this.baseUrl = baseUrl;
    this.token = token;
    this.accountId = accountId;
  }

  /** By CLOUDFLARE_API_TOKEN, and CLOUDFLARE_ACCOUNT_ID where the token reaches several accounts. */
  static async connect(env: NodeJS.ProcessEnv): Promise<Cloudflare> {
    const token = env.CLOUDFLARE_API_TOKEN;
    if (!token) throw new Error('Set CLOUDFLARE_API_TOKEN; README.md says which permissions it needs.');
    const baseUrl = env.CLOUDFLARE_API_BASE_URL ?? 'https://api.cloudflare.com/client/v4';
    if (env.CLOUDFLARE_ACCOUNT_ID) return new Cloudflare(baseUrl, token, env.CLOUDFLARE_ACCOUNT_ID);
    const accounts = await new Cloudflare(baseUrl, token, '').call<Named[]>('GET', '/accounts');
    const [account, ...others] = accounts;
    if (!account) throw new Error('The API token reaches no account.');
    if (others.length > 0) {
      const names = accounts.map(({ id, name }) => `${id} (${name})`).join(', ');
      throw new Error(`The API token reaches several accounts; set CLOUDFLARE_ACCOUNT_ID to one of ${names}`);
    }
    return new Cloudflare(baseUrl, token, account.id);
  }

  async findDatabase(name: string): Promise<string | null> {
    const path = `${this.account()}/d1/database?name=${encodeURIComponent(name)}&per_page=100`;
    const found = await this.call<{ uuid: string; name: string }[]>('GET', path);
    return found.find((row) => row.name === name)?.uuid ?? null;
  }

  async createDatabase(name: string): Promise<string> {
    const path = `${this.account()}/d1/database`;
    return (await this.call<{ uuid: string }>('POST', path, { name })).uuid;
  }

  async deleteDatabase(id: string): Promise<void> {
    await this.call('DELETE', `${this.account()}/d1/database/${id}`);
  }

  async findQueue(name: string): Promise<string | null> {
    const path = `${this.account()}/queues?name=${encodeURIComponent(name)}`;
    const found = await this.call<QueueRow[] | null>('GET', path);
    return found?.find((row) => row.queue_name === name)?.queue_id ?? null;
  }

  async createQueue(name: string): Promise<void> {
    await this.call('POST', `${this.account()}/queues`, { queue_name: name });
  }

  /** With its consumers, because a Worker that consumes a queue cannot be deleted. */
  async deleteConsumers(queueId: string): Promise<void> {
    const path = `${this.account()}/queues/${queueId}/consumers`;
    const consumers = await this.call<{ consumer_id: string }[] | null>('GET', path);
    for (const { consumer_id } of consumers ?? []) await this.call('DELETE', `${path}/${consumer_id}`);
  }

  async deleteQueue(id: string): Promise<void> {
    await this.call('DELETE', `${this.account()}/queues/${id}`);
  }

  async hasBucket(name: string): Promise<boolean> {
    return (await this.unlessMissing('GET', `${this.account()}/r2/buckets/${name}`)) !== null;
  }

  async createBucket(name: string): Promise<void> {
    await this.call('POST', `${this.account()}/r2/buckets`, { name });
  }

  /** The names of a Worker's secrets; null where there is no such Worker. */
  async secretNames(worker: string): Promise<string[] | null> {
    const path = `${this.account()}/workers/scripts/${worker}/secrets`;
    const secrets = await this.unlessMissing<Named[]>('GET', path);
    return secrets?.map(({ name }) => name) ?? null;
  }

  /** The Worker that answers under a domain; null for none. */
  async workerOf(domain: string): Promise<string | null> {
    const path = `${this.account()}/workers/domains?hostname=${encodeURIComponent(domain)}`;
    const found = await this.call<{ hostname: string; service: string }[]>('GET', path);
    return found.find(({ hostname }) => hostname === domain)?.service ?? null;
  }

  async deleteWorker(worker: string): Promise<void> {
    await this.unlessMissing('DELETE', `${this.account()}/workers/scripts/${worker}?force=true`);
  }

  private account(): string {
    return `/accounts/${this.accountId}`;
  }

  private async unlessMissing<Result>(method: string, path: string): Promise<Result | null> {
    try {
      return await this.call<Result>(method, path);
    } catch (error) {
      if (error instanceof CloudflareError && error.status === 404) return null;
      throw error;
    }
  }

  private async call<Result>(method: string, path: string, body?: unknown): Promise<Result> {
    const where = `${method} ${path.split('?')[0]}`;
    const response = await fetch(`${this.baseUrl}${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw new CloudflareError(`Cloudflare cannot be reached (${where}): ${String(error)}`, 0);
    });
    const answer = (await response.json().catch(() => null)) as Answer<Result> | null;
    if (response.ok && answer?.success) return answer.result;
    const reasons = answer?.errors?.map(({ code, message }) => `${message} [${code}]`).join('; ');
    throw new CloudflareError(
      `Cloudflare answered ${response.status} to ${where}: ${reasons || 'no reason given'}`,
      response.status,
    );
  }
}
