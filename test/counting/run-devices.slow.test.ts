import { expect, it, vi } from 'vitest';
import { addDays } from '#lib/time';
import { RunDevices } from '../../src/counting/runs/run-devices.ts';
import { eventOf, rollupOf, startCounter } from '../helpers/counter.ts';

const DEVICES = 60;
const DAYS = 40;
const VISITS = 5;
const DEVICES_PER_BATCH = 2;
/** About half of the devices, with what is stored of their days. */
const WEIGHT = 80_000;

it('reads no more devices than fit into the memory of a run, however long their histories are', async () => {
  const { applicationId, append, stub, inside, createDevices } = startCounter();
  const devices = await createDevices(DEVICES);
  // Every other day, with another version each, so that nothing of it is a range.
  for (let day = 0; day < DAYS; day++) {
    const more = { day: addDays('2026-03-02', 2 * day), app_version: `1.${day}` };
    await append(devices.map((device) => eventOf(applicationId, device, 'custom.ad', more)));
  }
  expect((await stub().settle()).settled).toBe(true);

  for (let visit = 0; visit < VISITS; visit++) {
    for (let start = 0; start < DEVICES; start += DEVICES_PER_BATCH) {
      const own = devices.slice(start, start + DEVICES_PER_BATCH);
      await append(own.map((device) => eventOf(applicationId, device, 'custom.ad', { day: '2026-06-01' })));
    }
  }
  const { load } = RunDevices.prototype;
  const shares: number[] = [];
  const watched = vi.spyOn(RunDevices.prototype, 'load').mockImplementation(function* (
    this: RunDevices,
    heads,
    room,
  ) {
    yield* load.call(this, heads, room);
    shares.push(this.weight / room);
  });
  // An erasure counts in full runs what waits.
  await inside(async (counter) => {
    counter.fullRun = { events: 10_000, weight: WEIGHT };
    await counter.eraseEvents([]);
  });
  watched.mockRestore();
  expect((await stub().settle()).settled).toBe(true);
  expect(Math.max(...shares)).toBeLessThan(1);
  // Some fill the memory, so that devices are not read in vain for each batch.
  expect(Math.max(...shares)).toBeGreaterThan(0.6);
  expect(shares.length).toBeLessThan((VISITS * DEVICES) / DEVICES_PER_BATCH / 5);
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: DEVICES * (DAYS + VISITS) });
});
