import fc from 'fast-check';
import { expect, it } from 'vitest';
import { amountShares, wholeShares } from '#lib/shares';

it.each([
  [0.0125, 1, [0.0125]],
  [0.01, 3, [0.003333334, 0.003333333, 0.003333333]],
  [0, 2, [0, 0]],
])('shares %d among %d', (amount, count, shares) => {
  expect(amountShares(amount, count)).toEqual(shares);
});

it('adds up to the whole, in shares that differ by at most one', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e12 }), fc.integer({ min: 1, max: 500 }), (total, count) => {
      const shares = wholeShares(total, count);
      expect(shares).toHaveLength(count);
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(total);
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
    }),
  );
});
