import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { amountField, fromNanos, MAX_AMOUNT, toNanos } from '#lib/money';

/** A decimal with some places, as text, and that many places as a whole number: without any floating point. */
const decimal = (units: number, places: number) =>
  fc
    .tuple(fc.integer({ min: 0, max: units }), fc.bigInt({ min: 0n, max: 10n ** BigInt(places) - 1n }))
    .map(([whole, part]) => ({
      text: `${whole}.${String(part).padStart(places, '0')}`,
      digits: BigInt(whole) * 10n ** BigInt(places) + part,
    }));

it('converts every amount of nine decimal places to exact nanos and back', () => {
  return fc.assert(
    // A number has 15 digits of any decimal.
    fc.property(decimal(999_999, 9), ({ text, digits }) => {
      expect(toNanos(Number(text))).toBe(digits);
      expect(fromNanos(digits)).toBe(Number(text));
      expect(fromNanos(-digits)).toBe(0 - Number(text));
    }),
    { numRuns: 5_000 },
  );
});

it('converts every amount of six decimal places, up to the largest', () => {
  return fc.assert(
    fc.property(decimal(MAX_AMOUNT - 1, 6), ({ text, digits }) => {
      expect(toNanos(Number(text))).toBe(digits * 1_000n);
    }),
    { numRuns: 5_000 },
  );
});

it('rounds an amount of more places once, half a billionth up', () => {
  return fc.assert(
    fc.property(decimal(99, 13), ({ text, digits }) => {
      expect(toNanos(Number(text))).toBe((digits + 5_000n) / 10_000n);
    }),
    { numRuns: 5_000 },
  );
});

it.each([
  [0, 0n],
  [-0, 0n],
  [1e-9, 1n],
  [4.9e-10, 0n],
  [5e-10, 1n],
  [5e-324, 0n],
  [0.0000123456, 12_346n],
  // As a binary fraction, this is less than half a billionth.
  [0.0000123455, 12_346n],
  [1.005, 1_005_000_000n],
  [4.35, 4_350_000_000n],
  [0.1 + 0.2, 300_000_000n],
  [-0.0000000015, -2n],
  [MAX_AMOUNT, 999_999_999_000_000_000n],
  [9_000_000_000, 9_000_000_000_000_000_000n],
  [1e21, 10n ** 30n],
])('rounds %d to %d nanos', (amount, nanos) => expect(toNanos(amount)).toBe(nanos));

it('keeps amounts of one event as they were sent, in two decimal places up to the largest', () => {
  return fc.assert(
    fc.property(decimal(MAX_AMOUNT - 1, 2), ({ text, digits }) => {
      // As events carry them.
      const nanos = Number(toNanos(Number(text)));
      expect(BigInt(nanos)).toBe(digits * 10_000_000n);
      expect(fromNanos(BigInt(nanos))).toBe(Number(text));
    }),
    { numRuns: 5_000 },
  );
});

it('shows sums beyond exact numbers as the nearest number, with the exact text beside it', () => {
  expect(fromNanos(9_007_199_254_740_993_000_000_001n)).toBe(9_007_199_254_740_994);
  expect(amountField('spend', 2n ** 53n - 1n)).toEqual({ spend: 9_007_199.254740991 });
  expect(amountField('spend', 2n ** 53n)).toEqual({
    spend: Number('9007199.254740992'),
    spend_exact: '9007199.254740992',
  });
  expect(amountField('spend', -(2n ** 60n))).toEqual({
    spend: -1_152_921_504.606847,
    spend_exact: '-1152921504.606846976',
  });
});
