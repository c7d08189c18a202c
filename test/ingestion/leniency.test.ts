import { beforeEach, describe, expect, it } from 'vitest';
import type { DeviceEvent } from '#catalogue';
import { envelope } from '../helpers/envelopes.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { eventsIn, fetchToken, startWorker, type TestWorker } from '../helpers/worker.ts';

// No paid event is refused because of a field that only describes it: what is dropped is named in the answer's warnings.

let worker: TestWorker;
let tenant: Tenant;
let token: string;
beforeEach(async () => {
  worker = startWorker();
  tenant = await createTenant();
  token = await fetchToken(worker, tenant, { created_at: '2026-03-01T10:00:00.000Z' });
});

type Warnings = { path: string; message: string }[];

async function send(body: unknown): Promise<{ event: DeviceEvent; warnings: Warnings | undefined }> {
  const answer = await worker.post(tenant, '/webhook', body);
  const { warnings, error }: { warnings?: Warnings; error?: string } = await answer.json();
  expect(error).toBeUndefined();
  expect(answer.status).toBe(200);
  const [message] = worker.queue.take();
  if (!message) throw new Error('no event was sent');
  const [event] = eventsIn(message.body);
  if (!event) throw new Error('the message has no event');
  return { event, warnings };
}

const long = (length: number) => 'x'.repeat(length);

