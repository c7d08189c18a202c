import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LoggedEvent } from '#catalogue';

import { envelope, withField } from '../helpers/envelopes.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { eventsIn, fetchToken, startWorker, type TestWorker } from '../helpers/worker.ts';

let worker: TestWorker;
let tenant: Tenant;
let token: string;
beforeAll(async () => {
  tenant = await createTenant({ timezone: 'Europe/Berlin' });
  token = await fetchToken(startWorker(), tenant, { created_at: '2026-03-01T10:00:00.000Z' });
});
beforeEach(() => {
  worker = startWorker();
});

type DeviceEvent = Exclude<LoggedEvent, { type: 'click' | 'impression' | 'store' }>;

const sentEvents = () => worker.queue.take().flatMap(({ body }) => eventsIn(body));

async function taken(body: unknown, headers: HeadersInit = {}): Promise<DeviceEvent> {
  const answer = await worker.post(tenant, '/webhook', body, headers);
  const sent: { event_id: string } = await answer.json();
  expect(sent).toEqual({
    success: true,
    message: 'Webhook Received',
    event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
  });
  const [event, ...more] = sentEvents();
  expect(more).toEqual([]);
  if (!event) throw new Error('nothing was sent to the queue');
  expect(event.id).toBe(sent.event_id);
  return event;
}

