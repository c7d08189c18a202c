import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import type { DestinationObject } from '#destinations/object';
import type { Fetch } from '#lib/input/fetch';
import type { OutboundEvent } from '#networks/outbound';
import type { SenderSetup } from '../../src/destinations/object/api.ts';
import { deliverAll } from '../../src/destinations/object/deliver.ts';
import { testEventOf } from '../../src/destinations/object/test-event.ts';
import { checkRequest } from './strict-fetch.ts';

type Received = { id: string; url: string; headers: Record<string, string>; body: string };
type Answering = (request: Received) => Response | Promise<Response>;

/** A receiver of what a destination sends, in its own process: see `checkRequest`. `answer` decides what it answers. */
export class Receiver {
  readonly received: Received[] = [];
  answer: Answering = () => new Response('ok');
  /** The addresses of every name. */
  addresses: string[] = [];
  /** How many requests are being answered, and the most at the same time. */
  open = 0;
  most = 0;

  get ids(): string[] {
    return this.received.map(({ id }) => id);
  }

  readonly fetch: Fetch = async (url, init) => {
    checkRequest(url, init);
    const headers = Object.fromEntries(new Headers(init.headers));
    const request = { id: headers['webhook-id'] ?? '', url, headers, body: String(init.body) };
    this.received.push(request);
    this.open++;
    this.most = Math.max(this.most, this.open);
    try {
      return await this.answer(request);
    } finally {
      this.open--;
    }
  };

  readonly deliver = (events: readonly OutboundEvent[], setup: SenderSetup) =>
    deliverAll(events, setup, this.fetch, async () => this.addresses);
}

/** What a test does with the object of a destination. */
export function destinationObject(id: string, receiver: Receiver) {
  const stub = () => env.DESTINATIONS.getByName(id);
  const inside = <Result>(
    work: (object: DestinationObject, state: DurableObjectState) => Result | Promise<Result>,
  ): Promise<Result> =>
    runInDurableObject(stub(), (object: DestinationObject, state) => {
      object.deliver = receiver.deliver;
      object.makeTest = testEventOf;
      return work(object, state);
    });
  return {
    stub,
    inside,
    /** Sends what is due. */
    work: () => inside((object) => object.alarm()),
    kill: () => evictDurableObject(stub()),
  };
}
