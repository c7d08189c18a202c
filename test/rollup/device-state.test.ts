import fc from 'fast-check';
import { expect, it } from 'vitest';
import { UNKNOWN_SEGMENT } from '#catalogue';
import { bandOf, readRevenue } from '../../src/rollup/device/device-revenue.ts';
import { type DeviceFacts, type DeviceHistory, RunningDevice } from '../../src/rollup/device/device-state.ts';
import { Journal } from '../../src/rollup/device/journal.ts';
import { firstTimes } from '../../src/rollup/device/step-walk.ts';

const FACTS: DeviceFacts = {
  applicationId: 'app_1',
  acquiredDay: '2026-03-01',
  id: 'dev_1',
  test: false,
  segment: UNKNOWN_SEGMENT,
  activeDays: '',
  activeAges: '',
  paidDays: '',
  launches: '',
  activeVersions: '',
  paidVersions: '',
};
const NOTHING: DeviceHistory = { steps: null, revenue: null };
const start = () => new RunningDevice(FACTS, new Journal());

it.each([
  [0, 0],
  [999, 0],
  [1_000, 1_000],
  [1_499, 1_000],
  [1_500, 1_000],
  [1_999, 1_000],
  // Before 1970, as a device's clock may say.
  [-1, 0],
])('notes a step at %i ms in the second that has begun', (at, second) => {
  const device = start();
  device.reach('ad', at);
  expect(firstTimes(device.toState(NOTHING).state.steps)).toEqual({ ad: second });
});

it('keeps every micro, over any number of runs', () => {
  const earnings = fc.array(
    fc.record({
      kind: fc.constantFrom('ad' as const, 'purchase' as const),
      currency: fc.constantFrom('usd', 'eur'),
      age: fc.integer({ min: 0, max: 400 }),
      micros: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 1e12 })),
    }),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(earnings, fc.integer({ min: 1, max: 9 }), (all, perRun) => {
      let stored = NOTHING;
      const expected = new Map<string, number>();
      for (let first = 0; first < all.length; first += perRun) {
        const device = start();
        for (const { kind, currency, age, micros } of all.slice(first, first + perRun)) {
          device.earn(kind, currency, age, micros);
          const name = `${kind}/${currency}/${bandOf(age)}`;
          expected.set(name, (expected.get(name) ?? 0) + micros);
        }
        const { steps, revenue } = device.toState(stored).state;
        stored = { steps, revenue };
      }
      const sums = readRevenue(stored.revenue).flatMap(({ currency, bands }) =>
        bands.flatMap(({ ad, purchase }, band): [string, number][] => [
          [`ad/${currency}/${band}`, ad],
          [`purchase/${currency}/${band}`, purchase],
        ]),
      );
      expect(new Map(sums.filter(([, sum]) => sum !== 0))).toEqual(expected);
    }),
  );
});

it('is unchanged by what adds nothing, and changed by a single micro', () => {
  const device = start();
  device.earn('ad', 'usd', 0, 0);
  expect(device.isTouched).toBe(false);
  expect(device.toState(NOTHING).isChanged).toBe(false);
  device.earn('ad', 'usd', 0, 1);
  expect(device.toState(NOTHING)).toMatchObject({
    isChanged: true,
    state: { revenue: { usd: { 0: { ad: 1 } } } },
  });
});
