import { pick } from '../helpers/random.ts';

export type Tenant = { apiKey: string; teamToken: string; applicationId: string };
/** How often an event was counted is read under its own name in a report of its kind. */
export type Kind = 'custom' | 'ad' | 'purchase';
type Entry = { kind: Kind; nanos: number; acknowledged: boolean };

const DAY = '2026-03-01';

/** Of equal length, so that a thousand names share what comes before their last three digits. */
const eventName = (index: number) => `event-${String(index).padStart(7, '0')}`;

/**
 * A backend that writes down what it sends and what was acknowledged. Each event has a name of its own, under which the reports
 * show how often it was counted.
 */
export class JournalClient {
  readonly journal = new Map<string, Entry>();
  readonly devices = new Map<string, boolean>();
  private readonly tokens: string[] = [];
  private readonly random: () => number;
  private readonly tenant: Tenant;
  private readonly address: () => string;
  private next = 0;
  private destination = '';

  constructor(random: () => number, tenant: Tenant, address: () => string) {
    this.random = random;
    this.tenant = tenant;
    this.address = address;
  }

  /** One step of a backend's life: a new device, an event, or many. Never throws: a failure is an event not acknowledged. */
  async step(): Promise<void> {
    const dice = this.random();
    if (this.tokens.length < 5 || dice < 0.1) await this.addDevice();
    else if (dice < 0.8) await this.sendOne();
    else await this.sendMany();
  }

  private async post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<unknown> {
    try {
      const response = await fetch(`${this.address()}${path}`, {
        method: 'POST',
        headers: { 'service-api-key': this.tenant.apiKey, 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(10_000),
      });
      const answer: unknown = await response.json();
      if (response.status < 500 && response.status !== 200) {
        throw new RangeError(`${path} answered ${response.status}: ${JSON.stringify(answer)}`);
      }
      return response.status === 200 ? answer : null;
    } catch (error) {
      // A refusal is a fault of this client or of the service, never of the weather.
      if (error instanceof RangeError) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
      return null;
    }
  }

  /** Has the application's events sent to a webhook. */
  async addDestination(url: string): Promise<void> {
    const { id } = await this.ask<{ id: string }>('POST', '/v1/destinations', {
      ...{ application_id: this.tenant.applicationId, kind: 'webhook', url },
      events: ['install', 'ad', 'purchase'],
    });
    this.destination = `/v1/destinations/${id}`;
  }

  /** Has sent again at once what waits for a later attempt. Returns whether nothing waits in the destination. */
  async hurryDeliveries(): Promise<boolean> {
    const everything = { from: '2026-01-01T00:00:00Z', to: new Date(Date.now() + 60_000).toISOString() };
    await this.ask('POST', `${this.destination}/replay`, { ...everything, status: 'pending' });
    const state = await this.ask<{ enabled: boolean; off_reason: string; oldest_pending_at: string | null }>(
      'GET',
      this.destination,
    );
    if (!state.enabled) throw new Error(`the destination was switched off: ${state.off_reason}`);
    return state.oldest_pending_at === null;
  }

  private async ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await fetch(`${this.address()}${path}`, {
      method,
      headers: { 'Service-Token': this.tenant.teamToken, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Answer;
  }

  /** Replays the parked messages, which the queue gave up delivering. Returns how many there were. */
  async replayParked(): Promise<number> {
    const headers = { 'Service-Token': this.tenant.teamToken };
    const answer = await fetch(`${this.address()}/v1/parked?limit=200`, { headers });
    const { data } = (await answer.json()) as { data: { id: string }[] };
    for (const { id } of data) {
      const replayed = await fetch(`${this.address()}/v1/parked/${id}/replay`, { method: 'POST', headers });
      await replayed.body?.cancel();
      if (!replayed.ok) throw new Error(`the replay of ${id} answered ${replayed.status}`);
    }
    return data.length;
  }
  /** Reports make counters count what they have; what it says is of no interest during the storm. */
  async readReport(): Promise<void> {
    const { applicationId, teamToken } = this.tenant;
    const query = `application_id=${applicationId}&from=${DAY}&to=${DAY}`;
    await fetch(`${this.address()}/v1/reports/performance?${query}`, {
      headers: { 'Service-Token': teamToken },
      signal: AbortSignal.timeout(10_000),
    }).catch(() => null);
  }

  private async addDevice(): Promise<void> {
    const name = `device-${this.next++}`;
    this.devices.set(name, false);
    const body = {
      type: 'device-metrics',
      created_at: `${DAY}T00:00:00.000Z`,
      data: {
        device_name: 'a',
        device_model: 'b',
        os_system: 'Android 16',
        timezone: 'UTC',
        device_id: name,
      },
    };
    for (let attempt = 0; attempt < 3; attempt++) {
      const answer = (await this.post('/fetch-token', body)) as { token: string } | null;
      if (!answer) continue;
      this.devices.set(name, true);
      this.tokens.push(answer.token);
      return;
    }
  }

  private makeEvent(): { name: string; envelope: Record<string, unknown> } {
    const name = eventName(this.next++);
    const kind = pick(this.random, ['custom', 'ad', 'ad', 'purchase'] as const);
    const nanos = kind === 'custom' ? 0 : Math.floor(this.random() * 5_000_000_000);
    this.journal.set(name, { kind, nanos, acknowledged: false });
    const value = nanos / 1e9;
    const payload = {
      custom: { event_name: name },
      ad: { ad_id: name, source: 'banner', media_source: name, value, currency: 'usd' },
      purchase: { item_id: name, item_name: 'Item', value, currency: 'usd', status: 'completed' },
    }[kind];
    const type = kind === 'custom' ? 'custom' : `custom.${kind}`;
    const envelope = {
      type,
      created_at: `${DAY} 12:00:00`,
      creativeToken: pick(this.random, this.tokens),
      payload,
    };
    return { name, envelope };
  }

  private acknowledge(name: string): void {
    const entry = this.journal.get(name);
    if (entry) entry.acknowledged = true;
  }

  /** An event with a key is sent until it is accepted, and sometimes once more; one without is sent once. */
  private async sendOne(): Promise<void> {
    const { name, envelope } = this.makeEvent();
    const keyed = this.random() < 0.5;
    const headers: Record<string, string> = keyed ? { 'Idempotency-Key': name } : {};
    for (let attempt = 0; attempt < (keyed ? 4 : 1); attempt++) {
      if (!(await this.post('/webhook', envelope, headers))) continue;
      this.acknowledge(name);
      if (this.random() < 0.8) return;
    }
  }

  private async sendMany(): Promise<void> {
    const events = Array.from({ length: 1 + Math.floor(this.random() * 40) }, () => this.makeEvent());
    const body = { events: events.map(({ envelope }) => envelope) };
    const keyed = this.random() < 0.5;
    const headers: Record<string, string> = keyed ? { 'Idempotency-Key': `batch-${this.next++}` } : {};
    for (let attempt = 0; attempt < (keyed ? 4 : 1); attempt++) {
      const answer = (await this.post('/webhook/batch', body, headers)) as {
        results: { index: number; event_id?: string }[];
      } | null;
      for (const { index, event_id } of answer?.results ?? []) {
        const sent = events[index];
        if (event_id && sent) this.acknowledge(sent.name);
      }
      if (answer && this.random() < 0.8) return;
    }
  }
}
