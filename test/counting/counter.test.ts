import { evictDurableObject, runDurableObjectAlarm } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { newId } from '#lib/ids';
import { eventOf, rollupOf, startCounter } from '../helpers/counter.ts';
import { partsOf, rowsOf } from '../helpers/cube.ts';
import { WatchedStorage } from '../helpers/storage.ts';

async function start() {
  const counter = startCounter();
  const created = await counter.createDevice();
  if (created.outcome === 'moved') throw new Error('a new counter has one shard');
  return { ...counter, device: created.device };
}

it('counts appended events, and writes the sums to D1', async () => {
  const { applicationId, append, stub, device } = await start();
  const events = [
    eventOf(applicationId, device, 'custom.ad'),
    eventOf(applicationId, device, 'custom.ad', { value_nanos: 5_000_000 }),
    eventOf(applicationId, device, 'custom.purchase', { keys: ['success:t:1'] }),
    eventOf(applicationId, device, 'retention', { session_id: 's1' }),
    eventOf(applicationId, device, 'retention', { session_id: 's1' }),
    eventOf(applicationId, device, 'custom'),
  ];
  expect(await append(events)).toEqual({ appended: 6, pending: 7 });
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 0 });
  expect(await stub().settle()).toMatchObject({ settled: true });
  expect(await rollupOf(applicationId)).toEqual({
    installs: 1,
    sessions: 1,
    impressions: 2,
    ad_revenue: 7_000_000,
    purchases: 1,
    payers: 1,
    purchase_revenue: 4_990_000_000,
    events: 1,
    active_device_days: 2,
  });
  expect(await stub().readDevice(device.id)).toMatchObject({ activeDays: '0-1', paidDays: '1' });
  expect(await stub().health()).toMatchObject({ pending: 0, outbox: 0, devices: 1, hotEvents: 7 });
});

it('counts an event once, however it is redelivered', async () => {
  const { applicationId, append, stub, device } = await start();
  const events = Array.from({ length: 5 }, () => eventOf(applicationId, device, 'custom.ad'));
  await append(events.slice(0, 3));
  expect(await append([...events, ...events])).toMatchObject({ appended: 2 });
  await stub().settle();
  await evictDurableObject(stub());
  expect(await append([...events].reverse())).toMatchObject({ appended: 0 });
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 5 });
});

it('counts what is new in a redelivered batch for its own device', async () => {
  const { applicationId, append, stub, createDevice, device } = await start();
  const other = await createDevice();
  if (other.outcome === 'moved') throw new Error('a new counter has one shard');
  const [first, second] = [device, other.device].map((own) => eventOf(applicationId, own, 'custom.ad'));
  if (!first || !second) throw new Error('there are two events');
  await append([first]);
  expect(await append([first, second])).toMatchObject({ appended: 1 });
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 2 });
  for (const { id } of [device, other.device])
    expect(await stub().readDevice(id)).toMatchObject({ milestones: { ad: first.occurred_at } });
});

it.each([
  ['in one run', false],
  ['in several runs', true],
])('recognises a duplicate by any of its keys, %s', async (_, apart) => {
  const { applicationId, append, stub, device } = await start();
  const ad = (keys: string[], day = '2026-03-02') =>
    eventOf(applicationId, device, 'custom.ad', { keys, day });
  const buy = (keys: string[], day = '2026-03-02') =>
    eventOf(applicationId, device, 'custom.purchase', { keys, day });
  const sent: [counts: boolean, event: ReturnType<typeof ad>][] = [
    [true, ad(['e:1', 'd:1'])],
    [false, ad(['e:2', 'd:1'])],
    [false, ad(['e:2'])],
    [false, ad(['e:1'], '2026-03-03')],
    [false, ad(['e:1'], '2026-03-01')],
    [true, ad(['e:1'], '2026-03-06')],
    [true, ad(['e:3'])],
    [true, buy(['success:t:1'])],
    [false, buy(['success:t:1', 'success:e:9'], '2026-03-20')],
    [false, buy(['success:e:9'], '2026-03-29')],
    [true, buy(['success:t:2'])],
  ];
  if (apart) {
    for (const [, event] of sent) {
      await append([event]);
      await stub().settle();
    }
  } else await append(sent.map(([, event]) => event));
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 3, purchases: 2 });
  for (const [counts, event] of sent) {
    expect([event.id, (await stub().eventStatus(event.id))?.status]).toEqual([
      event.id,
      counts ? 'counted' : 'duplicate',
    ]);
  }
  expect(await stub().eventStatus(newId('evt'))).toBeNull();
});

