import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LoggedEvent } from '#catalogue';
import type { Counter } from '#counting';
import { newId } from '#lib/ids';
import { clickOf, eventOf, startCounter } from '../helpers/counter.ts';
import { PIXEL } from '../helpers/device-description.ts';
import { objectsOf } from '../helpers/lake.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { slowIt } from '../helpers/thorough.ts';
import { startWorker } from '../helpers/worker.ts';

const HOUR_MS = 3_600_000;
afterEach(() => vi.useRealTimers());

type Page = { data: (Record<string, unknown> & { event_id: string })[]; next_cursor: string | null };

/** A team's application with this many counters, and a device in each. */
async function start(shards = 1) {
  const tenant = await createTenant();
  const applicationId = tenant.application.id;
  await env.DB.prepare('UPDATE applications SET shards = ? WHERE id = ?').bind(shards, applicationId).run();
  const counters = await Promise.all(
    Array.from({ length: shards }, async (_, shard) => {
      const counter = startCounter(applicationId, shard);
      const created = await counter.createDevice({ acquiredAt: Date.now(), creativeId: newId('crt') });
      if (created.outcome === 'moved') throw new Error('no counter knows of more shards');
      return { ...counter, device: created.device };
    }),
  );
  const [first] = counters;
  if (!first) throw new Error('there is a counter');
  return { tenant, applicationId, counters, first };
}

type Started = Awaited<ReturnType<typeof start>>;

/** An event of the counter's device that is received now. */
function sent(
  { applicationId, device, shard }: Started['first'],
  type: 'custom' | 'custom.ad' | 'custom.purchase' = 'custom.ad',
  more: object = {},
) {
  return eventOf(applicationId, device, type, {
    received_at: Date.now(),
    ...(shard === 0 ? {} : { shard }),
    ...more,
  });
}

/** What was counted goes to R2. */
async function exportAll({ counters }: Pick<Started, 'counters'>): Promise<void> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR_MS });
  for (const { stub, inside } of counters) {
    await stub().settle();
    await inside((counter) => counter.alarm());
    expect((await stub().health()).hotEvents).toBe(0);
  }
}

async function list(tenant: Tenant, query = '', worker = startWorker()): Promise<Page> {
  const path = `/v1/events?application_id=${tenant.application.id}${query}`;
  const answer = await worker.team(tenant, path);
  const body: Page = await answer.json();
  expect([answer.status, body]).toEqual([200, expect.anything()]);
  return body;
}

async function listAll(tenant: Tenant, query = '', worker = startWorker()) {
  const pages: Page['data'][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page = await list(tenant, `${query}&cursor=${cursor}`, worker);
    if (page.next_cursor !== null && cursor !== '') expect(page.next_cursor < cursor).toBe(true);
    pages.push(page.data);
    cursor = page.next_cursor;
  }
  return pages.flat();
}

const newestFirst = (events: readonly LoggedEvent[]) =>
  events
    .map(({ id }) => id)
    .sort()
    .reverse();
const idsOf = (events: Page['data']) => events.map(({ event_id }) => event_id);

async function status(tenant: Tenant, id: string): Promise<Record<string, unknown>> {
  const answer = await startWorker().team(tenant, `/v1/events/${id}`);
  return { code: answer.status, ...((await answer.json()) as Record<string, unknown>) };
}

