import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';

export type Binding = { type: string; name: string; text?: string; [field: string]: unknown };
type Script = {
  observability: unknown;
  bindings: Binding[];
  secrets: Map<string, string>;
  crons: string[];
  workersDev: boolean;
};
type QueueRow = {
  queue_id: string;
  queue_name: string;
  settings: Record<string, unknown>;
  consumers: Map<string, Record<string, unknown>>;
};
type Request = { method: string; path: string; query: URLSearchParams; body: Buffer; type: string };
type Refusal = { status: number; code: number };

export const TOKEN = 'cf-token-of-the-tests-0123456789';
export const ACCOUNT = 'a0000000000000000000000000000001';

const missing = (code: number): Refusal => ({ status: 404, code });
const isRefusal = (value: unknown): value is Refusal =>
  typeof value === 'object' && value !== null && 'status' in value && 'code' in value;

/**
 * An account at Cloudflare, as far as provisioning and `wrangler deploy` see it: databases with real tables, queues with their
 * consumers, Workers with bindings, secrets, schedules and domains. It can fail at any of its changes.
 */
export class StandIn {
  readonly databases = new Map<string, { name: string; sqlite: DatabaseSync }>();
  readonly queues = new Map<string, QueueRow>();
  readonly buckets = new Set<string>();
  readonly scripts = new Map<string, Script>();
  readonly domains = new Map<string, string>();
  /** The routes of each zone: the Workers by their patterns. */
  readonly zones = new Map<string, Record<string, string>>();
  /** Every requested change, and every unknown request. */
  readonly changes: string[] = [];
  readonly unknown: string[] = [];
  /** Every secret that a Worker was ever given. */
  readonly secretsSeen = new Set<string>();
  /** The changes that fail when they are first requested, each once. Every other failed change is applied nevertheless, beginning with the first. */
  failing: RegExp | null = null;
  private readonly failed = new Set<string>();
  private made = 0;
  private server: Server | null = null;