it('matches keys by the day that the caller named, also if its clock is wrong', async () => {
  const { applicationId, append, stub, device } = await start();
  const ad = (key_day: number, day: string) =>
    eventOf(applicationId, device, 'custom.ad', { keys: ['e:1'], key_day, day, clock_ahead: true });
  // Sent three times, days apart, with the same time ahead of ours; then another one on the day of the first.
  const repeats = ['2026-03-02', '2026-03-08', '2026-03-14'].map((day) => ad(30_000, day));
  const events = [...repeats, ad(29_990, '2026-03-02')];
  await append(events);
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 2 });
});

it.each(['an event', 'a device'])(
  'sets its alarm for %s that arrives when everything was counted',
  async (what) => {
    const { applicationId, append, stub, inside, createDevice, device } = await start();
    const alarm = () => inside((_, state) => state.storage.getAlarm());
    await stub().settle();
    expect(await runDurableObjectAlarm(stub())).toBe(true);
    // Now set for the export of raw events.
    expect(await alarm()).toBeGreaterThan(Date.now() + 60_000);
    if (what === 'a device') await createDevice();
    else await append([eventOf(applicationId, device, 'custom.ad')]);
    expect(await alarm()).toBeLessThanOrEqual(Date.now() + 2_700_000);
  },
);

it('counts by alarm if nothing else triggers it', async () => {
  const { applicationId, append, stub, device, inside } = await start();
  await append([eventOf(applicationId, device, 'custom.ad')]);
  const due = await inside((_, state) => state.storage.getAlarm());
  expect(due).toBeGreaterThan(Date.now());
  expect(due).toBeLessThanOrEqual(Date.now() + 2_700_000);
  await inside((counter) => {
    counter.waitMs = 0;
  });
  expect(await runDurableObjectAlarm(stub())).toBe(true);
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 1, installs: 1 });
  await inside((counter) => counter.alarm());
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 1, installs: 1 });
});

it('ends a run with many rows to add when its devices fill the memory', async () => {
  const { applicationId, append, stub, inside, createDevices } = startCounter();
  const devices = await createDevices(60);
  await stub().settle();
  for (let start = 0; start < devices.length; start += 10) {
    const own = devices.slice(start, start + 10);
    await append(
      own.map((device) => eventOf(applicationId, device, 'custom.ad', { ad_id: `ad of ${device.id}` })),
    );
  }
  // A second commit of the same run would write the rows of the first again.
  const parts = await inside(async (own) => {
    own.fullRun = { events: 1_000, weight: 40_000 };
    await own.eraseEvents([]);
    return (await own.health()).outbox;
  });
  expect(parts).toBe(2);
  expect((await stub().settle()).settled).toBe(true);
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 60, active_device_days: 120 });
});

