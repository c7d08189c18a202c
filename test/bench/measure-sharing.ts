import { pick, seededRandom } from '../helpers/random.ts';
import { makeCredentials } from './credentials.ts';
import { makeEnvelope } from './envelope.ts';
import { httpRequest, sendAtRate } from './load.ts';
import { eventsPerMessage } from './month-price.ts';
import type { Rig } from './rig.ts';
import type { Tenant } from './tenant.ts';

// How many events share a message when requests arrive at random, by their rate and by how long a send takes. Of one isolate.

const SEED = 1;
/** Requests per second. The second is 2 million a day. */
const RATES = [1, 23, 116, 1_160];
const SEND_MS = [5, 30, 100];
const DEVICES = Array.from({ length: 200 }, (_, index) => ({
  id: `dev_${String(index).padStart(32, '0')}`,
  creativeId: null,
  acquiredDay: '2026-01-10',
}));

export const SHARING_STEPS = RATES.length * SEND_MS.length;

export async function measureSharing(
  rig: Rig,
  tenant: Tenant,
  isQuick: boolean,
  step: (what: string) => void,
): Promise<Record<string, number>> {
  const { apiKey, tokens } = await makeCredentials(rig.db, tenant, 'Sharing', DEVICES);
  const random = seededRandom(SEED);
  const url = await rig.url('service-with-slow-queue');
  const headers = { 'Content-Type': 'application/json', 'service-api-key': apiKey };
  const requests = Array.from({ length: 500 }, () =>
    httpRequest(url, '/webhook', headers, JSON.stringify(makeEnvelope(random, pick(random, tokens)))),
  );
  const queue = async (at = '') =>
    (await (await fetch(new URL(`/queue${at}`, url))).json()) as { messages: number };
  await sendAtRate(url, requests, { perSecond: 200, seconds: 2, random });
  const figures: Record<string, number> = {};
  for (const sendMs of SEND_MS) {
    await queue(`/${sendMs}`);
    for (const perSecond of RATES) {
      step(`${perSecond} requests per second, a send of ${sendMs} ms`);
      const seconds = (perSecond === 1 ? 20 : 8) / (isQuick ? 4 : 1);
      const before = await queue();
      const sent = await sendAtRate(url, requests, { perSecond, seconds, random });
      const messages = (await queue()).messages - before.messages;
      const name = `events_per_message_${perSecond}_per_s_send_${sendMs}_ms`;
      figures[name] = sent.requests / messages;
      // For the rate and the time that were reached, which a busy machine makes longer.
      figures[`${name}_by_formula`] = eventsPerMessage(sent.perSecond, sendMs / 1000);
    }
  }
  return figures;
}
