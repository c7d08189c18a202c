import { describe, expect, it } from 'vitest';
import type { LoggedEvent } from '#catalogue';
import type { DeviceFilter, LogPage, PayersQuery } from '#counting';
import { newId } from '#lib/ids';
import { DAY_MS } from '#lib/time';
import type { FunnelQuestion } from '../../src/counting/api-questions.ts';
import { eventOf, rollupOf, startCounter } from '../helpers/counter.ts';

async function start(more: Parameters<ReturnType<typeof startCounter>['createDevice']>[0] = {}) {
  const counter = startCounter();
  const created = await counter.createDevice(more);
  if (created.outcome === 'moved') throw new Error('a new counter has one shard');
  return { ...counter, device: created.device };
}

describe('erasing a device', () => {
  it('keeps the totals, deletes its row, alias and raw events, and counts nothing of it later', async () => {
    const { applicationId, append, stub, device, createDevice } = await start({ alias: 'player' });
    const other = await createDevice();
    if (other.outcome === 'moved') throw new Error('one shard');
    const own = eventOf(applicationId, device, 'custom.ad');
    await append([own, eventOf(applicationId, other.device, 'custom.ad')]);
    // The install and the ad view; what was not counted yet is counted first.
    expect(await stub().eraseDevice(device.id)).toEqual({ found: true, events: 2, told: [] });
    expect(await stub().eraseDevice(device.id)).toEqual({ found: false, events: 0, told: [] });
    await stub().settle();
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 2, installs: 2 });
    const { events } = await stub().readLog({}, null, 100);
    expect(events.map((event) => 'device_id' in event && event.device_id)).toEqual([
      other.device.id,
      other.device.id,
    ]);
    expect(await stub().readDevice(device.id)).toBeNull();
    expect(await stub().findDevices(['player'], 1)).toEqual([null]);
    // A redelivered event is still recognised; a later one finds no device.
    expect(await append([own])).toMatchObject({ appended: 0 });
    const later = eventOf(applicationId, device, 'custom.ad');
    await append([later]);
    await stub().settle();
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 2 });
    expect(await stub().eventStatus(later.id)).toMatchObject({ status: 'ignored' });
  });
});

it('does not count test devices, test events or events with a revoked token, or store their keys', async () => {
  const { applicationId, append, stub, device, createDevice } = await start();
  const editor = await createDevice({
    description: { ...(await stub().readDevice(device.id))?.description, test: true } as never,
  });
  if (editor.outcome === 'moved') throw new Error('one shard');
  const token = newId('tok');
  const at = Date.parse('2026-03-02T12:00:00Z');
  await stub().revokeToken(token, at);
  await stub().revokeToken(token, at + 1_000_000);
  const ad = (more: Partial<Extract<LoggedEvent, { type: 'custom.ad' }>>) =>
    eventOf(applicationId, device, 'custom.ad', more);
  const ignored = [
    eventOf(applicationId, editor.device, 'custom.ad', { keys: ['e:1'] }),
    ad({ test: true, keys: ['e:1'] }),
    ad({ token_id: token, received_at: at + 1, keys: ['e:1'] }),
  ];
  const counted = [ad({ token_id: token, received_at: at - 1, keys: ['e:2'] }), ad({ keys: ['e:1'] })];
  await append([...ignored, ...counted]);
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 2, installs: 1 });
  for (const [events, status] of [
    [ignored, 'ignored'],
    [counted, 'counted'],
  ] as const) {
    for (const { id } of events) expect((await stub().eventStatus(id))?.status).toBe(status);
  }
});

it('deletes a revoked token once none of its events can arrive: after 800 days, and 9 for delivery', async () => {
  const now = Date.now();
  const { append, stub, inside, applicationId, device } = await start();
  await append([eventOf(applicationId, device, 'custom.ad')]);
  await stub().settle();
  const [old, recent] = [newId('tok'), newId('tok')];
  await stub().revokeToken(old, now - 809 * DAY_MS - 1);
  await stub().revokeToken(recent, now - 808 * DAY_MS);
  await inside((counter) => counter.alarm());
  const left = await inside((_, { storage }) =>
    storage.sql.exec('SELECT token_id FROM revoked_tokens').toArray(),
  );
  expect(left).toEqual([{ token_id: recent }]);
});

