import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ConvertedSums, nanosOf, RATE_SCALE, RateDigits } from '../../src/reports/engine/converted-sums.ts';

const MAX_LOW = 2 ** 53 - 1;

const low = fc.oneof(
  fc.constant(0),
  fc.constant(MAX_LOW),
  fc.constant(2 ** 20 - 1),
  fc.constant(2 ** 40),
  fc.maxSafeNat(),
);
const high = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  fc.constant(2 ** 52),
  fc.nat(9_007),
  fc.nat(),
);
const rate = fc.oneof(
  fc.constant(1n),
  fc.constant(RATE_SCALE),
  fc.constant((1n << 140n) - 1n),
  fc.constant(1n << 140n),
  fc.bigInt({ min: 1n, max: RATE_SCALE * 10n ** 15n }),
);

it('adds up amounts exactly, whatever their size and the digits of their rates', () => {
  fc.assert(
    fc.property(
      fc.array(rate, { minLength: 1, maxLength: 40 }),
      fc.array(fc.tuple(fc.nat(200), low, high, fc.nat()), { maxLength: 200 }),
      (all, added) => {
        const rates = new RateDigits();
        for (const [number, one] of all.entries()) expect(rates.add(one)).toBe(number);
        const sums = new ConvertedSums();
        const expected = new Map<number, bigint>();
        for (const [group, ownLow, ownHigh, any] of added) {
          const number = any % all.length;
          sums.add(group, ownLow, ownHigh, rates, number);
          const parts = nanosOf(ownLow, ownHigh) * (all[number] ?? 0n);
          expected.set(group, (expected.get(group) ?? 0n) + parts);
        }
        for (let group = 0; group <= 200; group++) expect(sums.of(group)).toBe(expected.get(group));
      },
    ),
  );
});

it('keeps every digit of many of the largest amounts, between sums that are added as a whole', () => {
  const rates = new RateDigits();
  const largest = (1n << 140n) - 1n;
  const number = rates.add(largest);
  const sums = new ConvertedSums();
  for (let index = 0; index < 5_000; index++) sums.add(3, MAX_LOW, 0, rates, number);
  sums.addWhole(3, 7n);
  sums.add(3, -5, 0, rates, number);
  expect(sums.of(3)).toBe((5_000n * BigInt(MAX_LOW) - 5n) * largest + 7n);
  expect(sums.of(2)).toBeUndefined();
});

it('knows the groups that anything was added to', () => {
  const [sums, whole] = [new ConvertedSums(), new ConvertedSums()];
  expect(sums.of(0)).toBeUndefined();
  const rates = new RateDigits();
  sums.add(0, 1, 0, rates, rates.add(5n));
  whole.addWhole(9, 1n);
  expect([sums.of(0), whole.of(9), whole.of(0)]).toEqual([5n, 1n, undefined]);
});
