import { expect, it, vi } from 'vitest';
import { deliverAll } from '../../src/destinations/object/deliver.ts';
import { outboundEvent } from './events.ts';

it('looks up the host of events that are sent together once', async () => {
  const setup = {
    kind: 'webhook',
    given: {
      settings: { url: 'https://together.example.com/hook' },
      credentials: {},
      secrets: [],
      isTest: false,
    },
    allowsLocal: false,
  };
  const resolve = vi.fn(async () => ['93.184.216.34']);
  const events = ['1', '2', '3'].map((id) => outboundEvent({ id }));
  const delivered = await deliverAll(events, setup, async () => new Response('ok'), resolve);
  expect(delivered).toMatchObject(events.map(() => ({ outcome: { isDelivered: true } })));
  expect(resolve).toHaveBeenCalledTimes(1);
});
