import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { fromMicros, MAX_AMOUNT, toMicros } from '#lib/money';

/** A decimal of up to six places as text and, without any floating point, as micros. */
const decimal = fc
  .tuple(fc.integer({ min: 0, max: MAX_AMOUNT - 1 }), fc.integer({ min: 0, max: 999_999 }))
  .map(([units, micros]) => ({
    text: `${units}.${String(micros).padStart(6, '0')}`,
    micros: BigInt(units) * 1_000_000n + BigInt(micros),
  }));

it('converts every amount of six decimal places to exact micros and back', () => {
  return fc.assert(
    fc.property(decimal, ({ text, micros }) => {
      expect(BigInt(toMicros(Number(text)))).toBe(micros);
      expect(fromMicros(micros)).toBe(Number(text));
      expect(fromMicros(-micros)).toBe(0 - Number(text));
    }),
    { numRuns: 5_000 },
  );
});

it.each([
  [0, 0],
  [0.000001, 1],
  [0.0000004, 0],
  [0.0000006, 1],
  [1.005, 1_005_000],
  [0.1 + 0.2, 300_000],
])('rounds %d to %d micros', (amount, micros) => expect(toMicros(amount)).toBe(micros));

it('shows sums beyond exact numbers as the nearest number', () => {
  expect(fromMicros(9_007_199_254_740_993_000_001n)).toBe(9_007_199_254_740_994);
});
