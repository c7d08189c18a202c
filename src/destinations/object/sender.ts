import { WorkerEntrypoint } from 'cloudflare:workers';
import { outboundFetch } from '#env';
import type { OutboundEvent } from '#networks/outbound';
import type { Delivered, SenderSetup } from './api.ts';
import type { Setup } from './setup.ts';

/**
 * Prepares and sends events for the objects of destinations. Each call is an invocation of its own, because an invocation, and with it a whole
 * object, has at most six connections that wait for an answer. What it needs is loaded on the first call: most isolates send nothing.
 */
export class OutboundSender extends WorkerEntrypoint<Env> {
  /** What became of each event, in order. Does not throw for what a receiver does. */
  async deliver(events: readonly OutboundEvent[], setup: SenderSetup): Promise<Delivered[]> {
    const { deliverAll } = await import('./deliver.ts');
    return deliverAll(events, setup, outboundFetch(this.env));
  }

  /** The event of a test: see `testEventOf`. */
  async makeTest(setup: Setup, now: number): Promise<OutboundEvent> {
    const { testEventOf } = await import('./test-event.ts');
    return testEventOf(setup, now);
  }
}
