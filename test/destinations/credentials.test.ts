import { expect, it } from 'vitest';
import { deliverAll } from '../../src/destinations/object/deliver.ts';
import { outboundEvent } from './events.ts';

it('keeps no credential that a network quotes in its answer', async () => {
  const setup = {
    kind: 'meta',
    given: {
      settings: { dataset_id: '1' },
      credentials: { access_token: 'EAAB-secret' },
      secrets: [],
      isTest: false,
    },
    allowsLocal: false,
  };
  const error = { code: 190, message: 'Malformed access token EAAB-secret' };
  const [delivered] = await deliverAll([outboundEvent()], setup, async () =>
    Response.json({ error }, { status: 400 }),
  );
  expect(delivered).toMatchObject({
    outcome: { reason: 'Meta: Malformed access token *** (190)', retry: false },
  });
  expect(JSON.stringify(delivered)).not.toContain('EAAB-secret');
});