  async open(): Promise<string> {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', async () => {
        const result = await this.answer(request, Buffer.concat(parts)).catch((error: unknown) => {
          this.unknown.push(String(error));
          return { status: 500, code: 1 };
        });
        const refused = isRefusal(result);
        response.writeHead(refused ? result.status : 200, { 'Content-Type': 'application/json' });
        const errors = refused ? [{ code: result.code, message: 'refused by the stand-in' }] : [];
        const list = Array.isArray(result)
          ? {
              result_info: {
                page: 1,
                per_page: 100,
                count: result.length,
                total_count: result.length,
                total_pages: 1,
              },
            }
          : {};
        response.end(
          JSON.stringify({
            success: !refused,
            errors,
            messages: [],
            result: refused ? null : result,
            ...list,
          }),
        );
      });
    });
    this.server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/client/v4`;
  }

  close(): void {
    this.server?.closeAllConnections();
    this.server?.close();
  }

  private async answer(incoming: IncomingMessage, body: Buffer): Promise<unknown> {
    const url = new URL(incoming.url ?? '', 'http://stand-in');
    const path = url.pathname.replace('/client/v4', '').replace(`/accounts/${ACCOUNT}`, '');
    const request = {
      method: incoming.method ?? '',
      path,
      query: url.searchParams,
      body,
      type: incoming.headers['content-type'] ?? '',
    };
    if (incoming.headers.authorization !== `Bearer ${TOKEN}`) return { status: 401, code: 10000 };
    if (request.method === 'GET' || isLookUp(request)) {
      const found = await this.handle(request);
      // Every list fits its first page.
      return Array.isArray(found) && Number(request.query.get('page') ?? 1) > 1 ? [] : found;
    }
    const change = `${request.method} ${path} ${nameIn(request)}`.trim();
    this.changes.push(change);
    const fails = this.failing?.test(change) === true && !this.failed.has(change);
    if (fails) this.failed.add(change);
    if (fails && this.failed.size % 2 === 0) return { status: 400, code: 7500 };
    const result = await this.handle(request);
    return fails ? { status: 400, code: 7500 } : result;
  }

  get failures(): number {
    return this.failed.size;
  }

  private async handle(request: Request): Promise<unknown> {
    const { method, path } = request;
    const [, area = '', ...rest] = path.split('/');
    const handled =
      area === 'd1'
        ? this.d1(request, rest)
        : area === 'queues'
          ? this.queue(request, rest)
          : area === 'r2'
            ? this.r2(request, rest)
            : area === 'workers'
              ? await this.worker(request, rest)
              : undefined;
    if (path === '/zones') {
      const name = request.query.get('name') ?? '';
      return this.zones.has(name) ? [{ id: `zone-${name}`, name }] : [];
    }
    const [, zoneName = ''] = /^\/zones\/zone-(.+)\/workers\/routes$/.exec(path) ?? [];
    if (zoneName !== '') {
      return Object.entries(this.zones.get(zoneName) ?? {}).map(([pattern, script]) => ({ pattern, script }));
    }
    if (path === '/accounts') return [{ id: ACCOUNT, name: 'Tests' }];
    if (path === '/memberships') return [{ id: 'm', account: { id: ACCOUNT, name: 'Tests' } }];
    if (handled === undefined) {
      this.unknown.push(`${method} ${path}`);
      return missing(10090);
    }
    return handled;
  }

  private d1({ method, query, body }: Request, [, id, action]: string[]): unknown {
    if (method === 'GET' && !id) {
      const name = query.get('name');
      return [...this.databases]
        .filter(([, row]) => !name || row.name.includes(name))
        .map(([uuid, row]) => ({ uuid, name: row.name }));
    }
    if (method === 'POST' && !id) {
      const { name }: { name: string } = JSON.parse(body.toString());
      if ([...this.databases.values()].some((row) => row.name === name)) return { status: 400, code: 7502 };
      const uuid = `d1000000-0000-4000-8000-${String(++this.made).padStart(12, '0')}`;
      this.databases.set(uuid, { name, sqlite: new DatabaseSync(':memory:') });
      return { uuid, name };
    }
    const row = this.databases.get(id ?? '');
    if (!row) return missing(7404);
    if (action === 'query') {
      const { sql }: { sql: string } = JSON.parse(body.toString());
      return [{ success: true, meta: { duration: 0 }, results: run(row.sqlite, sql) }];
    }
    if (method === 'DELETE') return this.databases.delete(id ?? '') ? {} : missing(7404);
    return method === 'GET' ? { uuid: id, name: row.name, version: 'production' } : undefined;
  }

  private queue({ method, query, body }: Request, [id, action, consumer]: string[]): unknown {
    const show = (row: QueueRow) => ({
      queue_id: row.queue_id,
      queue_name: row.queue_name,
      consumers: [...row.consumers].map(([consumer_id, settings]) => ({
        consumer_id,
        ...settings,
        script: settings.script_name,
      })),
      producers: [],
      settings: row.settings,
    });
    if (!id && method === 'GET') {
      const names = query.getAll('name');
      return [...this.queues.values()]
        .filter((row) => names.length === 0 || names.includes(row.queue_name))
        .map(show);
    }
    if (!id) {
      const { queue_name }: { queue_name: string } = JSON.parse(body.toString());
      if ([...this.queues.values()].some((row) => row.queue_name === queue_name))
        return { status: 409, code: 11009 };
      const row = { queue_id: `q${++this.made}`, queue_name, settings: {}, consumers: new Map() };
      this.queues.set(row.queue_id, row);
      return show(row);
    }
    const row = this.queues.get(id);
    if (!row) return missing(11000);
    if (!action) {
      if (method === 'DELETE') this.queues.delete(id);
      if (method === 'PATCH') Object.assign(row.settings, JSON.parse(body.toString()).settings);
      return show(row);
    }
    if (method === 'GET') return show(row).consumers;
    if (method === 'DELETE') return row.consumers.delete(consumer ?? '') ? {} : missing(11003);
    const key = consumer ?? `c${++this.made}`;
    row.consumers.set(key, JSON.parse(body.toString()));
    return { consumer_id: key };
  }

  private r2({ method, body }: Request, [, name]: string[]): unknown {
    if (method === 'POST') {
      const made: { name: string } = JSON.parse(body.toString());
      this.buckets.add(made.name);
      return {};
    }
    return this.buckets.has(name ?? '') ? { name } : missing(10006);
  }

  private async worker(request: Request, [kind, name = '', action, detail]: string[]): Promise<unknown> {
    const { method, body } = request;
    if (kind === 'subdomain') return { subdomain: 'tests' };
    if (kind === 'domains' && name === '')
      return [...this.domains]
        .filter(([hostname]) => [null, hostname].includes(request.query.get('hostname')))
        .map(([hostname, service]) => ({ hostname, service }));
    const script = this.scripts.get(name);
    if (kind === 'services') {
      return script
        ? { default_environment: { environment: 'production', script: { last_deployed_from: 'wrangler' } } }
        : missing(10090);
    }
    if (kind === 'workers')
      return script ? { id: name, name, subdomain: { enabled: script.workersDev } } : missing(10007);
    if (kind !== 'scripts') return undefined;
    if (action === 'assets-upload-session') return { jwt: 'assets', buckets: [] };
    if (!action && method === 'PUT') return this.upload(name, request);
    if (!script) return missing(10007);
    if (!action && method === 'DELETE') return this.deleteScript(name);
    if (action === 'secrets' && method === 'PUT') {
      const secret: { name: string; text: string } = JSON.parse(body.toString());
      script.secrets.set(secret.name, secret.text);
      for (const text of secret.text.split(' ')) this.secretsSeen.add(text);
      return { name: secret.name, type: 'secret_text' };
    }
    if (action === 'secrets')
      return [...script.secrets.keys()].map((secret) => ({ name: secret, type: 'secret_text' }));
    if (action === 'schedules' && method === 'PUT') {
      script.crons = (JSON.parse(body.toString()) as { cron: string }[]).map(({ cron }) => cron);
      return { schedules: [] };
    }
    if (action === 'schedules') return { schedules: script.crons.map((cron) => ({ cron })) };
    if (action === 'subdomain' && method === 'POST') script.workersDev = JSON.parse(body.toString()).enabled;
    if (action === 'subdomain') return { enabled: script.workersDev, previews_enabled: false };
    if (action === 'domains' && detail?.startsWith('changeset'))
      return { added: [], removed: [], updated: [], conflicting: [] };
    if (action === 'domains' && method === 'PUT') {
      const { origins }: { origins: { hostname: string }[] } = JSON.parse(body.toString());
      for (const { hostname } of origins) this.domains.set(hostname, name);
      return origins;
    }
    if (action === 'settings' || action === 'script-settings') return { bindings: script.bindings, tags: [] };
    if (action === 'deployments') return { deployments: [] };
    if (action === 'versions') return { items: [] };
    if (action === 'routes') return [];
    return undefined;
  }

  private async upload(name: string, { body, type }: Request): Promise<unknown> {
    const form = await new Response(new Uint8Array(body), { headers: { 'Content-Type': type } }).formData();
    const metadata: { bindings: Binding[]; observability?: unknown } = JSON.parse(
      String(form.get('metadata')),
    );
    const script = this.scripts.get(name) ?? {
      observability: undefined,
      bindings: [],
      secrets: new Map(),
      crons: [],
      workersDev: false,
    };
    const known = new Map(script.bindings.map((row) => [row.name, row]));
    for (const { type: kind, name: binding, text } of metadata.bindings) {
      if (kind === 'secret_text' && text) {
        script.secrets.set(binding, text);
        this.secretsSeen.add(text);
      } else if (kind === 'inherit' && !script.secrets.has(binding) && !known.has(binding)) {
        return { status: 400, code: 10057 };
      }
    }
    const kept = metadata.bindings.map((row) =>
      row.type === 'inherit' ? (known.get(row.name) ?? row) : row,
    );
    script.observability = metadata.observability;
    script.bindings = kept.filter(({ type: kind }) => kind !== 'secret_text' && kind !== 'inherit');
    this.scripts.set(name, script);
    return {
      id: name,
      available_on_subdomain: script.workersDev,
      deployment_id: `${++this.made}`,
      startup_time_ms: 1,
    };
  }

  private deleteScript(name: string): unknown {
    const consumed = [...this.queues.values()].some(({ consumers }) =>
      [...consumers.values()].some(({ script_name }) => script_name === name),
    );
    if (consumed) return { status: 400, code: 10064 };
    this.scripts.delete(name);
    for (const [hostname, service] of this.domains) if (service === name) this.domains.delete(hostname);
    return {};
  }
}

/** Distinguishes changes under the same address. */
function nameIn({ method, path, body }: Request): string {
  if (method !== 'POST') return '';
  if (path.endsWith('/query')) return String(JSON.parse(body.toString()).sql).slice(-60).trim();
  return path === '/queues' ? String(JSON.parse(body.toString()).queue_name) : '';
}

/** Requests that change nothing although they are not a GET. */
function isLookUp({ path, body }: Request): boolean {
  if (path.includes('/domains/changeset')) return true;
  return path.endsWith('/query') && /^\s*(?:SELECT|PRAGMA)/i.test(JSON.parse(body.toString()).sql ?? '');
}

function run(sqlite: DatabaseSync, sql: string): unknown[] {
  if (/^\s*SELECT/i.test(sql)) return sqlite.prepare(sql).all();
  sqlite.exec(sql);
  return [];
}
