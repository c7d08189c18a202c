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

const SECRET = `p!a's(s)*w"o\\rd`;
const toReceiver = (fetcher: (url: string, init: RequestInit) => Promise<Response>) =>
  deliverAll(
    [outboundEvent()],
    {
      kind: 'postback',
      given: {
        settings: {
          method: 'POST',
          url: 'https://echo.example.com/?key={secret}',
          headers: 'X-Key: {secret}\nContent-Type: application/x-www-form-urlencoded',
          body: 'key={secret}',
        },
        credentials: { secret: SECRET },
        secrets: [],
        isTest: false,
      },
      allowsLocal: false,
    },
    ((url: string, init: RequestInit) => fetcher(url, init)) as never,
    async () => ['93.184.216.34'],
  );

it.each([200, 400])('logs no secret that a receiver quotes with %i', async (status) => {
  const [delivered] = await toReceiver(async (url, { headers, body }) =>
    Response.json({ url, headers, body, at: new URL(url).searchParams.get('key') }, { status }),
  );
  const text = JSON.stringify(delivered);
  expect(text).toContain('***');
  expect(text).not.toMatch(/a(?:'|%27)s|p(?:!|%21)a|w(?:\\*"|%22)o/);
});

it('logs no secret that an error of the connection quotes', async () => {
  const [delivered] = await toReceiver(async (url) => {
    throw new TypeError(`Cannot load ${url}`);
  });
  expect(JSON.stringify(delivered)).toContain('Cannot load https://echo.example.com/?key=***');
});