describe('GET /v1/events', () => {
  slowIt('lists the logs and files of all shards newest first, before and after export', async () => {
    const started = await start(4);
    const { tenant, counters } = started;
    const events: LoggedEvent[] = [];
    const sendSome = async () => {
      for (let round = 0; round < 2; round++) {
        for (const counter of counters) {
          const event = sent(counter, round ? 'custom.purchase' : 'custom', { keys: [`e:${newId('evt')}`] });
          events.push(event);
          await counter.append([event]);
        }
      }
    };
    await sendSome();
    const query = '&limit=3&from=2026-03-02&to=2026-03-02';
    const hot = await listAll(tenant, query);
    expect(idsOf(hot)).toEqual(newestFirst(events));
    await exportAll(started);
    expect(await listAll(tenant, query)).toEqual(hot);
    await sendSome();
    const mixed = await listAll(tenant, query);
    expect(idsOf(mixed)).toEqual(newestFirst(events));
    await exportAll(started);
    expect(await listAll(tenant, '&limit=7&from=2026-03-02')).toEqual(mixed);
  });

  it('puts a late redelivery where it was received', async () => {
    const { tenant, first } = await start();
    const events = [1, 2, 3, 4].map(() => sent(first));
    const [late, ...others] = events;
    if (!late) throw new Error('four events');
    await first.append(others);
    await first.append([late]);
    for (const limit of [1, 2, 4]) {
      expect(idsOf(await listAll(tenant, `&limit=${limit}&type=custom.ad`))).toEqual(newestFirst(events));
    }
  });

  it('filters by type, day, device, event name and creative, in logs and in files', async () => {
    const started = await start(2);
    const { tenant, counters, first } = started;
    const [, second] = counters;
    if (!second) throw new Error('two counters');
    const ad = sent(first);
    const level = sent(second, 'custom', { event_name: 'level_2' });
    const other = sent(second, 'custom', {
      event_name: 'level_3',
      day: '2026-03-05',
      device: { app_version: '2.0' },
    });
    await first.append([ad]);
    await second.append([level, other]);
    const check = async () => {
      const found = async (query: string) => idsOf(await listAll(tenant, `&from=2026-03-02${query}`));
      expect(await found('&type=custom')).toEqual(newestFirst([level, other]));
      expect(await found('&to=2026-03-04')).toEqual(newestFirst([ad, level]));
      expect(await found(`&device_id=${first.device.id}`)).toEqual([ad.id]);
      expect(await found(`&device_id=${newId('dev')}`)).toEqual([]);
      expect(await found('&event_name=level_3')).toEqual([other.id]);
      expect(await found(`&creative_id=${second.device.creativeId}`)).toEqual(newestFirst([level, other]));
      const either = `&creative_id=${first.device.creativeId}&creative_id=${second.device.creativeId}`;
      expect(await found(either)).toEqual(newestFirst([ad, level, other]));
      expect(await found('&attribution=paid')).toEqual(newestFirst([ad, level, other]));
      expect(await found('&attribution=organic')).toEqual([]);
      expect(await found('&app_version=2.0')).toEqual([other.id]);
      expect(await found('&app_version=unknown')).toEqual(newestFirst([ad, level]));
      expect(await found(`&campaign_id=${newId('cmp')}`)).toEqual([]);
    };
    await check();
    await exportAll(started);
    await check();
  });

  it('filters by country, OS and network of the device at its acquisition, and of the click, in logs and in files', async () => {
    const started = await start();
    const { tenant, first, applicationId } = started;
    const made = async (country: string, os: string, network: string) => {
      const description = { ...PIXEL, segment: { ...PIXEL.segment, country, os, network } };
      const created = await first.createDevice({ acquiredAt: Date.now(), description });
      if (created.outcome === 'moved') throw new Error('one shard');
      const event = sent({ ...first, device: created.device }, 'custom');
      await first.append([event]);
      return { event, device: created.device };
    };
    const french = await made('fr', 'ios', 'meta');
    const german = await made('de', 'android', 'tiktok');
    const stateless = await made('', 'ios', '');
    const click = clickOf(applicationId, { country: 'fr', os_family: 'android', network: 'meta' });
    await first.append([click]);
    const check = async () => {
      const found = async (query: string) => idsOf(await listAll(tenant, `&from=2026-03-02${query}`));
      expect(await found('&country=FR')).toEqual(newestFirst([french.event, click]));
      expect(await found('&country=fr&country=de')).toEqual(newestFirst([french.event, german.event, click]));
      expect(await found('&country=unknown')).toEqual([stateless.event.id]);
      expect(await found('&country=unknown&country=de')).toEqual(
        newestFirst([german.event, stateless.event]),
      );
      expect(await found('&country=jp')).toEqual([]);
      expect(await found('&os=ios')).toEqual(newestFirst([french.event, stateless.event]));
      expect(await found('&os=android&country=fr')).toEqual([click.id]);
      expect(await found('&os=unknown')).toEqual([]);
      expect(await found('&network=Facebook')).toEqual(newestFirst([french.event, click]));
      expect(await found('&network=tiktok&network=unknown')).toEqual(
        newestFirst([german.event, stateless.event]),
      );
      expect(await found('&network=unity')).toEqual([]);
      expect(await found(`&country=de&device_id=${french.device.id}`)).toEqual([]);
      expect((await list(tenant, '&country=fr&type=custom')).data).toMatchObject([
        { event_id: french.event.id, country: 'FR', os_family: 'ios', network: 'meta' },
      ]);
    };
    await check();
    const hot = (await status(tenant, french.event.id)).event;
    expect(hot).toMatchObject({ country: 'FR', os_family: 'ios' });
    await exportAll(started);
    await check();
    expect((await status(tenant, french.event.id)).event).toEqual(hot);
  });

  it('accepts filters with more values than a D1 statement has parameters', async () => {
    const { tenant, first } = await start();
    const [own, other] = [sent(first), sent(first)];
    await first.append([own, other]);
    const others = (prefix: 'cmp' | 'ads' | 'crt', name: string) =>
      Array.from({ length: 40 }, () => `&${name}=${newId(prefix)}`).join('');
    const filters = others('cmp', 'campaign_id') + others('ads', 'adset_id') + others('crt', 'creative_id');
    expect(await listAll(tenant, `${filters}&from=2026-03-02`)).toEqual([]);
    const creatives = `${others('crt', 'creative_id')}&creative_id=${first.device.creativeId}`;
    expect(idsOf(await listAll(tenant, `${creatives}&from=2026-03-02`))).toEqual(newestFirst([own, other]));
  });

  it('finds an event that is exported during the search', async () => {
    const started = await start(2);
    const events = await Promise.all(
      started.counters.map(async (counter) => {
        const event = sent(counter);
        await counter.append([event]);
        return event;
      }),
    );
    const COUNTERS = new Proxy(env.COUNTERS, {
      get: (target, name) =>
        name !== 'getByName'
          ? Reflect.get(target, name)
          : (counter: string) =>
              new Proxy(target.getByName(counter), {
                get: (stub, method: keyof Counter) => {
                  if (method !== 'listFiles') {
                    return (...input: Parameters<Counter['readLog']>) => stub[method as 'readLog'](...input);
                  }
                  return async (...input: Parameters<Counter['listFiles']>) => {
                    await exportAll(started);
                    return stub.listFiles(...input);
                  };
                },
              }),
    });
    const found = await list(started.tenant, '&type=custom.ad', startWorker({ COUNTERS }));
    expect(idsOf(found.data)).toEqual(newestFirst(events));
    expect(idsOf((await list(started.tenant, '&type=custom.ad')).data)).toEqual(newestFirst(events));
  });

  it('reads the index again when a file is replaced, and continues without one that is lost', async () => {
    const started = await start();
    const { tenant, first, applicationId } = started;
    const other = await first.createDevice({ acquiredAt: Date.now() });
    if (other.outcome === 'moved') throw new Error('one shard');
    const kept = sent(first);
    await first.append([kept, { ...sent(first), device_id: other.device.id } as LoggedEvent]);
    await exportAll(started);
    let reads = 0;
    const RAW_EVENTS = new Proxy(env.RAW_EVENTS, {
      get: (bucket, name) => {
        if (name !== 'get') return Reflect.get(bucket, name);
        return async (...input: Parameters<R2Bucket['get']>) => {
          if (reads++ === 0) {
            await first.stub().eraseDevice(other.device.id);
            await first.inside((counter) => counter.alarm());
          }
          return bucket.get(...input);
        };
      },
    });
    const worker = startWorker({ RAW_EVENTS });
    expect(idsOf((await list(tenant, '&type=custom.ad', worker)).data)).toEqual([kept.id]);
    expect(reads).toBeGreaterThan(1);
    // The install and the events of the device.
    const rewritten = [/day=2026-03-01\/.*\.r1\.parquet$/, /day=2026-03-02\/.*\.r1\.parquet$/];
    expect(await objectsOf(applicationId)).toEqual(rewritten.map((key) => expect.stringMatching(key)));
    await env.RAW_EVENTS.delete(await objectsOf(applicationId));
    expect((await list(tenant)).data).toEqual([]);
  });

  it('opens no file that cannot contain a match', async () => {
    const started = await start();
    const { tenant, first } = started;
    await first.append([sent(first)]);
    await exportAll(started);
    let reads = 0;
    const RAW_EVENTS = new Proxy(env.RAW_EVENTS, {
      get: (bucket, name) => {
        if (name === 'get') reads++;
        const value = Reflect.get(bucket, name);
        return typeof value === 'function' ? value.bind(bucket) : value;
      },
    });
    const worker = startWorker({ RAW_EVENTS });
    for (const query of [
      '&type=click',
      '&from=2030-01-01',
      '&to=2020-01-01',
      '&event_name=x',
      '&country=jp',
      '&os=unknown',
      '&cursor=evt_0'.padEnd(44, '0'),
    ]) {
      expect((await list(tenant, query, worker)).data).toEqual([]);
    }
    expect(reads).toBe(0);
    // The newest page is in the log only.
    await first.append([1, 2, 3].map(() => sent(first)));
    expect((await list(tenant, '&limit=2', worker)).data).toHaveLength(2);
    expect(reads).toBe(0);
    expect((await list(tenant, '&limit=5', worker)).data).toHaveLength(5);
    expect(reads).toBeGreaterThan(0);
  });

  it('shows nothing of an erased device, in the log, in a file, and before its file is rewritten', async () => {
    const started = await start(2);
    const { tenant, counters } = started;
    const [, second] = counters;
    if (!second) throw new Error('two counters');
    const [gone, hot] = [sent(second), sent(second)];
    await second.append([gone]);
    await exportAll(started);
    await second.append([hot]);
    await second.stub().eraseDevice(second.device.id);
    const later = sent(second);
    await second.append([later]);
    for (const query of ['', `&device_id=${second.device.id}`]) {
      const shown = await listAll(tenant, query);
      expect(shown.filter(({ device_id }) => device_id === second.device.id)).toEqual([]);
    }
    for (const { id } of [gone, hot]) expect((await status(tenant, id)).code).toBe(404);
    await second.stub().settle();
    const erased = { status: 'ignored', reason: 'its device was erased' };
    expect(await status(tenant, later.id)).toMatchObject(erased);
    expect(await status(tenant, later.id)).not.toHaveProperty('event');
    await exportAll(started);
    for (const { id } of [gone, hot, later]) expect((await status(tenant, id)).code).toBe(404);
    expect(await second.stub().filesToRewrite([second.device.id])).toBe(0);
  });

  it.each([
    ['&device_id=dev_1', 'device_id'],
    ['&creative_id=x', 'creative_id.0'],
    ['&attribution=bought', 'attribution'],
    [`&country=${'x'.repeat(17)}`, 'country.0'],
  ])('refuses %s', async (query, field) => {
    const tenant = await createTenant();
    const answer = await startWorker().team(
      tenant,
      `/v1/events?application_id=${tenant.application.id}${query}`,
    );
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { message: expect.stringMatching(new RegExp(`^${field} must be`)) },
    ]);
  });
});

