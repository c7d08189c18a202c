import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DeviceFilter, packEvents } from '#counting';
import { newId } from '#lib/ids';
import { deviceDaysOf, pageOf, readFacts } from '../../src/counting/devices/device-pages.ts';
import { hashOfDevice } from '../../src/counting/pack.ts';
import { openStore } from '../../src/counting/store.ts';
import { eventOf, installOf, newDevice, rollupOf, startCounter } from '../helpers/counter.ts';
import { settleAll } from '../helpers/settle.ts';
import { WatchedStorage } from '../helpers/storage.ts';

// What was counted for devices is packed, many of them per row, on pages that are divided as they grow.

const EVER = { from: '2000-01-01', to: '2100-01-01' };
const FUNNEL = {
  cohort: EVER,
  filter: {},
  groupBy: null,
  windowSeconds: null,
  maxDurations: 1_000,
  maxGroups: 1,
};

type Started = ReturnType<typeof startCounter>;

/** Creates devices that were acquired on one day. */
async function createAll({ stub, applicationId }: Started, count: number, acquiredDay = '2026-03-01') {
  const wanted = Array.from({ length: count }, () => newDevice({ id: newId('dev'), acquiredDay }));
  const installs = packEvents(
    applicationId,
    wanted.map((device) => installOf(applicationId, device)),
  );
  await stub().createOrFindDevices(
    1,
    wanted.map((device) => ({ alias: null, device })),
    installs,
  );
  return wanted;
}

const pagesOf = ({ inside }: Started) =>
  inside((_, { storage }) => ({
    counted: storage.sql.exec<{ pages: number }>('SELECT pages FROM device_days').toArray(),
    stored: storage.sql.exec<{ n: number }>('SELECT count(*) AS n FROM device_pages').one().n,
  }));

const reached = async ({ stub }: Started, steps: string[], filter: DeviceFilter = {}) =>
  (await stub().funnel({ ...FUNNEL, filter, steps }))[0]?.devices ?? steps.map(() => 0);

describe('dividing hashes into pages', () => {
  it('gives every hash one page, and one more page takes only from the page that it had among fewer', () => {
    const count = fc.integer({ min: 1, max: 3_000 });
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 32 - 1 }), count, count, (hash, pages, more) => {
        const page = pageOf(hash, pages);
        expect(page).toBeGreaterThanOrEqual(0);
        expect(page).toBeLessThan(pages);
        expect(pageOf(pageOf(hash, pages + more), pages)).toBe(page);
      }),
    );
  });

  it('uses all pages about equally', () => {
    const sizes = new Map<number, number>();
    for (let index = 0; index < 12_800; index++) {
      const page = pageOf(Math.imul(index, 0x9e3779b1) >>> 0, 128);
      sizes.set(page, (sizes.get(page) ?? 0) + 1);
    }
    expect(sizes.size).toBe(128);
    expect(Math.max(...sizes.values())).toBeLessThan(200);
  });
});

