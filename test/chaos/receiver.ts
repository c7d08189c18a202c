import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What the receiver was told of an event under one id. */
export type Received = {
  type: string;
  /** That under which the event was sent: of a purchase or an ad; of an install the id of its device. */
  name: string;
  nanos: number;
  /** Whether it was answered with a success, to the end. */
  isTaken: boolean;
};

type Body = {
  type: string;
  data: {
    device: { id: string };
    value: number | null;
    purchase: { product_id: string } | null;
    ad: { network: string } | null;
  };
};

type Answering = (response: ServerResponse) => void;

const status =
  (code: number, headers: Record<string, string> = {}): Answering =>
  (response) =>
    response.writeHead(code, headers).end();

/**
 * The receiver of a webhook, which outlives the server. It refuses some events for now, redirects, never answers, or closes in the middle of an
 * answer, and it is killed with the server.
 */
export class ChaosReceiver {
  /** Share of the requests that are not answered with a success. */
  failing = 0;
  readonly counts = { receivedAgain: 0, refusals: 0, redirected: 0, hung: 0, cutOff: 0 };
  /** By the id of the event. */
  readonly received = new Map<string, Received>();
  /** What must not be: an event that differs from what was received under its id before. */
  readonly violations: string[] = [];
  private readonly random: () => number;
  private server: Server | null = null;
  private port = 0;

  constructor(random: () => number) {
    this.random = random;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  /** Listens, on the same port as before. */
  async open(): Promise<void> {
    const server = createServer((request, response) => void this.answer(request, response));
    this.server = server;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
  }

  /** Ends at once, with everything that it was about to answer. */
  async kill(): Promise<void> {
    const { server } = this;
    if (!server) return;
    const ended = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await ended;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // What a server sends while it is killed breaks off.
    const body = await text(request).catch(() => null);
    if (body === null) return;
    const event = this.note(String(request.headers['webhook-id']), JSON.parse(body));
    const answer = this.choose();
    if (answer) return answer(response);
    response.once('finish', () => {
      event.isTaken = true;
    });
    response.end('ok');
  }

  private note(id: string, { type, data }: Body): Received {
    const name = data.purchase?.product_id ?? data.ad?.network ?? data.device.id;
    const nanos = Math.round((data.value ?? 0) * 1e9);
    const known = this.received.get(id);
    if (!known) {
      const event = { type, name, nanos, isTaken: false };
      this.received.set(id, event);
      return event;
    }
    this.counts.receivedAgain++;
    if (known.type !== type || known.name !== name || known.nanos !== nanos)
      this.violations.push(
        `${id} was sent as ${name} with ${nanos} billionths after ${JSON.stringify(known)}`,
      );
    return known;
  }

  /** What it does instead of answering with a success. */
  private choose(): Answering | null {
    const dice = this.random() / this.failing;
    if (dice >= 1) return null;
    if (dice < 0.1) {
      this.counts.redirected++;
      return status(302, { Location: this.url });
    }
    if (dice < 0.15) {
      this.counts.hung++;
      return () => undefined;
    }
    if (dice < 0.5) {
      this.counts.cutOff++;
      return (response) => {
        response.writeHead(200, { 'Content-Length': '10' });
        response.write('hal', () => response.destroy());
      };
    }
    this.counts.refusals++;
    return dice < 0.6 ? status(429, { 'Retry-After': '1' }) : status(503);
  }
}
