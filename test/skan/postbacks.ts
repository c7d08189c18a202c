import { env } from 'cloudflare:workers';
import type { Postback } from '../../src/skan/postback.ts';
import { storePostback } from '../../src/skan/receive.ts';

/** A postback as it is after its signature was verified: only Apple can sign one. */
export const makePostback = (more: Partial<Postback> = {}): Postback => ({
  framework: 'skadnetwork',
  version: '4.0',
  transactionId: crypto.randomUUID(),
  sequence: 0,
  appId: '525463029',
  network: 'com.example',
  sourceIdentifier: '5239',
  sourceApp: null,
  fidelity: 1,
  conversion: 'download',
  didWin: true,
  test: false,
  fine: null,
  coarse: null,
  country: null,
  interaction: null,
  ...more,
});

export const store = (postback: Postback, at = Date.now()) => storePostback(env.DB, postback, at);
