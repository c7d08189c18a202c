import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import Papa from 'papaparse';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { counterOf } from '#counting';
import { newId } from '#lib/ids';
import { RunningDevice } from '../../src/rollup/device/device-state.ts';
import { exportAll } from '../helpers/backup.ts';
import { ANDROID_AGENT, follow, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { settleAll } from '../helpers/settle.ts';
import { claimsOf, counterRows } from '../helpers/stored.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { eventsIn, fetchToken, fieldsOf, startWorker } from '../helpers/worker.ts';

const worker = startWorker();

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

type Event = Record<string, unknown> & { event_id: string };
type Page = { data: Event[]; next_cursor: string | null };

const purchase = (
  token: string,
  more: Record<string, unknown> = {},
  payload: Record<string, unknown> = {},
) => ({
  type: 'custom.purchase',
  created_at: '2026-03-02 10:00:00',
  creativeToken: token,
  ...more,
  payload: {
    item_id: '=gems',
    item_name: 'Gems',
    value: 4.99,
    currency: 'usd',
    status: 'success',
    ...payload,
  },
});

async function send(tenant: Tenant, body: unknown): Promise<string> {
  const answer = await worker.post(tenant, '/webhook', body);
  const { event_id }: { event_id: string } = await answer.json();
  return event_id;
}

const deliver = async () => worker.deliver(worker.queue.take());

async function list(tenant: Tenant, query = ''): Promise<Page> {
  const answer = await worker.team(tenant, `/v1/events?application_id=${tenant.application.id}${query}`);
  expect(answer.status).toBe(200);
  return answer.json();
}

async function status(tenant: Tenant, id: string) {
  const answer = await worker.team(tenant, `/v1/events/${id}`);
  return { code: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

async function revenue(tenant: Tenant): Promise<unknown> {
  const answer = await worker.team(
    tenant,
    `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-03`,
  );
  return ((await answer.json()) as { totals: Record<string, unknown> }).totals.revenue;
}

describe('GET /v1/events', () => {
  it('lists the newest first, page by page, each once', async () => {
    const tenant = await createTenant();
    const token = await fetchToken(worker, tenant);
    const ids: string[] = [];
    for (let index = 0; index < 7; index++) {
      ids.push(await send(tenant, purchase(token)));
      if (index % 3 === 0) await deliver();
    }
    await deliver();
    const seen: Event[] = [];
    let cursor = '';
    for (;;) {
      const page = await list(tenant, `&limit=3&cursor=${cursor}`);
      seen.push(...page.data);
      if (!page.next_cursor) break;
      cursor = page.next_cursor;
    }
    const purchases = seen.filter((event) => event.type === 'custom.purchase').map((event) => event.event_id);
    expect(purchases).toEqual(ids.toReversed());
    expect(seen).toHaveLength(8);
    expect(seen.at(-1)?.type).toBe('install');
    expect(seen[0]).toMatchObject({
      value: 4.99,
      currency: 'usd',
      created_at: '2026-03-02T10:00:00.000Z',
      day: '2026-03-02',
    });
    expect(seen[0]).not.toHaveProperty('ad_id');
    expect((await list(tenant, '&limit=200')).next_cursor).toBeNull();
  });

  it('filters by type, by day in the time zone of the application, and by token', async () => {
    const tenant = await createTenant({ timezone: 'Asia/Tokyo' });
    const [first, second] = [await fetchToken(worker, tenant), await fetchToken(worker, tenant)];
    const late = await send(tenant, purchase(first, { created_at: '2026-03-02 16:00:00' }));
    const early = await send(tenant, purchase(second, { created_at: '2026-03-02 14:00:00' }));
    const custom = {
      type: 'custom',
      created_at: '2026-03-02 14:00:00',
      creativeToken: second,
      payload: { event_name: 'x' },
    };
    const other = await send(tenant, custom);
    await deliver();
    const ids = async (query: string) => (await list(tenant, query)).data.map((event) => event.event_id);
    expect(await ids('&from=2026-03-03&to=2026-03-03')).toEqual([late]);
    expect(await ids('&to=2026-03-02')).toEqual([other, early]);
    expect(await ids('&type=custom')).toEqual([other]);
    expect(await ids(`&type=custom.purchase&token=${first}`)).toEqual([late]);
    const { deviceId } = await claimsOf(first);
    expect(await ids(`&type=custom.purchase&token=${first}&device_id=${deviceId}`)).toEqual([late]);
    expect(await ids(`&token=${second}&device_id=${deviceId}`)).toEqual([]);
  });

  it('returns NDJSON, and CSV that is safe to open', async () => {
    const tenant = await createTenant();
    const token = await fetchToken(worker, tenant);
    await send(tenant, purchase(token));
    await send(tenant, purchase(token));
    await deliver();
    const path = `/v1/events?application_id=${tenant.application.id}&limit=2`;
    const ndjson = await worker.team(tenant, `${path}&format=ndjson`);
    expect(ndjson.headers.get('Content-Type')).toBe('application/x-ndjson; charset=utf-8');
    const lines = (await ndjson.text()).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual((await list(tenant, '&limit=2')).data);
    expect(ndjson.headers.get('X-Next-Cursor')).toBe(JSON.parse(lines[1] ?? '').event_id);
    const csv = await worker.team(tenant, `${path}&format=csv&from=2026-01-01`);
    expect(csv.headers.get('Content-Disposition')).toBe(
      `attachment; filename="events-Test game-2026-01-01.csv"; filename*=UTF-8''events-Test%20game-2026-01-01.csv`,
    );
    const { data } = Papa.parse<Record<string, string>>(await csv.text(), {
      header: true,
      skipEmptyLines: true,
    });
    expect(data).toHaveLength(2);
    for (const row of data) expect(row).toMatchObject({ item_id: "'=gems", item_name: 'Gems' });
  });

  it('lists clicks, which have no device', async () => {
    const tenant = await createTenant(STORES);
    const { path, id } = await createCreative(worker, tenant);
    const link = `${path}?gclid=Cj0K`;
    await worker.deliver((await follow(worker, link, ANDROID_AGENT, '203.0.113.9', 'DE')).messages);
    const { data } = await list(tenant, '&type=click');
    expect(data).toMatchObject([
      { type: 'click', creative_id: id, country: 'DE', params: { gclid: 'Cj0K' } },
    ]);
    const csv = await worker.team(tenant, `/v1/events?application_id=${tenant.application.id}&format=csv`);
    const parsed = Papa.parse<Record<string, string>>(await csv.text(), {
      header: true,
      skipEmptyLines: true,
    });
    expect(parsed.data.map(({ type, params }) => [type, params])).toEqual([['click', '{"gclid":"Cj0K"}']]);
    await revenue(tenant);
    const { body } = await status(tenant, data[0]?.event_id ?? '');
    expect(body).toMatchObject({ status: 'counted', event: { type: 'click' } });
  });

  it.each([
    ['&cursor=abc', 'cursor'],
    ['&limit=201', 'limit'],
    ['&from=yesterday', 'from'],
    ['&type=click!', 'type'],
    ['&token=forged', 'token'],
    ['&format=xml', 'format'],
  ])('refuses %s', async (query, field) => {
    const tenant = await createTenant();
    const answer = await worker.team(tenant, `/v1/events?application_id=${tenant.application.id}${query}`);
    expect(answer.status).toBe(400);
    const { message }: { message: string } = await answer.json();
    expect(fieldsOf(message)).toEqual([field]);
  });

  it('shows no event of another team', async () => {
    const [tenant, other] = [await createTenant(), await createTenant()];
    const answer = await worker.team(tenant, `/v1/events?application_id=${other.application.id}`);
    expect(answer.status).toBe(404);
    const token = await fetchToken(worker, other);
    const path = `/v1/events?application_id=${tenant.application.id}&token=${token}`;
    expect((await worker.team(tenant, path)).status).toBe(400);
  });
});

describe('GET /v1/events/:event_id', () => {
  it('follows an event from the queue through the log until it is counted', async () => {
    const tenant = await createTenant();
    const token = await fetchToken(worker, tenant);
    const id = await send(tenant, purchase(token));
    expect((await status(tenant, id)).body).toMatchObject({ event_id: id, status: 'queued' });
    await deliver();
    await revenue(tenant);
    const { body } = await status(tenant, id);
    expect(body).toMatchObject({
      status: 'counted',
      application_id: tenant.application.id,
      event: { value: 4.99 },
    });
    const times = [body.received_at, body.logged_at, body.settled_by].map((text) => Date.parse(String(text)));
    expect(times).toEqual(times.toSorted((left, right) => left - right));
  });

  it('shows installs as counted, those of an import too, and those of debug builds as ignored', async () => {
    const tenant = await createTenant();
    const token = await fetchToken(worker, tenant);
    await send(tenant, purchase(token));
    await deliver();
    const device = (id: number) => ({
      type: 'device-metrics',
      created_at: '2026-03-01 10:00:00',
      data: {
        device_id: `imported-${id}`,
        device_name: 'Pixel',
        device_model: 'Pixel 9',
        os_system: 'Android 16',
        timezone: 'UTC',
      },
    });
    const body = { import: true, devices: [device(1), device(2)] };
    expect((await worker.post(tenant, '/fetch-token/batch', body)).status).toBe(200);
    await fetchToken(worker, tenant, { dev: true, data: { device_id: 'debugged' } });
    const { data } = await list(tenant, '&type=install');
    const found = await Promise.all(data.map(async ({ event_id }) => (await status(tenant, event_id)).body));
    expect(found).toMatchObject([
      { status: 'ignored', reason: 'test event' },
      ...Array.from({ length: 3 }, () => ({ status: 'counted', event: { type: 'install' } })),
    ]);
    for (const [index, { application_id, event }] of found.entries()) {
      expect(application_id).toBe(tenant.application.id);
      expect(event).toMatchObject({ event_id: data[index]?.event_id });
    }
  });

  it('names the event that a duplicate repeats', async () => {
    const tenant = await createTenant();
    const token = await fetchToken(worker, tenant);
    const first = await send(tenant, purchase(token, { event_id: 'once' }));
    const second = await send(tenant, purchase(token, { event_id: 'once' }));
    await deliver();
    await revenue(tenant);
    expect((await status(tenant, first)).body).toMatchObject({ status: 'counted' });
    expect((await status(tenant, second)).body).toMatchObject({ status: 'duplicate', duplicate_of: first });
  });

  it('says why an event was parked, before the log and in it', async () => {
    const tenant = await createTenant();
    const token = await fetchToken(worker, tenant);
    const broken = await send(tenant, purchase(token));
    const [message] = worker.queue.take();
    const [event] = eventsIn(message?.body);
    await worker.deliver([{ id: 'm', body: { v: 1, events: [{ ...event, currency: 5 }] } }]);
    expect((await status(tenant, broken)).body).toMatchObject({
      status: 'parked',
      reason: 'not an event of this version: currency Invalid input: expected string, received number',
    });

    const poison = await send(tenant, purchase(token, {}, { item_id: 'poison' }));
    const { reach } = RunningDevice.prototype;
    vi.spyOn(RunningDevice.prototype, 'reach').mockImplementation(function (this: RunningDevice, step, at) {
      if (step === 'purchase') throw new Error('a defect');
      reach.call(this, step, at);
    });
    await deliver();
    await revenue(tenant);
    expect((await status(tenant, poison)).body).toMatchObject({
      status: 'parked',
      reason: 'could not be counted',
    });
  });

  it('answers for another team’s event as for one that was never sent', async () => {
    const [tenant, other] = [await createTenant(), await createTenant()];
    const token = await fetchToken(worker, other);
    const theirs = await send(other, purchase(token));
    await deliver();
    await revenue(other);
    expect((await status(other, theirs)).body).toMatchObject({ status: 'counted' });
    const invented = `${theirs.slice(0, -1)}${theirs.endsWith('0') ? '1' : '0'}`;
    const [seen, unseen] = [await status(tenant, theirs), await status(tenant, invented)];
    expect(seen.code).toBe(unseen.code);
    expect(seen.body).toEqual({ ...unseen.body, event_id: theirs });
    expect(Object.keys(seen.body)).toEqual(['event_id', 'received_at', 'status']);

    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5 * 86_400_000 });
    const [later, never] = [await status(tenant, theirs), await status(tenant, invented)];
    expect([later.code, later.body]).toEqual([404, { message: 'Event not found' }]);
    expect(never).toEqual(later);
    expect((await status(other, theirs)).code).toBe(200);
  });

  it('does not find an event that is unknown or too old to be on its way', async () => {
    const tenant = await createTenant();
    const old = `evt_${(Date.now() - 5 * 86_400_000).toString(16).padStart(12, '0')}${newId('evt').slice(16)}`;
    const future = `evt_${(Date.now() + 86_400_000).toString(16).padStart(12, '0')}${newId('evt').slice(16)}`;
    for (const unknown of [old, future, 'evt_1', newId('dev')]) {
      expect((await status(tenant, unknown)).code).toBe(404);
    }
  });

  it('answers for another team’s event, logged or parked, as for an invented one', async () => {
    const [tenant, other] = [await createTenant(), await createTenant()];
    const token = await fetchToken(worker, other);
    const logged = await send(other, purchase(token));
    await deliver();
    const parked = await send(other, purchase(token));
    await worker.deliver(worker.queue.take(), 'attribution-events-dead');
    expect((await status(other, parked)).body).toMatchObject({
      status: 'parked',
      reason: 'could not be delivered to the log: every attempt failed',
    });
    await revenue(other);
    expect((await status(other, logged)).body).toMatchObject({ status: 'counted' });
    for (const id of [logged, parked, newId('evt')]) {
      expect(await status(tenant, id)).toEqual({
        code: 200,
        body: { event_id: id, status: 'queued', received_at: expect.any(String) },
      });
    }
  });

  it('finds the event that a duplicate repeats by any of its keys', async () => {
    const tenant = await createTenant();
    const token = await fetchToken(worker, tenant);
    const first = await send(tenant, purchase(token, { event_id: 'a' }, { tr_id: 't1' }));
    const second = await send(tenant, purchase(token, { event_id: 'b' }, { tr_id: 't1' }));
    const third = await send(tenant, purchase(token, { event_id: 'b' }));
    const other = await send(tenant, purchase(token, { event_id: 'c' }, { tr_id: 't2' }));
    await deliver();
    expect(await revenue(tenant)).toBe(9.98);
    for (const id of [first, other])
      expect((await status(tenant, id)).body).toMatchObject({ status: 'counted' });
    for (const id of [second, third]) {
      expect((await status(tenant, id)).body).toMatchObject({ status: 'duplicate', duplicate_of: first });
    }
  });

  it('reads the log once to tell which amount counts in place of that of a duplicate', async () => {
    const tenant = await createTenant();
    const token = await fetchToken(worker, tenant);
    await send(tenant, purchase(token, { event_id: 'a' }));
    const repeat = await send(tenant, purchase(token, { event_id: 'a' }, { value: 1 }));
    await deliver();
    await revenue(tenant);
    const counter = counterOf(env, tenant.application.id, 0);
    const told = [{ nanos: 4_990_000_000, currency: 'usd' }, null];
    const ids = [repeat, newId('evt')];
    expect(await counter.countedAmounts(ids)).toEqual(told);
    await runInDurableObject(counter, (_, state) => void state.storage.sql.exec('DELETE FROM log'));
    expect(await counter.countedAmounts(ids)).toEqual(told);
  });

  it('shows an event as counted although its repeat on the next day matches a later event', async () => {
    const tenant = await createTenant();
    const token = await fetchToken(worker, tenant);
    const on = (day: number) => ({
      type: 'custom',
      created_at: `2026-03-0${day} 10:00:00`,
      creativeToken: token,
      event_id: 'k',
      payload: { event_name: 'x' },
    });
    // Two days apart they are two events; the one between repeats the first.
    const ids: string[] = [];
    for (const day of [1, 3, 2]) ids.push(await send(tenant, on(day)));
    await deliver();
    await revenue(tenant);
    const found = await Promise.all(ids.map(async (id) => (await status(tenant, id)).body.status));
    expect(found).toEqual(['counted', 'counted', 'duplicate']);
  });

  it('says why an event is not counted', async () => {
    const tenant = await createTenant();
    const total = { total_purchase_value: 4.99 };
    const [token, revoked] = [await fetchToken(worker, tenant), await fetchToken(worker, tenant)];
    const test = await send(tenant, purchase(token, {}, total));
    const [message] = worker.queue.take();
    const [event] = eventsIn(message?.body);
    await worker.deliver([{ id: 'm', body: { v: 1, events: [{ ...event, test: true }] } }]);
    const before = await send(tenant, purchase(revoked, {}, total));
    const late = await send(tenant, purchase(revoked, {}, total));
    const [first, last] = worker.queue.take().flatMap(({ body }) => eventsIn(body));
    if (!last) throw new Error('two events were sent');
    last.received_at += 1;
    await counterOf(env, tenant.application.id, 0).revokeToken(last.token_id ?? '', last.received_at);
    await worker.deliver([{ id: 'sent', body: { v: 1, events: [first, last] } }]);
    // Asking counts what waits.
    expect((await status(tenant, late)).body.status).toBe('ignored');
    expect(await revenue(tenant)).toBe(4.99);
    const times = { logged_at: expect.any(String), settled_by: expect.any(String), event: { value: 4.99 } };
    expect((await status(tenant, test)).body).toMatchObject({
      ...times,
      status: 'ignored',
      reason: 'test event',
    });
    expect((await status(tenant, late)).body).toMatchObject({
      ...times,
      status: 'ignored',
      reason: 'sent with a revoked token',
    });
    expect((await status(tenant, before)).body).toMatchObject({ status: 'counted' });
    const answer = await worker.team(
      tenant,
      `/v1/reports/client-totals?application_id=${tenant.application.id}&from=2026-01-01&to=2026-12-31`,
    );
    expect(await answer.json()).toMatchObject({
      totals: [{ kind: 'purchase', devices: 1, client_total: 4.99, counted_total: 4.99, gap: 0 }],
    });
  });

  it('counts nothing from a device of a debug build', async () => {
    const tenant = await createTenant();
    const made = await worker.post(tenant, '/fetch-token', {
      type: 'device-metrics',
      created_at: '2026-03-01T10:00:00.000Z',
      dev: true,
      data: { device_name: 'Pixel', device_model: 'Pixel 9', os_system: 'Android 16', timezone: 'UTC' },
    });
    const { token }: { token: string } = await made.json();
    const id = await send(tenant, purchase(token, { event_id: 'once' }, { total_purchase_value: 4.99 }));
    await deliver();
    expect(await revenue(tenant)).toBe(0);
    expect((await status(tenant, id)).body).toMatchObject({ status: 'ignored', reason: 'test event' });
    const answer = await worker.team(
      tenant,
      `/v1/reports/client-totals?application_id=${tenant.application.id}&from=2026-01-01&to=2026-12-31`,
    );
    expect(await answer.json()).toMatchObject({ data: [], totals: [] });
  });

  it.each(['in the log', 'in a file', 'in a file that is rewritten'])(
    'forgets the install of an erased device at once, with the device’s other events: %s',
    async (where) => {
      const tenant = await createTenant();
      const token = await fetchToken(worker, tenant);
      const [event, other] = [await send(tenant, purchase(token)), await fetchToken(worker, tenant)];
      // Of the same minute, and erased after it.
      const second = await fetchToken(worker, tenant);
      await deliver();
      await settleAll(tenant.application.id);
      const listed = await worker.team(
        tenant,
        `/v1/events?application_id=${tenant.application.id}&type=install`,
      );
      const { data } = await listed.json<{ data: { event_id: string; device_id: string }[] }>();
      const ids = await Promise.all(
        [token, other, second].map(async (one) => (await claimsOf(one)).deviceId),
      );
      const [install, kept, next] = ids.map(
        (id) => data.find(({ device_id }) => device_id === id)?.event_id ?? '',
      );
      if (where !== 'in the log') await exportAll(tenant.application.id, 1);
      expect((await status(tenant, install ?? '')).code).toBe(200);
      for (const one of [token, second])
        await worker.team(tenant, `/v1/devices/${one}`, { method: 'DELETE' });
      if (where === 'in a file that is rewritten') await exportAll(tenant.application.id, 1);
      expect(
        [
          await status(tenant, install ?? ''),
          await status(tenant, event),
          await status(tenant, next ?? ''),
        ].map((one) => one.code),
      ).toEqual([404, 404, 404]);
      expect((await status(tenant, kept ?? '')).body).toMatchObject({ status: 'counted' });
    },
  );

  it('says that an event after the erasure of its device is not counted, and shows none of it', async () => {
    const tenant = await createTenant();
    const token = await fetchToken(worker, tenant);
    await worker.team(tenant, `/v1/devices/${token}`, { method: 'DELETE' });
    const kept = await fetchToken(worker, tenant);
    const more = { device_name: 'Jane’s phone', dedupe_key: 'jane-1' };
    const id = await send(tenant, purchase(token, more, { item_name: 'Jane’s item', tr_id: 'jane-2' }));
    await send(tenant, purchase(kept, { device_name: 'Joe’s phone' }));
    await deliver();
    expect(await revenue(tenant)).toBe(4.99);
    const { body } = await status(tenant, id);
    expect(body).toMatchObject({ status: 'ignored', reason: 'its device was erased' });
    expect(body).not.toHaveProperty('event');
    // Only what recognises it is stored.
    const rows = JSON.stringify(await counterRows(tenant.application.id, 'log'));
    expect(rows).toContain(id);
    expect(rows).toContain('Joe');
    expect(rows.toLowerCase()).not.toContain('jane');
  });
});