describe('a descriptive field', () => {
  it.each<[string, (t: string) => object, object, Warnings]>([
    [
      'a retention day out of range',
      (t) => envelope.retention(t, { retention_day: -1 }, { retentionDay: '-1', backfillDay: 'two' }),
      { age: 1 },
      [
        { path: 'retention_day', message: 'must be a whole number from 0 to 100000; ignored' },
        { path: 'payload.retentionDay', message: 'must be a whole number of at least 0; ignored' },
        { path: 'payload.backfillDay', message: 'must be a whole number of at least 0; ignored' },
      ],
    ],
    [
      'a negative watch time',
      (t) => envelope.ad(t, {}, { watch_time: -1, reward: 'yes', total_ad_value: 'x' }),
      { value_nanos: 2_000_000 },
      [
        { path: 'payload.watch_time', message: 'must not be negative; ignored' },
        { path: 'payload.reward', message: 'must be true or false; ignored' },
        { path: 'payload.total_ad_value', message: 'must be a number; ignored' },
      ],
    ],
    [
      'an item name that is too long',
      (t) => envelope.purchase(t, {}, { item_name: long(257), total_purchase_value: -5 }),
      { value_nanos: 4_990_000_000, item_id: 'gold' },
      [
        { path: 'payload.item_name', message: 'must be at most 256 characters; ignored' },
        { path: 'payload.total_purchase_value', message: 'must not be negative; ignored' },
      ],
    ],
    [
      'names that group events',
      (t) => envelope.ad(t, {}, { ad_id: {}, source: long(300) }),
      { ad_id: 'unknown', source: 'unknown', value_nanos: 2_000_000 },
      [
        { path: 'payload.ad_id', message: 'must be a string; taken as unknown' },
        { path: 'payload.source', message: 'must be at most 256 characters; taken as unknown' },
      ],
    ],
    [
      'keys that are too long',
      (t) => envelope.purchase(t, { eid: long(513) }, { tr_id: [] }),
      { keys: undefined, value_nanos: 4_990_000_000 },
      [
        { path: 'eid', message: 'must be at most 512 characters; ignored' },
        { path: 'payload.tr_id', message: 'must be a string; ignored' },
      ],
    ],
    [
      'what an ad is worth where it is not known',
      (t) => envelope.ad(t, {}, { value: -1, currency: 'eur' }),
      { value_nanos: 0, currency: 'eur' },
      [{ path: 'payload.value', message: 'must not be negative; revenue counted as 0' }],
    ],
    [
      'an ad without a currency',
      (t) => envelope.ad(t, {}, { value: 0.5, currency: null }),
      { value_nanos: 0, currency: '' },
      [{ path: 'payload.currency', message: 'is required; revenue counted as 0' }],
    ],
    [
      'an ad in a currency that is none',
      (t) => envelope.ad(t, {}, { value: 0.5, currency: 'abc' }),
      { value_nanos: 0, currency: '' },
      [
        {
          path: 'payload.currency',
          message: 'must be a currency code (ISO 4217), such as eur; revenue counted as 0',
        },
      ],
    ],
    [
      'the device',
      (t) => envelope.ad(t, { device_name: 5, os_system: long(257), utc_offset: 'half past', dev: 'maybe' }),
      { device: undefined, test: undefined },
      [
        { path: 'device_name', message: 'must be a string; ignored' },
        { path: 'os_system', message: 'must be at most 256 characters; ignored' },
        { path: 'utc_offset', message: 'must be like -07:00; ignored' },
        { path: 'dev', message: 'must be true or false; ignored' },
      ],
    ],
    [
      'single parameters',
      (t) =>
        envelope.custom(
          t,
          {},
          { params: { good: '1', [long(300)]: 'x', long: long(257), nul: '\0', deep: { x: long(2048) } } },
        ),
      { params: { good: '1' } },
      [
        { path: `payload.params.${long(256)}`, message: 'has a name that is too long or malformed; ignored' },
        { path: 'payload.params.long', message: 'must be at most 256 characters; ignored' },
        { path: 'payload.params.nul', message: 'must not contain a NUL character; ignored' },
        { path: 'payload.params.deep', message: 'must be at most 2048 characters of JSON; ignored' },
      ],
    ],
    [
      'params that are no object',
      (t) => envelope.custom(t, {}, { params: 'x' }),
      { params: undefined },
      [{ path: 'payload.params', message: 'must be an object; ignored' }],
    ],
    [
      'the count of an ad_request',
      (t) => envelope.custom(t, {}, { event_name: 'ad_request', params: { id: 'main', value: 'many' } }),
      { ad_requests: { count: 1, placement: 'main', source: '' } },
      [{ path: 'payload.params.value', message: 'must be a whole number from 0 to 999999; counted as 1' }],
    ],
  ])('is dropped with a warning: %s', async (_, body, expected, warnings) => {
    const sent = await send(body(token));
    for (const [name, value] of Object.entries(expected)) {
      expect(sent.event[name as keyof DeviceEvent], name).toEqual(value);
    }
    expect(sent.warnings).toEqual(warnings);
    expect(sent.event.warnings).toEqual(warnings);
  });

  it('causes no warning if nothing was dropped', async () => {
    const { event, warnings } = await send(envelope.purchase(token));
    expect(warnings).toBeUndefined();
    expect(event.warnings).toBeUndefined();
  });

  it('is warned of at most twenty times, and params beyond a hundred are dropped', async () => {
    const params = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`p${index}`, `${index}`]));
    const { event, warnings } = await send(envelope.custom(token, {}, { params }));
    expect(Object.keys((event as { params: object }).params)).toHaveLength(100);
    expect(warnings).toHaveLength(20);
    expect(warnings?.[0]).toEqual({
      path: 'payload.params.p100',
      message: 'is more than 100 entries; ignored',
    });
  });

  it('is reported for each item of a batch', async () => {
    const answer = await worker.post(tenant, '/webhook/batch', {
      events: [envelope.ad(token), envelope.ad(token, {}, { watch_time: -1 })],
    });
    expect(await answer.json()).toMatchObject({
      accepted: 2,
      results: [
        { index: 0, event_id: expect.any(String) },
        { index: 1, warnings: [{ path: 'payload.watch_time' }] },
      ],
    });
  });
});

