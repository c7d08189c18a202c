import { describe, expect, it } from 'vitest';
import { type Counter, packEvents } from '#counting';
import { RunScheduler } from '../../src/counting/runs/run-scheduler.ts';
import { openStore } from '../../src/counting/store.ts';
import { eventOf, rollupOf, startCounter } from '../helpers/counter.ts';
import { WatchedStorage } from '../helpers/storage.ts';

// A run gives other calls of its object a turn between its steps. Nothing that happens in such a turn may change a total.

const EVENTS = 1_200;

async function start() {
  const counter = startCounter();
  const created = await counter.createDevice();
  if (created.outcome === 'moved') throw new Error('a new counter has one shard');
  const { device } = created;
  const ads = (count: number, more = {}) =>
    Array.from({ length: count }, () => eventOf(counter.applicationId, device, 'custom.ad', more));
  return { ...counter, device, ads };
}

const preparedIn = ({ storage }: DurableObjectState) =>
  storage.sql.exec<{ n: number }>('SELECT count(*) AS n FROM prepared_writes').one().n;

describe('during a run', () => {
  it('an append and a question are answered, and the append is counted by the next run', async () => {
    const { applicationId, append, stub, device, ads, inside } = await start();
    await append(ads(EVENTS));
    await stub().refreshDestinations();
    const order: string[] = [];
    const note = <Result>(name: string, work: Promise<Result>) => work.finally(() => order.push(name));
    await inside(async (counter) => {
      await Promise.all([
        note('run', counter.settle()),
        note('question', counter.readDevice(device.id)),
        note('append', counter.append(packEvents(applicationId, ads(5)))),
      ]);
    });
    expect(order).toEqual(['question', 'append', 'run']);
    expect((await stub().health()).pending).toBe(5);
    expect((await stub().settle()).settled).toBe(true);
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: EVENTS + 5, installs: 1 });
  });

  it('a device is erased only after it, so that everything that arrived before is counted', async () => {
    const { applicationId, append, stub, device, ads, inside } = await start();
    await append(ads(EVENTS));
    await inside(async (counter) => {
      const [settled, erased] = await Promise.all([counter.settle(), counter.eraseDevice(device.id)]);
      expect(settled.settled).toBe(true);
      expect(erased).toEqual({ found: true, events: EVENTS + 1, told: [] });
    });
    expect(await stub().readDevice(device.id)).toBeNull();
    await stub().settle();
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: EVENTS, installs: 1 });
  });

  it('a device is erased only after everything that arrived before, however many runs it takes', async () => {
    const { applicationId, append, stub, device, ads, inside } = await start();
    for (let batch = 0; batch < 3; batch++) await append(ads(10));
    await inside(async (counter) => {
      counter.fullRun = { ...counter.fullRun, events: 10 };
      expect(await counter.eraseDevice(device.id)).toEqual({ found: true, events: 31, told: [] });
    });
    await stub().settle();
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 30, installs: 1 });
  });

  it('nothing is done that needs all runs to have ended, even if it starts just then', async () => {
    const { applicationId, append, ads, inside } = await start();
    await append(ads(1));
    await inside(async (counter, { storage }) => {
      const store = openStore(storage);
      const scheduler = new RunScheduler({
        outbound: async () => [],
        ...{ store: () => store, storage: () => storage, applicationId: () => applicationId },
        ...{ fullRun: () => counter.fullRun, waitMs: () => counter.waitMs },
      });
      scheduler.begin(storage, store);
      while (await scheduler.countNext());
      // Whoever waits for the last run starts another as soon as it ends.
      const next = scheduler.countNext().then(() => scheduler.countNext());
      const isRunning = await scheduler.betweenRuns(() => scheduler.deviceVersion === null);
      expect(isRunning).toBe(false);
      await next;
    });
  });

  it('reports and alarms share it instead of starting another', async () => {
    const { applicationId, append, ads, inside } = await start();
    await append(ads(EVENTS));
    await inside(async (counter) => {
      counter.waitMs = 0;
      await Promise.all([counter.settle(), counter.alarm(), counter.settle(), counter.eraseEvents([])]);
    });
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: EVENTS, installs: 1 });
  });

  it('everything is deleted only after it, and stays deleted', async () => {
    const { append, ads, inside } = await start();
    await append(ads(EVENTS));
    await inside(async (counter) => {
      await Promise.all([counter.settle(), counter.deleteAll()]);
      expect(await counter.health()).toMatchObject({ pending: 0, devices: 0, outbox: 0 });
    });
  });

  it('nothing is left that would ring for what was deleted', async () => {
    const { append, ads, inside } = await start();
    await append(ads(1));
    await inside(async (counter, { storage }) => {
      expect(await storage.getAlarm()).not.toBeNull();
      await counter.deleteAll();
      expect(await storage.getAlarm()).toBeNull();
    });
  });

  it('a question is answered, and answered anew after it', async () => {
    const { applicationId, append, inside, createDevices, stub } = startCounter();
    const devices = await createDevices(60);
    await stub().settle();
    await append(devices.map((device) => eventOf(applicationId, device, 'custom.purchase')));
    await append(devices.map((device) => eventOf(applicationId, device, 'custom')));
    const query = { periods: [{ from: '2026-03-01', to: '2026-03-31' }], by: [], filter: {} };
    await inside(async (counter) => {
      let isRunning = true;
      const run = counter.settle().finally(() => {
        isRunning = false;
      });
      const during = await counter.payers(query);
      expect(isRunning).toBe(true);
      await run;
      expect(during).toEqual([]);
      expect(await counter.payers(query)).toMatchObject([{ devices: 60 }]);
    });
  });
});