describe('POST /webhook', () => {
  it('accepts each event type, with days in the time zone of the application and money in nanos', async () => {
    const late = { created_at: '2026-03-02 23:30:00' };
    expect(await taken(envelope.retention(token, late, { session_id: 's1' }))).toMatchObject({
      type: 'retention',
      application_id: tenant.application.id,
      creative_id: null,
      acquired_day: '2026-03-01',
      day: '2026-03-03',
      age: 1,
      session_id: 's1',
      backfill_day: 0,
    });
    expect(await taken(envelope.purchase(token, { created_at: '2026-03-02T10:00:00.500Z' }))).toMatchObject({
      type: 'custom.purchase',
      value_nanos: 4_990_000_000,
      currency: 'usd',
      status: 'completed',
      occurred_at: Date.UTC(2026, 2, 2, 10, 0, 0, 500),
    });
    expect(await taken(envelope.ad(token))).toMatchObject({
      type: 'custom.ad',
      value_nanos: 2_000_000,
      media_source: 'admob',
    });
    expect(await taken(envelope.custom(token))).toMatchObject({
      type: 'custom',
      event_name: 'level_1',
      params: { value: '3' },
    });
  });

  it.each<[string, (token: string) => unknown, Record<string, unknown>]>([
    [
      'retention_day as a number',
      (t) => envelope.retention(t, { retention_day: 2 }, { retentionDay: undefined }),
      { age: 2 },
    ],
    [
      'retention_day as text',
      (t) => envelope.retention(t, { retention_day: '2' }, { retentionDay: undefined }),
      { age: 2 },
    ],
    [
      'retention_day ""',
      (t) => envelope.retention(t, { retention_day: '' }, { retentionDay: undefined }),
      { age: 1 },
    ],
    [
      'retention_day null',
      (t) => envelope.retention(t, { retention_day: null }, { retentionDay: undefined }),
      { age: 1 },
    ],
    [
      'a payload day before the envelope day',
      (t) => envelope.retention(t, { retention_day: 1 }, { retentionDay: 0 }),
      { age: 0 },
    ],
    ['a reported day that is far off', (t) => envelope.retention(t, {}, { retentionDay: '9' }), { age: 1 }],
    ['an empty retention payload', (t) => ({ ...envelope.retention(t), payload: {} }), { age: 1 }],
    [
      'utc_offset like -07:00',
      (t) => envelope.ad(t, { utc_offset: '-07:00' }),
      { device: { utc_offset: '-07:00' } },
    ],
    [
      'utc_offset as decimal hours',
      (t) => envelope.ad(t, { utc_offset: -3.5 }),
      { device: { utc_offset: '-3.5' } },
    ],
    [
      'utc_offset as decimal text',
      (t) => envelope.ad(t, { utc_offset: '5.75' }),
      { device: { utc_offset: '5.75' } },
    ],
    ['currency in upper case', (t) => envelope.ad(t, {}, { currency: 'EUR' }), { currency: 'eur' }],
    [
      'status in another case',
      (t) => envelope.purchase(t, {}, { status: 'Completed' }),
      { status: 'completed' },
    ],
    [
      'a source that is not listed',
      (t) => envelope.ad(t, {}, { source: 'Playable', media_source: 'MintegraL' }),
      { source: 'playable', media_source: 'mintegral' },
    ],
    [
      'null for optional fields',
      (t) =>
        envelope.ad(
          t,
          { device_name: null },
          { name: null, media_source: null, reward: null, watch_time: null },
        ),
      { source: 'banner' },
    ],
    [
      'params with other scalars',
      (t) => envelope.custom(t, {}, { params: { value: 3, id: true, key: null } }),
      { params: { value: '3', id: 'true' } },
    ],
    ['params absent', (t) => envelope.custom(t, {}, { params: undefined }), { event_name: 'level_1' }],
    [
      'ad requests',
      (t) =>
        envelope.custom(
          t,
          {},
          { event_name: 'ad_request', params: { value: '4', id: 'main', key: 'Banner' } },
        ),
      { ad_requests: { count: 4, placement: 'main', source: 'banner' } },
    ],
    [
      'one ad request',
      (t) => envelope.custom(t, {}, { event_name: 'ad_request', params: {} }),
      { ad_requests: { count: 1, placement: '', source: '' } },
    ],
    ['a time of 2010', (t) => envelope.ad(t, { created_at: '2010-01-01 00:00:00' }), { day: '2010-01-01' }],
    ['unknown fields', (t) => ({ ...envelope.ad(t), sdk: { version: 3 } }), { source: 'banner' }],
    [
      'a lone surrogate',
      (t) => envelope.custom(t, {}, { event_name: 'a\ud800b' }),
      { event_name: 'a\ufffdb' },
    ],
    ['a value of 0', (t) => envelope.ad(t, {}, { value: 0 }), { value_nanos: 0 }],
  ])('accepts %s', async (_, body, expected) => {
    expect(await taken(body(token))).toMatchObject(expected);
  });

  it('replaces a future time by ours', async () => {
    const created_at = '2399-01-01 00:00:00';
    expect((await worker.post(tenant, '/webhook', envelope.ad(token, { created_at }))).status).toBe(200);
    const [event] = sentEvents();
    if (!event) throw new Error('no event was queued');
    expect(event.clock_ahead).toBe(true);
    expect(event.occurred_at).toBe(event.received_at);
  });

  it.each([
    ['2399-01-01 00:00:00', 'is in the future; dated when received'],
    ['25-01-05 09:15:30', 'has a year that cannot be meant; dated when received'],
  ])('answers with a warning to an event of %s, alone and in a batch', async (created_at, message) => {
    const event = envelope.ad(token, { created_at });
    const warnings = [{ path: 'created_at', message }];
    const alone = await worker.post(tenant, '/webhook', event);
    expect([alone.status, await alone.json()]).toEqual([200, expect.objectContaining({ warnings })]);
    const batch = await worker.post(tenant, '/webhook/batch', { events: [event, envelope.ad(token)] });
    const { results }: { results: { warnings?: unknown }[] } = await batch.json();
    expect(results.map((result) => result.warnings)).toEqual([warnings, undefined]);
  });

  it.each([
    ['4.99', 4_990_000_000],
    [' 0.0125 ', 12_500_000],
    ['1e-3', 1_000_000],
    ['1E-05', 10_000],
    ['7', 7_000_000_000],
  ])('takes the value %j as a number', async (value, value_nanos) => {
    expect(await taken(envelope.purchase(token, {}, { value }))).toMatchObject({ value_nanos });
    const ad = envelope.ad(token, {}, { value, total_ad_value: '12.5', watch_time: '30' });
    const described = { value_nanos, total_ad_value: 12.5, watch_time: 30 };
    const event = await taken(ad);
    expect(event).toMatchObject(described);
    expect(event.warnings).toBeUndefined();
  });

  it.each(['4,99', '$4.99', '0x10', 'Infinity', 'NaN', '1_000', '.5.', '--1', '-4.99'])(
    'refuses the value %j',
    async (value) => {
      const answer = await worker.post(tenant, '/webhook', envelope.purchase(token, {}, { value }));
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ details: [{ path: 'payload.value' }] });
    },
  );

  const ad = () => envelope.ad(token);
  const purchase = () => envelope.purchase(token);
  const custom = () => envelope.custom(token);
  it.each<[string, unknown, () => unknown]>([
    ['type', undefined, ad],
    ['type', 'custom.refund', ad],
    ['type', 7, ad],
    ['created_at', undefined, ad],
    ['created_at', '2026-02-30 10:00:00', ad],
    ['created_at', 5, ad],
    ['creativeToken', undefined, ad],
    ['creativeToken', '', ad],
    ['creativeToken', 'bin', ad],
    ['creativeToken', 'x'.repeat(300), ad],
    ['creativeToken', 12, ad],
    ['payload', undefined, ad],
    ['payload', [], ad],
    ['payload', 'x', custom],
    ['payload.item_id', undefined, purchase],
    ['payload.value', undefined, purchase],
    ['payload.value', '4,99', purchase],
    ['payload.value', -0.01, purchase],
    ['payload.value', 1e10, purchase],
    ['payload.currency', 'us', purchase],
    ['payload.currency', 'xyz', purchase],
    ['payload.currency', undefined, purchase],
    ['payload.status', 'reversed', purchase],
    ['payload.status', undefined, purchase],
    ['payload.value', undefined, ad],
    ['payload.currency', undefined, ad],
    ['payload.item_id', '', purchase],
    ['payload.currency', null, purchase],
    ['payload', '[1]', ad],
    ['payload', '{', ad],
    ['created_at', '2026-03-01T10:00:00', ad],
    ['payload.ad_id', undefined, ad],
    ['payload.source', null, ad],
    ['payload.event_name', undefined, custom],
    ['payload.event_name', 'a\u0000', custom],
  ])('names %s when it is %j', async (path, value, body) => {
    const answer = await worker.post(tenant, '/webhook', withField(body(), path, value));
    expect(answer.status).toBe(400);
    const refusal: { details: { path: string; message: string }[] } = await answer.json();
    const [fault] = refusal.details;
    expect(refusal).toEqual({
      success: false,
      error: `${fault?.path} ${fault?.message}`,
      details: [{ path, message: expect.stringMatching(/^\w/) }],
    });
    expect(worker.queue.messages).toEqual([]);
  });

  it('names every fault of a body at once', async () => {
    const body = withField(withField(ad(), 'created_at', 'x'), 'payload', { source: '' });
    const answer = await worker.post(tenant, '/webhook', body);
    const { details }: { details: { path: string }[] } = await answer.json();
    const paths = ['created_at', 'payload.ad_id', 'payload.source', 'payload.value', 'payload.currency'];
    expect(details.map((fault) => fault.path)).toEqual(paths);
  });

  it('answers 403 to the token of another application', async () => {
    const other = await createTenant();
    const answer = await worker.post(other, '/webhook', ad());
    expect(answer.status).toBe(403);
    expect(await answer.json()).toEqual({ success: false, error: 'Access denied for this resource' });
  });

  it.each<[string, HeadersInit, () => unknown, string[] | undefined]>([
    [
      'the header',
      { 'Idempotency-Key': 'k' },
      () => envelope.purchase(token, { eid: 'e' }, { tr_id: 't' }),
      ['success:h:k', 'success:e:e', 'success:t:t'],
    ],
    ['event_id', {}, () => envelope.ad(token, { event_id: 'i', dk: 'd' }), ['e:i', 'd:d']],
    ['eid', {}, () => envelope.ad(token, { eid: 'e', dedupe_key: 'd' }), ['e:e', 'd:d']],
    [
      'dedupe_key',
      {},
      () => envelope.purchase(token, { dedupe_key: 'd' }, { tr_id: 't' }),
      ['success:d:d', 'success:t:t'],
    ],
    ['dk', {}, () => envelope.custom(token, { dk: 'd' }), ['d:d']],
    [
      'tr_id of a success',
      {},
      () => envelope.purchase(token, {}, { tr_id: 't', status: 'success' }),
      ['success:t:t'],
    ],
    [
      'tr_id of a failure',
      {},
      () => envelope.purchase(token, {}, { tr_id: 't', status: 'failed' }),
      ['failed:t:t'],
    ],
    ['nothing', {}, () => envelope.ad(token), undefined],
  ])('recognises a duplicate by %s', async (_, headers, body, keys) => {
    expect((await taken(body(), headers)).keys).toEqual(keys);
  });

  it('refuses an Idempotency-Key of more than 512 characters, and names it', async () => {
    const answer = await worker.post(tenant, '/webhook', ad(), { 'Idempotency-Key': 'k'.repeat(513) });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ details: [{ path: 'Idempotency-Key' }] });
  });

  it('retries a queue that fails twice, and answers 500 with Retry-After if it keeps failing', async () => {
    worker.queue.failures = 2;
    await taken(ad());
    worker.queue.failures = 3;
    const answer = await worker.post(tenant, '/webhook', ad());
    expect(answer.status).toBe(500);
    expect(answer.headers.get('Retry-After')).toBe('1');
    expect(await answer.json()).toEqual({ success: false, error: 'Unexpected error' });
    expect(worker.queue.messages).toEqual([]);
  });
});

