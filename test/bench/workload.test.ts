import { expect, test, vi } from 'vitest';
import { dayIn, daysBetween } from '../../src/lib/time.ts';

test('happens on recent days, although the clock of workerd stands at 1970 while it loads a script', async () => {
  const clock = vi.spyOn(Date, 'now').mockReturnValue(0);
  vi.resetModules();
  const { makeDevices, makeEvents } = await import('./workload.ts');
  clock.mockRestore();
  const devices = makeDevices(1, 50);
  const today = dayIn('UTC', Date.now());
  const ages = devices.map(({ acquiredDay }) => daysBetween(acquiredDay, today));
  expect(Math.min(...ages)).toBeGreaterThanOrEqual(1);
  expect(Math.max(...ages)).toBeLessThanOrEqual(60);
  const stream = makeEvents(1, devices, 1, () => 'evt_1');
  for (let index = 0; index < 20; index++) {
    expect(daysBetween(stream.next().value.day, today)).toBe(1);
  }
});