describe('GET /v1/events/:event_id', () => {
  it('shows the status of an event, before and after export', async () => {
    const started = await start(3);
    const { tenant, counters } = started;
    const counter = counters[2];
    if (!counter) throw new Error('three counters');
    const buy = (more: object = {}) => sent(counter, 'custom.purchase', { keys: ['success:t:1'], ...more });
    const events = [buy(), buy(), sent(counter, 'custom.ad', { test: true }), sent(counter)];
    await counter.append(events);
    const ids = events.map(({ id }) => id);
    // Asking counts what waits.
    expect(await status(tenant, ids[0] ?? '')).toMatchObject({
      status: 'counted',
      event: { event_id: ids[0] },
    });
    const expected = [
      { status: 'counted' },
      { status: 'duplicate', duplicate_of: ids[0] },
      { status: 'ignored', reason: 'test event' },
      { status: 'counted' },
    ];
    const hot = await Promise.all(ids.map((id) => status(tenant, id)));
    expect(hot).toMatchObject(expected);
    await exportAll(started);
    const cold = await Promise.all(ids.map((id) => status(tenant, id)));
    expect(cold).toEqual(
      hot.map(({ logged_at: _, ...rest }) => ({ ...rest, settled_by: expect.any(String) })),
    );
    // Its id is no longer remembered, but the file still has it.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30 * 24 * HOUR_MS });
    await counter.inside((inner) => inner.alarm());
    expect(await Promise.all(ids.map((id) => status(tenant, id)))).toMatchObject(expected);
    expect((await status(tenant, newId('evt'))).status).toBe('queued');
  });

  it('says of a refund that its purchase is not known, before and after export', async () => {
    const started = await start(2);
    const [home, other] = started.counters;
    if (!home || !other) throw new Error('two counters');
    const refund = { status: 'refunded', tr_id: 'tr_1' };
    const early = sent(home, 'custom.purchase', { status: 'refunded', tr_id: 'tr_2' });
    const [found, elsewhere] = [home, other].map((counter) => sent(counter, 'custom.purchase', refund));
    if (!found || !elsewhere) throw new Error('two refunds');
    await home.append([sent(home, 'custom.purchase', { tr_id: 'tr_1' }), found, early]);
    await other.append([elsewhere]);
    const waits = async () => {
      const answers = await Promise.all(
        [found, elsewhere, early].map(({ id }) => status(started.tenant, id)),
      );
      expect(answers).toMatchObject(answers.map(() => ({ status: 'counted' })));
      return answers.map(({ waits_for_purchase }) => waits_for_purchase);
    };
    expect(await waits()).toEqual([undefined, undefined, true]);
    await exportAll(started);
    expect(await waits()).toEqual([undefined, undefined, true]);
    await home.append([sent(home, 'custom.purchase', { tr_id: 'tr_2' })]);
    await home.stub().settle();
    expect(await waits()).toEqual([undefined, undefined, undefined]);
  });

  it('shows an event as queued until its sums are in D1', async () => {
    const { tenant, first } = await start();
    const event = sent(first);
    await first.append([event]);
    const withDatabase = (db: D1Database) =>
      first.inside(async (counter) => {
        counter.db = db;
        await counter.settle(100);
      });
    await withDatabase(
      new Proxy(env.DB, {
        get: () => () => {
          throw new Error('D1 is down');
        },
      }),
    );
    expect(await status(tenant, event.id)).toMatchObject({ status: 'queued' });
    await withDatabase(env.DB);
    expect(await status(tenant, event.id)).toMatchObject({ status: 'counted' });
  });
});