describe('a run that stops after a commit', () => {
  const SAVE_PAGE = /^insert into "device_pages"/;

  /** Starts the object again on its storage, as after it was killed. */
  const restart = (counter: Counter, { storage }: DurableObjectState) => counter.use(storage);

  it('is finished by the next start: device state, sums and nothing twice', async () => {
    const { applicationId, append, stub, device, ads, inside } = await start();
    await stub().settle();
    await append(ads(10, { total_ad_value: 0.02 }));
    await inside(async (counter, state) => {
      const watched = new WatchedStorage(state.storage);
      watched.failOn(SAVE_PAGE, 'before');
      counter.use(watched.asStorage());
      await expect(counter.settle()).rejects.toThrow();
      expect(preparedIn(state)).toBe(1);
      expect(await counter.readDevice(device.id)).toMatchObject({ activeDays: '0' });
      restart(counter, state);
      expect(preparedIn(state)).toBe(0);
      expect(await counter.readDevice(device.id)).toMatchObject({ activeDays: '0-1' });
    });
    expect((await stub().settle()).settled).toBe(true);
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 10, active_device_days: 2 });
  });

  it('is finished by the next run if the object lives on', async () => {
    const { applicationId, append, stub, device, ads, inside } = await start();
    await stub().settle();
    await append(ads(10));
    await inside(async (counter, state) => {
      const watched = new WatchedStorage(state.storage);
      watched.failOn(SAVE_PAGE, 'before');
      counter.use(watched.asStorage());
      await expect(counter.settle()).rejects.toThrow();
      expect((await counter.settle()).settled).toBe(true);
      expect(preparedIn(state)).toBe(0);
    });
    expect(await stub().readDevice(device.id)).toMatchObject({ activeDays: '0-1' });
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 10, active_device_days: 2 });
  });

  it('publishes the sums of the commits before it stopped', async () => {
    const { applicationId, append, stub, inside, createDevices } = startCounter();
    const devices = await createDevices(60);
    await stub().settle();
    for (let start = 0; start < devices.length; start += 20) {
      const own = devices.slice(start, start + 20);
      await append(own.map((device) => eventOf(applicationId, device, 'custom.ad')));
    }
    await inside(async (own, state) => {
      // The devices of one batch fill the memory, so each batch is a commit.
      own.fullRun = { events: 1_000, weight: 20_000 };
      const watched = new WatchedStorage(state.storage);
      watched.failOn(/^update "progress" set "counted_batch"/, 'commit');
      own.use(watched.asStorage());
      await expect(own.eraseEvents([])).rejects.toThrow();
      // It knows that the sums of the first batch are not in the outbox yet.
      expect(await own.health()).toMatchObject({ pending: 60, outbox: 0 });
      restart(own, state);
      expect(preparedIn(state)).toBe(0);
      expect(await own.health()).toMatchObject({ pending: 40, outbox: 1 });
    });
    expect((await stub().settle()).settled).toBe(true);
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 60, active_device_days: 120 });
  });

  it('that did not commit leaves nothing', async () => {
    const { applicationId, append, stub, ads, inside } = await start();
    await stub().settle();
    await append(ads(10));
    await inside(async (counter, state) => {
      const watched = new WatchedStorage(state.storage);
      watched.failOn(/^update "progress"/, 'before');
      counter.use(watched.asStorage());
      await expect(counter.settle()).rejects.toThrow();
      expect(preparedIn(state)).toBeGreaterThan(0);
      restart(counter, state);
      expect(preparedIn(state)).toBe(0);
      expect(await counter.health()).toMatchObject({ pending: 10, outbox: 0 });
    });
    expect((await stub().settle()).settled).toBe(true);
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 10 });
  });
});
