import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { counterOf } from '#counting';
import { deliver } from '../helpers/counted-history.ts';
import { envelope } from '../helpers/envelopes.ts';
import { parkedOf } from '../helpers/parked.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { eventsIn, fetchToken, startWorker } from '../helpers/worker.ts';
import { expectChecked, sampleEvents } from './fuzz-events.ts';

// Events are validated when they are received. The consumer validates them again unless the same version of the Worker sent them.

const version = (id: string) => ({ CF_VERSION_METADATA: { id, tag: '', timestamp: '' } });
const OURS: Env = { ...env, ...version('ours') };

let tenant: Tenant;
let token: string;
beforeEach(async () => {
  tenant = await createTenant();
  token = await fetchToken(startWorker(), tenant);
});

/** What a Worker of this version puts on the queue for an event. */
async function sentBy(id: string, body: unknown = envelope.ad(token)): Promise<string> {
  const worker = startWorker(version(id));
  expect((await worker.post(tenant, '/webhook', body)).status).toBe(200);
  const [message] = worker.queue.take();
  return String(message?.body);
}

const head = (body: string) => JSON.parse(body.split('\n')[0] ?? '');
const logged = async () => (await counterOf(env, tenant.application.id, 0).health()).hotEvents;
const reasons = async () => (await parkedOf(tenant.application.id)).map(({ reason }) => reason);

/** An amount that is no longer valid, in a message that is otherwise unchanged. */
function broken(body: string): string {
  const changed = body.replace('"value_nanos":2000000', '"value_nanos":-5');
  expect(changed).not.toBe(body);
  return changed;
}

it('sends only events that the consumer would accept unchanged', async () => {
  const worker = startWorker();
  const texts = sampleEvents(token, 1_500, 5).map(({ text }) => text);
  for (let start = 0; start < texts.length; start += 100) {
    const body = `{"events":[${texts.slice(start, start + 100).join(',')}]}`;
    const headers = { 'service-api-key': tenant.apiKey, 'Content-Type': 'application/json' };
    expect((await worker.request('/webhook/batch', { method: 'POST', headers, body })).status).toBe(200);
  }
  const messages = worker.queue.take();
  expect(messages.flatMap(({ body }) => eventsIn(body)).length).toBeGreaterThan(500);
  expectChecked(messages);
});

describe('a message as text', () => {
  it('names its application and the version that validated it', async () => {
    expect(head(await sentBy('ours'))).toEqual({
      v: 1,
      application_id: tenant.application.id,
      checked_by: 'ours',
    });
    expect(head(await sentBy(''))).toEqual({ v: 1, application_id: tenant.application.id });
  });

  it('of the same version is not validated again', async () => {
    const before = await logged();
    // A Worker never sends such an event. Taking it shows that it was not looked at.
    await deliver([{ id: 'm', body: broken(await sentBy('ours')) }], OURS);
    expect(await logged()).toBe(before + 1);
    expect(await reasons()).toEqual([]);
  });

  it.each([
    ['of another version', 'theirs', OURS],
    ['without a version', '', OURS],
    ['without a version, for a consumer without one', '', { ...env, ...version('') }],
    ['for a consumer without the binding', 'ours', { ...env, CF_VERSION_METADATA: undefined }],
  ])('%s is validated, and what is not valid is parked', async (_, sender, bindings) => {
    const before = await logged();
    const [good, bad] = [await sentBy(sender), broken(await sentBy(sender))];
    const messages = [good, bad].map((body, index) => ({ id: `${crypto.randomUUID()}${index}`, body }));
    const { retryMessages } = await deliver(messages, bindings as Env);
    expect(retryMessages).toEqual([]);
    expect(await logged()).toBe(before + 1);
    expect(await reasons()).toEqual([expect.stringMatching(/^not an event of this version: value_nanos /)]);
    const [row] = await parkedOf(tenant.application.id);
    expect(JSON.parse(row?.body ?? '')).toEqual({
      v: 1,
      events: [expect.objectContaining({ application_id: tenant.application.id, value_nanos: -5 })],
    });
  });

  it('whose version says an empty text was checked is validated', async () => {
    const body = broken(await sentBy('ours')).replace('"checked_by":"ours"', '"checked_by":""');
    await deliver([{ id: crypto.randomUUID(), body }], { ...env, ...version('') });
    expect(await reasons()).toHaveLength(1);
  });

  it('is logged as it was sent, whether it is validated again or not', async () => {
    for (const bindings of [OURS, env]) {
      const body = await sentBy(
        'ours',
        envelope.purchase(token, { eid: crypto.randomUUID() }, { tr_id: 't' }),
      );
      const [sent] = eventsIn(body);
      await deliver([{ id: crypto.randomUUID(), body }], bindings);
      const { events } = await counterOf(env, tenant.application.id, 0).readLog(
        { eventId: sent?.id ?? '' },
        null,
        1,
      );
      expect(events).toEqual([expect.objectContaining(sent ?? {})]);
    }
  });

  it.each<[string, (body: string) => string, RegExp]>([
    ['cut off', (body) => body.slice(0, -10), /^not a message of this version/],
    [
      'of a later form',
      (body) => body.replace('"v":1', '"v":3'),
      /^A store has a newer format: a queue message has format 3, /,
    ],
    ['without events', (body) => body.split('\n')[0] ?? '', /must have an event or a click/],
  ])('that is %s is parked whole', async (_, change, reason) => {
    const id = crypto.randomUUID();
    const body = change(await sentBy('ours'));
    const { explicitAcks } = await deliver([{ id, body }], OURS);
    expect(explicitAcks).toEqual([id]);
    const rows = [...(await parkedOf(tenant.application.id)), ...(await parkedOf(''))];
    const own = rows.filter((row) => reason.test(row.reason));
    expect(own.length).toBeGreaterThan(0);
  });
});

it('validates events that come as an object, whatever it says', async () => {
  const [event] = eventsIn(broken(await sentBy('ours')));
  await deliver([{ id: 'object', body: { v: 1, checked_by: 'ours', events: [event] } }], OURS);
  expect(await reasons()).toEqual([expect.stringMatching(/^not an event of this version: value_nanos /)]);
});

it.each([
  { text: 'x'.repeat(2_000), of: 'characters' },
  { text: '€'.repeat(700), of: 'bytes' },
])(
  'rejects an event of a batch with more $of than a message can hold, and takes the others',
  async ({ text }) => {
    const worker = startWorker();
    const params = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`${index}`, { text }]));
    const events = [envelope.custom(token, {}, { params }), envelope.ad(token)];
    const answer = await worker.post(tenant, '/webhook/batch', { events });
    expect(await answer.json()).toMatchObject({
      accepted: 1,
      rejected: 1,
      results: [{ index: 0, error: 'The event is larger than 120,000 bytes' }, { index: 1 }],
    });
    expect(worker.queue.take()).toHaveLength(1);
  },
);
