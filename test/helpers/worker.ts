import {
  createExecutionContext,
  createMessageBatch,
  getQueueResult,
  waitOnExecutionContext,
} from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { ClickRecord } from '#attribution';
import type { DeviceEvent } from '#catalogue';
import { EventMessage, readMessage } from '#rollup';
import worker from '../../src/index.ts';
import type { Tenant } from './tenant.ts';

/** A queue that keeps what it is sent, so that a test decides what is delivered, when, how often and in which order. */
export class JournalQueue {
  readonly messages: { id: string; body: unknown; sentAt: number }[] = [];
  /** How many of the next sends fail. */
  failures = 0;
  /** Sends that hold such a message always fail. */
  failOnly: (body: unknown) => boolean = () => false;

  async send(body: unknown): Promise<void> {
    await this.sendBatch([{ body }]);
  }

  async sendBatch(messages: Iterable<{ body: unknown }>): Promise<void> {
    if (this.failures > 0) {
      this.failures--;
      throw new Error('Queue send failed');
    }
    const sent = [...messages];
    if (sent.some(({ body }) => this.failOnly(body))) throw new Error('Queue send failed');
    // The copy is what a real queue would deliver: text, or JSON and nothing else.
    for (const { body } of sent) {
      this.messages.push({
        id: crypto.randomUUID(),
        body: JSON.parse(JSON.stringify(body)),
        sentAt: Date.now(),
      });
    }
  }

  /** What has not been taken counts as not delivered. */
  async metrics() {
    const oldest = this.messages[0];
    return {
      backlogCount: this.messages.length,
      backlogBytes: 0,
      ...(oldest ? { oldestMessageTimestamp: new Date(oldest.sentAt) } : {}),
    };
  }

  /** Everything sent since the last call. */
  take(): { id: string; body: unknown }[] {
    return this.messages.splice(0);
  }
}

/** The body of a message, as the consumer reads it. */
export const messageIn = (body: unknown) => EventMessage.parse(readMessage(body).message);

/** The events in the body of a message, each with its application. */
export function eventsIn<Event = DeviceEvent>(body: unknown): Event[] {
  const { application_id, events } = messageIn(body);
  return events.map((event) => ({ application_id, ...(event as Event) }));
}

/** The clicks in the body of a message. */
export const clicksIn = (body: unknown): ClickRecord[] =>
  messageIn(body).clicks.map((click) => ClickRecord.parse(click));

/** The Worker as a deployment runs it, but for its event queue, which the test holds. `of` is a Worker with modules of its own. */
export function startWorker(
  overrides: Partial<Env> = {},
  of: Pick<typeof worker, 'fetch' | 'queue'> = worker,
) {
  const queue = new JournalQueue();
  const bindings: Env = { ...env, EVENTS: queue as unknown as Queue, ...overrides };

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    const ctx = createExecutionContext();
    const response = await of.fetch(new Request(`https://ingest.test${path}`, init), bindings, ctx);
    await waitOnExecutionContext(ctx);
    return response;
  }

  /** POSTs JSON with the application's key. */
  async function post(
    tenant: Pick<Tenant, 'apiKey'>,
    path: string,
    body: unknown,
    headers: HeadersInit = {},
  ) {
    return request(path, {
      method: 'POST',
      headers: { 'service-api-key': tenant.apiKey, 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }

  /** Calls the team API. */
  async function team(
    tenant: Pick<Tenant, 'teamToken'>,
    path: string,
    init: { method?: string; body?: unknown } = {},
  ) {
    return request(path, {
      method: init.method ?? 'GET',
      headers: { 'Service-Token': tenant.teamToken, 'Content-Type': 'application/json' },
      ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
    });
  }

  /** Delivers messages to the queue handler as one batch; answers which were acked and which come back. */
  async function deliver(messages: { id: string; body: unknown }[], queueName = 'attribution-events') {
    const batch = createMessageBatch(
      queueName,
      messages.map((message) => ({ ...message, timestamp: Date.now(), attempts: 1 })),
    );
    const ctx = createExecutionContext();
    await of.queue(batch, bindings);
    return getQueueResult(batch, ctx);
  }

  return { queue, bindings, request, post, team, deliver };
}

export type TestWorker = ReturnType<typeof startWorker>;

/** The fields that an error message of the team API names, one for each fault. */
export const fieldsOf = (message: string): string[] =>
  message.split('; ').map((fault) => fault.split(' ')[0] ?? '');

/** A device's token, by the public way. */
type DeviceInput = {
  created_at?: string;
  app_version?: string;
  sdk_version?: string;
  dev?: boolean;
  data?: Record<string, unknown>;
};

const deviceMetrics = (more: DeviceInput) => ({
  type: 'device-metrics',
  created_at: more.created_at ?? new Date().toISOString(),
  ...(more.app_version ? { app_version: more.app_version } : {}),
  ...(more.sdk_version ? { sdk_version: more.sdk_version } : {}),
  ...(more.dev ? { dev: true } : {}),
  data: {
    device_name: 'Pixel',
    device_model: 'Pixel 9',
    os_system: 'Android 16',
    timezone: 'UTC',
    ...more.data,
  },
});

export async function fetchToken(
  worker: TestWorker,
  tenant: Pick<Tenant, 'apiKey'>,
  more: DeviceInput = {},
): Promise<string> {
  const response = await worker.post(tenant, '/fetch-token', deviceMetrics(more));
  const body: { token: string } = await response.json();
  if (response.status !== 200) throw new Error(JSON.stringify(body));
  return body.token;
}

/** The tokens of devices that are registered in one request, in their order. */
export async function fetchTokenBatch(
  worker: TestWorker,
  tenant: Pick<Tenant, 'apiKey'>,
  devices: readonly DeviceInput[],
): Promise<string[]> {
  const response = await worker.post(tenant, '/fetch-token/batch', { devices: devices.map(deviceMetrics) });
  const body: { results: { token?: string }[] } = await response.json();
  return devices.map((_, index) => {
    const token = body.results?.[index]?.token;
    if (token === undefined) throw new Error(JSON.stringify(body));
    return token;
  });
}
