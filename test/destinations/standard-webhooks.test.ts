import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { webhook } from '../../src/destinations/webhook.ts';
import { newWebhookSecret } from '../../src/destinations/webhook-signature.ts';
import { outboundEvent, requestOf } from './events.ts';

// The official library is the oracle of the signature.

it('is accepted by the official library, during a rotation with either secret', async () => {
  const [newest, former, other] = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()];
  const setup = {
    settings: { url: 'https://example.com/hook' },
    credentials: {},
    secrets: [newest, former],
    isTest: false,
  };
  const { headers, body } = await requestOf(webhook.prepare(outboundEvent(), setup, Date.now()));
  for (const secret of [newest, former]) {
    expect(new Webhook(secret).verify(body ?? '', headers)).toEqual(JSON.parse(body ?? ''));
  }
  expect(() => new Webhook(other).verify(body ?? '', headers)).toThrow('No matching signature found');
  expect(() => new Webhook(newest).verify(`${body} `, headers)).toThrow('No matching signature found');
  const later = { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) };
  expect(() => new Webhook(newest).verify(body ?? '', later)).toThrow('No matching signature found');
});