describe('alternative forms that clients send', () => {
  it.each<[string, (t: string) => object, object]>([
    [
      'a custom event with short names and nested values',
      (t) =>
        envelope.custom(
          t,
          {},
          {
            event_name: undefined,
            params: undefined,
            en: 'level_up',
            pr: { level: 7, tags: ['a', 'b'], at: { x: 1 }, none: null },
          },
        ),
      { event_name: 'level_up', params: { level: '7', tags: '["a","b"]', at: '{"x":1}' } },
    ],
    [
      'a payload that is JSON within JSON',
      (t) => ({ ...envelope.ad(t), payload: JSON.stringify(envelope.ad(t).payload) }),
      { source: 'banner', value_nanos: 2_000_000 },
    ],
    [
      'names that are numbers',
      (t) => envelope.ad(t, { eid: 12 }, { ad_id: 7 }),
      { ad_id: '7', keys: ['e:12'] },
    ],
    [
      'a status that is canceled',
      (t) => envelope.purchase(t, {}, { status: 'Canceled' }),
      { status: 'failed' },
    ],
    [
      'a status that is cancelled',
      (t) => envelope.purchase(t, {}, { status: 'cancelled' }),
      { status: 'failed' },
    ],
    [
      'a status that is pending',
      (t) => envelope.purchase(t, {}, { status: 'Pending' }),
      { status: 'failed' },
    ],
    [
      'a status that is refunded',
      (t) => envelope.purchase(t, {}, { status: 'refunded', tr_id: 'GPA.1', value: 4.5 }),
      { status: 'refunded', tr_id: 'GPA.1', value_nanos: 4_500_000_000 },
    ],
    [
      'a refund of all of a purchase, without a value',
      (t) => envelope.purchase(t, {}, { status: 'Refunded', tr_id: 'GPA.1', value: null }),
      { status: 'refunded', tr_id: 'GPA.1', value_nanos: 0 },
    ],
    [
      'a refund that was taken back',
      (t) => envelope.purchase(t, {}, { status: 'refund_reversed', tr_id: 'GPA.1', value: undefined }),
      { status: 'refund_reversed', tr_id: 'GPA.1', value_nanos: 0 },
    ],
    [
      'a purchase without a name',
      (t) => envelope.purchase(t, {}, { item_name: null }),
      { item_name: undefined },
    ],
    [
      'the start of a session',
      (t) => ({ ...envelope.retention(t), type: 'session', payload: { a: 'start', sid: 's1', si: 3 } }),
      { type: 'retention', session_id: 's1', session_end: undefined, age: 1 },
    ],
    [
      'the end of a session',
      (t) => ({
        ...envelope.retention(t),
        type: 'session',
        payload: { a: 'end', sid: 's1', si: 3, sd: 61.7, r: 'background' },
      }),
      { type: 'retention', session_id: 's1', session_end: true, session_seconds: 62 },
    ],
    ['a debug build', (t) => envelope.ad(t, { dev: true }), { test: true }],
    ['a release build', (t) => envelope.ad(t, { dev: false }), { test: undefined }],
    [
      'what is kept of the application and the user, and what is not',
      (t) =>
        envelope.ad(t, {
          app_version: '1.2.3',
          sdk_version: '4',
          sdk_type: 'unity',
          wp: { plan: 'pro' },
          bp: { email: 'x' },
          ifv: 'ABC',
          ga: 'DEF',
          lat: false,
        }),
      {
        device: {
          app_version: '1.2.3',
          sdk_version: '4',
          sdk_type: 'unity',
          user_properties: '{"plan":"pro"}',
        },
      },
    ],
    [
      'time separators of another culture',
      (t) => envelope.ad(t, { created_at: '2026-03-02 09.15.30' }),
      { day: '2026-03-02' },
    ],
    [
      'a time with an offset',
      (t) => envelope.ad(t, { created_at: '2026-03-02T00:30:00+02:00' }),
      { day: '2026-03-01' },
    ],
  ])('accepts %s', async (_, body, expected) => {
    const { event, warnings } = await send(body(token));
    expect(warnings).toBeUndefined();
    for (const [name, value] of Object.entries(expected)) {
      expect(event[name as keyof DeviceEvent], name).toEqual(value);
    }
  });

  it('never stores the identity of the installation', async () => {
    const ids = { ifv: 'IFV-SECRET', ga: 'GA-SECRET', asid: 'ASID-SECRET', aid: 'AID-SECRET' };
    const { event } = await send(envelope.ad(token, ids));
    expect(JSON.stringify(event)).not.toContain('SECRET');
  });

  it("stores a person's choices and the ids that are given to be passed on", async () => {
    const choices = { att_status: 'AUTHORIZED', ad_user_data: false, lat: false };
    const ids = { advertising_id: 'CDDA802E-FB9C', vendor_id: 'E621E1F8' };
    const { event, warnings } = await send(envelope.ad(token, { ...choices, ...ids }));
    expect(warnings).toBeUndefined();
    expect(event.device).toEqual({ att_status: 'authorized', ad_user_data: 'false', ...ids });
  });

  it.each([{ lat: true }, { att_status: 'denied' }, { att_status: 'not_determined' }])(
    'stores no such id of a person who limits tracking: %o',
    async (choice) => {
      const ids = { advertising_id: 'ID-SECRET', vendor_id: 'VENDOR-SECRET' };
      const { event } = await send(envelope.ad(token, { ...choice, ...ids }));
      expect(event.device).toEqual(
        Object.fromEntries(Object.entries(choice).map(([name, one]) => [name, `${one}`])),
      );
    },
  );

  it('names malformed choices', async () => {
    const { event, warnings } = await send(
      envelope.ad(token, {
        att_status: 'maybe',
        ad_user_data: 'perhaps',
        lat: 'granted',
        advertising_id: 'x'.repeat(65),
      }),
    );
    expect(event.device).toEqual({ att_status: 'unknown', ad_user_data: 'unknown', lat: 'unknown' });
    expect(warnings?.map(({ path }) => path).sort()).toEqual([
      'ad_user_data',
      'advertising_id',
      'att_status',
      'lat',
    ]);
  });

  it('dates an event with a year of another calendar now, with a warning', async () => {
    const { event } = await send(envelope.ad(token, { created_at: '1448-05-30 09:15:30' }));
    expect(event.clock_ahead).toBe(true);
    expect(event.occurred_at).toBe(event.received_at);
  });

  it('keeps the day that was sent for the keys of an event from a fast clock', async () => {
    const { event } = await send(envelope.ad(token, { created_at: '2090-05-30 09:15:30', event_id: 'one' }));
    expect(event.clock_ahead).toBe(true);
    expect(event.key_day).toBe(Date.parse('2090-05-30') / 86_400_000);
  });

  it('keeps parameters named like prototype properties', async () => {
    const body = JSON.parse(
      JSON.stringify(envelope.custom(token)).replace(
        '"params":{',
        '"params":{"constructor":"c","__proto__":"p",',
      ),
    );
    const { event } = await send(body);
    expect((event as { params: object }).params).toMatchObject({ constructor: 'c', value: '3' });
  });
});