describe('POST /webhook/batch', () => {
  const batch = (events: unknown[], headers: HeadersInit = {}) =>
    worker.post(tenant, '/webhook/batch', { events }, headers);

  it('accepts the valid items and names the faults of the others', async () => {
    const foreign = await fetchToken(worker, await createTenant());
    const answer = await batch([
      ad(),
      withField(purchase(), 'payload.value', -1),
      5,
      envelope.ad(foreign),
      envelope.custom(token),
    ]);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      success: true,
      accepted: 2,
      rejected: 3,
      results: [
        { index: 0, event_id: expect.stringMatching(/^evt_/) },
        {
          index: 1,
          error: 'payload.value must not be negative',
          details: [{ path: 'payload.value', message: 'must not be negative' }],
        },
        {
          index: 2,
          error: 'The event must be a JSON object',
          details: [{ path: '', message: 'The event must be a JSON object' }],
        },
        { index: 3, error: 'Access denied for this resource', details: [] },
        { index: 4, event_id: expect.stringMatching(/^evt_/) },
      ],
    });
    expect(sentEvents()).toHaveLength(2);
  });

  const ad = () => envelope.ad(token);
  const purchase = () => envelope.purchase(token);

  it.each([
    ['no events', {}],
    ['an empty list', { events: [] }],
    ['too many', { events: Array.from({ length: 501 }, () => ({})) }],
    ['no list', { events: 'x' }],
  ])('refuses the whole batch with 400 for %s', async (_, body) => {
    const answer = await worker.post(tenant, '/webhook/batch', body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ details: [{ path: 'events' }] });
  });

  it('answers 200 to a batch without a valid item', async () => {
    const answer = await batch([{}]);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ accepted: 0, rejected: 1 });
    expect(worker.queue.messages).toEqual([]);
  });

  it('sends 500 events in few messages, each within the limits of the queue', async () => {
    const events = Array.from({ length: 500 }, (_, index) =>
      envelope.custom(token, {}, { params: { id: `${index}`, value: 'x'.repeat(200) } }),
    );
    expect((await batch(events)).status).toBe(200);
    const messages = worker.queue.take();
    expect(messages.length).toBeLessThan(10);
    for (const { body } of messages)
      expect(new TextEncoder().encode(String(body)).length).toBeLessThan(128_000);
    const params = messages.flatMap(({ body }) =>
      eventsIn<{ params: { id: string } }>(body).map(({ params }) => params.id),
    );
    expect(params).toEqual(events.map((_, index) => `${index}`));
  });

  it('identifies items without a key by the header of the batch and their content', async () => {
    const headers = { 'Idempotency-Key': 'b1' };
    const mended = envelope.custom(token, {}, { event_name: 'mended' });
    await batch([ad(), envelope.ad(token, { eid: 'mine' }), withField(mended, 'created_at', 'x')], headers);
    const [first, own] = sentEvents().map((event) => event.keys);
    expect(first).toHaveLength(1);
    expect(own).toEqual(['e:mine']);
    worker.queue.take();
    // The bad item mended, the others as they were, in another order.
    await batch([mended, ad()], headers);
    const [other, again] = sentEvents().map((event) => event.keys);
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
    worker.queue.take();
    await batch([ad()], { 'Idempotency-Key': 'b2' });
    expect(sentEvents()[0]?.keys).not.toEqual(first);
  });

  it('counts equal items of one batch separately, and recognises each when the batch is repeated', async () => {
    const keysOf = async () => {
      worker.queue.take();
      await batch([ad(), ad()], { 'Idempotency-Key': 'twins' });
      return sentEvents().map((event) => event.keys?.[0]);
    };
    const keys = await keysOf();
    expect(new Set(keys).size).toBe(2);
    expect(await keysOf()).toEqual(keys);
  });

  it('answers 500 when the queue fails', async () => {
    worker.queue.failures = 100;
    const answer = await batch([ad()]);
    expect(answer.status).toBe(500);
    expect(answer.headers.get('Retry-After')).toBe('1');
  });

  it('rejects only the items that the queue did not accept', async () => {
    const large = () =>
      envelope.custom(
        token,
        {},
        {
          params: Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`${index}`, 'x'.repeat(250)])),
        },
      );
    // Some 24 KB each: four a message, eight a call. Of two calls at once, one fails all of its three tries.
    worker.queue.failOnly = (body) => String(body).includes('"last"');
    const answer = await batch([
      ...Array.from({ length: 12 }, large),
      envelope.custom(token, {}, { event_name: 'last' }),
    ]);
    const body: { accepted: number; rejected: number; results: { error?: string }[] } = await answer.json();
    expect(answer.status).toBe(200);
    expect(body.accepted + body.rejected).toBe(13);
    expect(body.accepted).toBeGreaterThan(0);
    expect(body.results.at(-1)?.error).toBe('Temporarily unavailable; retry this event');
    expect(sentEvents()).toHaveLength(body.accepted);
  });
});