describe('a day with more devices than fit on a page', () => {
  it('gets more pages, and every device keeps what was counted for it', async () => {
    const counter = startCounter();
    const first = await createAll(counter, 100);
    await settleAll(counter.applicationId, 1);
    const before = await pagesOf(counter);
    const more = await createAll(counter, 1_100);
    await counter.append(
      first.slice(0, 50).map((device) => eventOf(counter.applicationId, device, 'custom.ad')),
    );
    await settleAll(counter.applicationId, 1);
    const after = await pagesOf(counter);
    expect(after.counted[0]?.pages).toBeGreaterThan((before.counted[0]?.pages ?? 0) * 4);
    expect(after.stored).toBe(after.counted[0]?.pages);
    expect(await reached(counter, ['install', 'ad'])).toEqual([1_200, 50]);
    // Devices that moved to another page, and those that did not, are found and counted further.
    await counter.append(
      [...first, ...more].map((device) =>
        eventOf(counter.applicationId, device, 'custom.purchase', { day: '2026-03-03' }),
      ),
    );
    await settleAll(counter.applicationId, 1);
    expect(await reached(counter, ['install', 'purchase'])).toEqual([1_200, 1_200]);
    expect(await rollupOf(counter.applicationId)).toMatchObject({ installs: 1_200, payers: 1_200 });
    const [one] = first;
    expect(await counter.stub().readDevice(one?.id ?? '')).toMatchObject({
      activeDays: '0-2',
      paidDays: '2',
    });
  });

  it('is read without a device missing or twice while pages are added', async () => {
    const counter = startCounter();
    await createAll(counter, 3_000);
    await settleAll(counter.applicationId, 1);
    const added = await createAll(counter, 3_000);
    await counter.inside(async (own) => {
      const asked = Array.from({ length: 20 }, async () => {
        const [group] = await own.funnel({ ...FUNNEL, steps: ['install'] });
        return group?.devices[0] ?? 0;
      });
      const counts = (await Promise.all([own.settle(), ...asked])).slice(1) as number[];
      for (const count of counts) {
        expect(count).toBeGreaterThanOrEqual(3_000);
        expect(count).toBeLessThanOrEqual(3_000 + added.length);
      }
    });
    await settleAll(counter.applicationId, 1);
    expect(await reached(counter, ['install'])).toEqual([6_000]);
  });

  it('lets other calls in between while it is read', async () => {
    const counter = startCounter();
    const [one] = await createAll(counter, 3_000);
    await settleAll(counter.applicationId, 1);
    const period = { from: '2026-03-01', to: '2026-03-01' };
    const order: string[] = [];
    const note = <Result>(name: string, work: Promise<Result>) => work.finally(() => order.push(name));
    await counter.inside(async (own) => {
      await Promise.all([
        note('totals', own.clientTotals(period)),
        note('payers', own.payers({ periods: [period], by: [], filter: {} })),
        note('device', own.readDevice(one?.id ?? '')),
      ]);
    });
    expect(order).toEqual(['device', 'totals', 'payers']);
  });

  it('is complete after the object was stopped between two parts of its pages', async () => {
    const counter = startCounter();
    const first = await createAll(counter, 150);
    await settleAll(counter.applicationId, 1);
    await createAll(counter, 9_000);
    await createAll(counter, 11_000, '2026-03-02');
    await counter.inside(async (own, state) => {
      const watched = new WatchedStorage(state.storage);
      watched.failOn(/^insert into "device_days"/, 'before');
      own.use(watched.asStorage());
      // On a busy machine, a call returns before the run ends.
      const settleAll = async () => {
        while (!(await own.settle()).settled);
      };
      await expect(settleAll()).rejects.toThrow();
      // The pages are there, but the day does not count them yet.
      expect(state.storage.sql.exec('SELECT pages FROM device_days').toArray()).toEqual([{ pages: 2 }]);
      const cohort = { from: '2026-03-01', to: '2026-03-01' };
      const [group] = await own.funnel({ ...FUNNEL, cohort, steps: ['install'] });
      expect(group?.devices[0]).toBe(9_150);
      for (const { id } of first) expect(await own.readDevice(id)).toMatchObject({ activeDays: '0' });
      own.use(state.storage);
    });
    // A question completes what was committed. How many devices that is depends on what they weigh.
    const [committed] = await reached(counter, ['install']);
    expect(committed).toBeGreaterThan(9_150);
    await settleAll(counter.applicationId, 1);
    expect(await reached(counter, ['install'])).toEqual([20_150]);
  });
});

it('writes one row for all changed devices of a page, and none for its day, whose pages are as many', async () => {
  const counter = startCounter();
  const devices = await createAll(counter, 30);
  await settleAll(counter.applicationId, 1);
  await counter.append(devices.map((device) => eventOf(counter.applicationId, device, 'custom.ad')));
  const written = await counter.inside(async (own, { storage }) => {
    const watched = new WatchedStorage(storage);
    own.use(watched.asStorage());
    while (!(await own.settle()).settled);
    return watched.queries.filter((query) => /^insert into "device_(pages|days)"/.test(query));
  });
  expect(written).toHaveLength(1);
  expect(written[0]).toContain('"device_pages"');
});

it('counts for a device whose events were sent with different acquisition days only those with its own', async () => {
  const counter = startCounter();
  const [device] = await createAll(counter, 1);
  if (!device) throw new Error('one device was created');
  await counter.append([eventOf(counter.applicationId, device, 'custom.ad')]);
  await settleAll(counter.applicationId, 1);
  const moved = { ...device, acquiredDay: '2026-02-20' };
  // In this order, the last day that a batch names for the device is not its own.
  await counter.append([
    eventOf(counter.applicationId, device, 'custom.ad', { day: '2026-03-05' }),
    eventOf(counter.applicationId, moved, 'custom.ad'),
  ]);
  await settleAll(counter.applicationId, 1);
  expect(await rollupOf(counter.applicationId)).toMatchObject({ impressions: 2 });
  expect(await counter.stub().readDevice(device.id)).toMatchObject({ activeDays: '0-1,4' });
});

/** The devices that are on another page than the one that their id belongs on. */
const misplaced = ({ inside }: Started) =>
  inside((_, { storage }) => {
    const store = openStore(storage);
    return deviceDaysOf(store, EVER).flatMap((day) =>
      Array.from({ length: day.pages }, (_, page) => readFacts(store, day, page))
        .flatMap((rows, page) => rows.map(([id]) => ({ id, page })))
        .filter(({ id, page }) => pageOf(hashOfDevice(id)[0], day.pages) !== page),
    );
  });

it('an erased device stays on its page under another id, and moves like any other when pages are added', async () => {
  const counter = startCounter();
  const devices = await createAll(counter, 500);
  await settleAll(counter.applicationId, 1);
  expect((await pagesOf(counter)).stored).toBeGreaterThan(1);
  for (const { id } of devices.slice(0, 20)) {
    await counter.stub().eraseDevice(id);
    expect(await counter.stub().readDevice(id)).toBeNull();
  }
  expect(await reached(counter, ['install'])).toEqual([500]);
  expect(await misplaced(counter)).toEqual([]);
  await createAll(counter, 500);
  await settleAll(counter.applicationId, 1);
  expect(await reached(counter, ['install'])).toEqual([1_000]);
  expect(await misplaced(counter)).toEqual([]);
});