describe('a repeat', () => {
  const impressionsAndPurchases = async () => {
    await worker.deliver(worker.queue.take());
    const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-01-01&to=2026-12-31`;
    const { totals }: { totals: Record<string, number> } = await (await worker.team(tenant, path)).json();
    return { purchases: totals.purchases, failed: totals.failed_purchases, events: totals.events };
  };
  const post = (body: unknown, headers: HeadersInit = {}) => worker.post(tenant, '/webhook', body, headers);
  const purchase = (more: object, payload: object) => envelope.purchase(token, { ...more }, { ...payload });

  it('is recognised by any of its keys, such as a purchase under a new eid', async () => {
    await post(purchase({ eid: '1', dk: 'T' }, { tr_id: 'T' }));
    await post(purchase({ eid: '2', dk: 'T' }, { tr_id: 'T' }));
    await post(purchase({ eid: '2' }, {}));
    await post(purchase({ eid: '3', created_at: '2026-08-01 10:00:00' }, { tr_id: 'T' }));
    expect(await impressionsAndPurchases()).toMatchObject({ purchases: 1, failed: 0 });
  });

  it('does not include a purchase that first failed and then succeeded under one key', async () => {
    await post(purchase({ dk: 'D' }, { status: 'failed' }));
    await post(purchase({ dk: 'D' }, { status: 'completed' }));
    await post(purchase({ dk: 'D' }, { status: 'success' }));
    await post(purchase({ dk: 'D' }, { status: 'pending' }));
    expect(await impressionsAndPurchases()).toMatchObject({ purchases: 1, failed: 1 });
  });

  it('is recognised on the day of the event and the days next to it only', async () => {
    for (const created_at of [
      '2026-03-02 23:59:00',
      '2026-03-03 00:01:00',
      '2026-03-01 10:00:00',
      '2026-03-05 10:00:00',
    ]) {
      await post(envelope.custom(token, { dk: 'daily', created_at }));
    }
    expect(await impressionsAndPurchases()).toMatchObject({ events: 2 });
  });
});