it('counts more devices in one run than it keeps in memory', async () => {
  const { applicationId, append, stub, inside, createDevices } = startCounter();
  const devices = await createDevices(60);
  await stub().settle();
  await inside((own) => {
    // So many bytes are those of some 20 devices.
    own.fullRun = { events: 1_000, weight: 40_000 };
    own.waitMs = 0;
  });
  // Each device pays twice on one day and once on the next, its events in batches that lie apart.
  for (const [visit, day] of ['2026-03-02', '2026-03-02', '2026-03-03'].entries()) {
    for (let start = 0; start < devices.length; start += 10) {
      await append(
        devices.slice(start, start + 10).map((device) =>
          eventOf(applicationId, device, 'custom.purchase', {
            day,
            value_nanos: 1_000_000_000,
            keys: [`success:t:${device.id}-${visit}`],
            total_purchase_value: visit + 1,
          }),
        ),
      );
    }
  }
  const progressOf = () =>
    inside((_, { storage }) =>
      storage.sql.exec<{ run: number; sequence: number }>('SELECT run, sequence FROM progress').one(),
    );
  const before = await progressOf();
  const written: string[] = [];
  await inside(async (own, { storage }) => {
    const watched = new WatchedStorage(storage);
    own.use(watched.asStorage());
    await own.alarm();
    written.push(...watched.queries.filter((query) => query.startsWith('insert into "device_pages"')));
  });
  const after = await progressOf();
  expect(after.run).toBeGreaterThan(before.run + 2);
  // The sums of all commits are one part of the outbox.
  expect(after.sequence).toBe(before.sequence + 1);
  expect(written.length).toBeGreaterThan(3);
  expect(await rollupOf(applicationId)).toMatchObject({
    purchases: 180,
    purchase_revenue: 180_000_000_000,
    payers: 120,
    active_device_days: 180,
  });
  const last = devices.at(-1)?.id ?? '';
  expect(await stub().readDevice(last)).toMatchObject({ activeDays: '0-2', paidDays: '1-2' });
  expect((await stub().clientTotals({ from: '2026-03-01', to: '2026-03-01' })).totals).toEqual([
    {
      kind: 'purchase',
      currency: 'usd',
      devices: 60,
      devicesWithGap: 0,
      client: '180000000000',
      counted: '180000000000',
    },
  ]);
});

describe('the pace of a counter', () => {
  /** When the alarm rings that counts so many events, after one that rings at once and finds nothing due. */
  async function alarmFor(events: number): Promise<number> {
    const { applicationId, append, device, stub, inside } = await start();
    await stub().settle();
    await append(Array.from({ length: events }, () => eventOf(applicationId, device, 'custom.ad')));
    await inside((counter) => counter.alarm());
    expect((await stub().health()).pending).toBe(events);
    return (await inside((_, state) => state.storage.getAlarm())) ?? 0;
  }

  it.each([
    ['a single event', 1, 2_700_000],
    ['many events', 500, 2_700_000],
  ])(
    'counts %s that nobody asks for after 45 minutes, because more events write fewer rows each',
    async (_, events, waitMs) => {
      const before = Date.now();
      const alarm = await alarmFor(events);
      expect(alarm).toBeGreaterThanOrEqual(before + waitMs);
      expect(alarm).toBeLessThanOrEqual(Date.now() + waitMs);
    },
  );

  it('counts a full run immediately', async () => {
    const { applicationId, append, device, stub, inside } = await start();
    await stub().settle();
    await inside((counter) => {
      counter.fullRun = { ...counter.fullRun, events: 600 };
    });
    await append(Array.from({ length: 600 }, () => eventOf(applicationId, device, 'custom.ad')));
    await inside((counter) => counter.alarm());
    expect((await stub().health()).pending).toBe(0);
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 600 });
  });
});

it('compacts the parts of many runs without changing a sum', async () => {
  const { applicationId, append, stub, device } = await start();
  const RUNS = 18;
  for (let run = 0; run < RUNS; run++) {
    await append([eventOf(applicationId, device, 'custom.ad')]);
    await stub().settle();
  }
  const found = async () => {
    const parts = await partsOf(applicationId, 'rollup_ads', 'segment');
    let impressions = 0;
    for (const data of parts)
      for (const { sums } of await rowsOf('rollup_ads', 'segment', data)) impressions += sums[0] ?? 0;
    return { count: parts.length, impressions };
  };
  expect(await found()).toEqual({ count: RUNS, impressions: RUNS });
  await append([eventOf(applicationId, device, 'custom.ad')]);
  expect(await runDurableObjectAlarm(stub())).toBe(true);
  await stub().settle();
  expect((await found()).impressions).toBe(RUNS + 1);
  expect((await found()).count).toBeLessThan(4);
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: RUNS + 1 });
});
