import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { queueName } from '#lib/event-queues';
import { pick, shuffled } from '../helpers/random.ts';
import type { Delivery, Outcome, Sent } from './worker.ts';

const FIRST = 'attribution-events';
const LARGEST_BATCH = 100;
/** How often a message may come back before it goes to the dead letters: fewer times than in a deployment, because outages are shorter. */
const MOST_ATTEMPTS = 6;

type Message = Delivery['messages'][number] & { queue: number };

/**
 * The event queues, which outlive the server, as Cloudflare's do: at least once, in any order. They fail to take messages, take them
 * without saying so, deliver some twice in a batch and some again long after they were acknowledged.
 */
export class ChaosQueues {
  /** Share of the sends that fail, half of them after the message was accepted. */
  failing = 0;
  readonly counts = {
    sent: 0,
    sentToOthers: 0,
    refused: 0,
    takenSilently: 0,
    delivered: 0,
    redelivered: 0,
    dead: 0,
  };
  private readonly waiting = new Map<string, Message>();
  private readonly dead = new Map<string, Message>();
  private readonly settled: Message[] = [];
  private readonly random: () => number;
  private server: Server | null = null;
  private next = 0;

  constructor(random: () => number) {
    this.random = random;
  }

  get backlog(): number {
    return this.waiting.size + this.dead.size;
  }

  /** Listens for sends; answers its address. */
  async open(): Promise<string> {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const { queue, bodies }: Sent = JSON.parse(Buffer.concat(parts).toString());
        response.statusCode = this.take(queue, bodies) ? 200 : 503;
        response.end();
      });
    });
    this.server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  close(): void {
    this.server?.closeAllConnections();
    this.server?.close();
  }

  private take(queue: number, bodies: unknown[]): boolean {
    const dice = this.random();
    if (dice < this.failing / 2) {
      this.counts.refused++;
      return false;
    }
    for (const body of bodies) {
      const id = `m${this.next++}`;
      this.waiting.set(id, { id, body, attempts: 1, queue });
    }
    this.counts.sent += bodies.length;
    if (queue > 0) this.counts.sentToOthers += bodies.length;
    if (dice < this.failing) {
      this.counts.takenSilently++;
      return false;
    }
    return true;
  }

  /** Messages of one queue for one delivery, out of order: some of those that wait, and some that were acknowledged before. */
  private choose(redeliver: boolean): Message[] {
    const size = 1 + Math.floor(this.random() * (LARGEST_BATCH - 1));
    const waiting = shuffled(this.random, [...this.waiting.values()]);
    const [first = this.settled.length > 0 ? pick(this.random, this.settled) : undefined] = waiting;
    const isOfQueue = ({ queue }: Message) => queue === first?.queue;
    const chosen = waiting.filter(isOfQueue).slice(0, size);
    if (!redeliver) return chosen;
    const again = [...chosen, ...this.settled.filter(isOfQueue)]
      .filter(() => this.random() < 0.05)
      .slice(0, 20);
    this.counts.redelivered += again.length;
    return shuffled(this.random, [...chosen, ...again]).slice(0, LARGEST_BATCH);
  }

  /** Delivers one batch, and keeps the messages that may not have been acknowledged. Returns false if there was nothing to deliver. */
  async deliver(post: (delivery: Delivery) => Promise<Outcome>, chaos: boolean): Promise<boolean> {
    const toDead = this.dead.size > 0 && (this.waiting.size === 0 || this.random() < 0.2);
    const [firstDead] = this.dead.values();
    const messages = toDead
      ? [...this.dead.values()].filter(({ queue }) => queue === firstDead?.queue).slice(0, LARGEST_BATCH)
      : this.choose(chaos);
    const [first] = messages;
    if (!first) return false;
    this.counts.delivered += messages.length;
    const name = queueName(FIRST, first.queue);
    const outcome = await post({ queue: toDead ? `${name}-dead` : name, messages }).catch(() => null);
    // The acknowledgement may get lost on its way as well.
    if (!outcome || (chaos && this.random() < 0.05)) return true;
    for (const id of outcome.acked) this.settle(id);
    for (const id of outcome.retried) this.putBack(id);
    return true;
  }

  private settle(id: string): void {
    const message = this.waiting.get(id) ?? this.dead.get(id);
    if (!message) return;
    this.waiting.delete(id);
    this.dead.delete(id);
    if (this.settled.length < 2_000) this.settled.push(message);
    else this.settled[this.settled.indexOf(pick(this.random, this.settled))] = message;
  }

  private putBack(id: string): void {
    const message = this.waiting.get(id);
    if (!message) return;
    message.attempts++;
    if (message.attempts <= MOST_ATTEMPTS) return;
    this.waiting.delete(id);
    this.dead.set(id, message);
    this.counts.dead++;
  }
}