describe('queries of the counter', () => {
  it('compares client totals with counted totals, and shows the largest gaps first', async () => {
    const { applicationId, append, stub, device, createDevice } = await start();
    const more = await Promise.all([1, 2, 3].map(() => createDevice()));
    const [exact, mixed, silent] = more.map((one) => {
      if (one.outcome === 'moved') throw new Error('one shard');
      return one.device;
    });
    if (!exact || !mixed || !silent) throw new Error('three were made');
    const ad = (of: typeof device, value: number, total?: number, currency = 'usd') =>
      eventOf(applicationId, of, 'custom.ad', {
        value_nanos: value,
        currency,
        ...(total === undefined ? {} : { total_ad_value: total }),
      });
    await append([
      ad(device, 1_000_000_000, 1),
      ad(device, 1_000_000_000, 5),
      ad(exact, 2_000_000_000, 2),
      ad(mixed, 1_000_000_000, 1),
      ad(mixed, 1_000_000_000, 9, 'eur'),
      ad(silent, 1_000_000_000),
      eventOf(applicationId, exact, 'custom.purchase', {
        value_nanos: 3_000_000_000,
        status: 'failed',
        total_purchase_value: 2,
      }),
    ]);
    await stub().settle();
    const cohort = { from: '2026-03-01', to: '2026-03-01' };
    const { totals, gaps } = await stub().clientTotals(cohort);
    expect(totals.sort((a, b) => `${a.kind}${a.currency}`.localeCompare(`${b.kind}${b.currency}`))).toEqual([
      { kind: 'ad', currency: null, devices: 1, devicesWithGap: 0, client: null, counted: null },
      {
        kind: 'ad',
        currency: 'usd',
        devices: 2,
        devicesWithGap: 1,
        client: '7000000000',
        counted: '4000000000',
      },
      {
        kind: 'purchase',
        currency: 'usd',
        devices: 1,
        devicesWithGap: 1,
        client: '2000000000',
        counted: '0',
      },
    ]);
    expect(gaps).toEqual([
      { deviceId: device.id, kind: 'ad', currency: 'usd', client: '5000000000', counted: '2000000000' },
      { deviceId: exact.id, kind: 'purchase', currency: 'usd', client: '2000000000', counted: '0' },
    ]);
    expect(await stub().clientTotals({ from: '2026-03-02', to: '2026-03-09' })).toEqual({
      totals: [],
      gaps: [],
    });
  });

  it.each([
    ['first', ['', 'usd', 'usd']],
    ['last', ['usd', 'usd', '']],
  ])(
    'compares the totals of a device whose %s ad has no known revenue, in the currency of the others',
    async (_, currencies) => {
      const { applicationId, append, stub, device } = await start();
      const ads = currencies.map((currency) =>
        eventOf(applicationId, device, 'custom.ad', {
          currency,
          value_nanos: currency === '' ? 0 : 1_000_000_000,
          total_ad_value: 2,
        }),
      );
      // The second run knows the totals from their stored form only.
      for (const event of ads) {
        await append([event]);
        await stub().settle();
      }
      const { totals } = await stub().clientTotals({ from: '2026-03-01', to: '2026-03-01' });
      expect(totals).toEqual([
        {
          ...{ kind: 'ad', currency: 'usd', devices: 1, devicesWithGap: 0 },
          ...{ client: '2000000000', counted: '2000000000' },
        },
      ]);
    },
  );

  it('keeps totals exact beyond 64 bits of nanos', async () => {
    const { applicationId, append, stub, device } = await start();
    const value_nanos = 9_000_000_000_000_000;
    await append(
      Array.from({ length: 2_000 }, () =>
        eventOf(applicationId, device, 'custom.ad', { value_nanos, total_ad_value: 1 }),
      ),
    );
    await stub().settle();
    const { totals } = await stub().clientTotals({ from: '2026-03-01', to: '2026-03-01' });
    expect(totals).toMatchObject([{ counted: `${BigInt(value_nanos) * 2_000n}`, client: '1000000000' }]);
  });

  it('counts distinct payers of each period, and devices that reach each step of a funnel', async () => {
    const { applicationId, append, stub, device, createDevice } = await start();
    const created = await createDevice({ creativeId: 'crt_1' });
    if (created.outcome === 'moved') throw new Error('one shard');
    const buy = (of: typeof device, day: string) =>
      eventOf(applicationId, of, 'custom.purchase', { day, occurred_at: Date.parse(`${day}T12:00:00Z`) });
    await append([
      buy(device, '2026-03-02'),
      buy(device, '2026-03-03'),
      buy(device, '2026-03-09'),
      buy(created.device, '2026-03-09'),
      eventOf(applicationId, device, 'custom', {
        event_name: 'level_1',
        occurred_at: Date.parse('2026-03-01T11:00:00Z'),
      }),
    ]);
    await stub().settle();
    const periods = [
      { from: '2026-03-01', to: '2026-03-07' },
      { from: '2026-03-04', to: '2026-03-08' },
      { from: '2026-03-01', to: '2026-03-31' },
      { from: '2026-03-09', to: '2026-03-09' },
    ];
    const count = async (by: PayersQuery['by'], filter: DeviceFilter = {}) => {
      const counts = await stub().payers({ periods, by, filter });
      return counts
        .map(({ period, creativeId, segment, devices }) => `${period} ${creativeId}${segment.os} ${devices}`)
        .sort();
    };
    expect(await count(['creative'])).toEqual(['0  1', '2  1', '2 crt_1 1', '3  1', '3 crt_1 1']);
    expect(await count(['os'])).toEqual(['0 android 1', '2 android 2', '3 android 2']);
    expect(await count([], { attribution: 'paid' })).toEqual(['2  1', '3  1']);
    expect(await count([], { creativeIds: ['crt_1'], segment: { os: ['android'], country: [''] } })).toEqual([
      '2  1',
      '3  1',
    ]);
    expect(await count([], { segment: { os: ['ios'] } })).toEqual([]);
    // An imported purchase may be older than what is known of its device.
    const later = await createDevice({ acquiredDay: '2026-05-01' });
    if (later.outcome === 'moved') throw new Error('one shard');
    await append([buy(later.device, '2026-03-05')]);
    await stub().settle();
    expect(await count([])).toEqual(['0  2', '1  1', '2  3', '3  2']);
    expect(await count([], { attribution: 'organic', segment: { country: ['de'] } })).toEqual([]);
    const cohort = { from: '2026-03-01', to: '2026-03-01' };
    const reach = async (steps: string[], more: Partial<FunnelQuestion> = {}) => {
      const question = {
        cohort,
        filter: {},
        groupBy: null,
        steps,
        windowSeconds: null,
        maxDurations: 100,
        maxGroups: 100,
      };
      const answer = await stub().funnel({ ...question, ...more });
      return answer
        .map(({ key, devices }) => ({ key, devices }))
        .sort((a, b) => (`${a.key}` < `${b.key}` ? -1 : 1));
    };
    const level = ['install', 'event:level_1', 'purchase'];
    expect(await reach(level)).toEqual([{ key: '', devices: [2, 1, 1] }]);
    expect(await reach(['install', 'purchase'], { windowSeconds: 2 * 86_400 })).toEqual([
      { key: '', devices: [2, 1] },
    ]);
    expect(await reach(['install'], { cohort: { from: '2026-04-01', to: '2026-04-01' } })).toEqual([]);
    expect(await reach(level, { groupBy: 'creative' })).toEqual([
      { key: '', devices: [1, 1, 1] },
      { key: 'crt_1', devices: [1, 0, 0] },
    ]);
    // Of groups beyond the bound, the smallest are counted together.
    expect(await reach(level, { groupBy: 'creative', maxGroups: 1 })).toEqual([
      { key: '', devices: [1, 1, 1] },
      { key: null, devices: [1, 0, 0] },
    ]);
    expect(await reach(level, { groupBy: 'os' })).toEqual([{ key: 'android', devices: [2, 1, 1] }]);
    expect(await reach(level, { groupBy: 'country' })).toEqual([{ key: '', devices: [2, 1, 1] }]);
    const selected = async (filter: DeviceFilter) =>
      (await reach(['install'], { filter })).map(({ devices }) => devices[0]);
    expect(await selected({ creativeIds: ['crt_1', 'crt_2'] })).toEqual([1]);
    expect(await selected({ creativeIds: [] })).toEqual([]);
    expect(await selected({ attribution: 'paid' })).toEqual([1]);
    expect(await selected({ attribution: 'organic', segment: { os: ['android'] } })).toEqual([1]);
    expect(await selected({ segment: { os: ['ios'] } })).toEqual([]);
    expect(await selected({ segment: { country: [''] } })).toEqual([2]);
    expect(await selected({ segment: { app_version: ['1.0'] } })).toEqual([]);
  });

  it('reads the hot log newest first, page by page, with each filter', async () => {
    const { applicationId, append, stub, device } = await start();
    const events = Array.from({ length: 7 }, (_, index) =>
      eventOf(applicationId, device, 'custom', { event_name: `level_${index % 2}` }),
    );
    await append(events.slice(0, 4));
    await append(events.slice(4));
    const ids: string[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const page: LogPage = await stub().readLog({ type: 'custom', deviceId: device.id }, cursor, 2);
      ids.push(...page.events.map(({ id }) => id));
      cursor = page.through;
      pages++;
    } while (cursor !== null);
    expect(ids).toEqual(events.map(({ id }) => id).reverse());
    expect(pages).toBe(4);
    const count = async (filter: Parameters<ReturnType<typeof stub>['readLog']>[0]) =>
      (await stub().readLog(filter, null, 100)).events.length;
    expect(await count({})).toBe(8);
    expect(await count({ eventName: 'level_0' })).toBe(4);
    expect(await count({ type: 'install' })).toBe(1);
    expect(await count({ from: '2026-03-02', to: '2026-03-02' })).toBe(7);
    expect(await count({ from: '2026-03-03' })).toBe(0);
    expect(await count({ to: '2026-03-01' })).toBe(1);
    expect(await count({ deviceId: newId('dev') })).toBe(0);
    expect(await count({ creativeIds: [newId('crt')] })).toBe(0);
  });
});
