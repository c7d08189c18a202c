import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Pairs } from '../../src/reports/engine/interned.ts';

it('numbers pairs in order of first use, however many there are', () => {
  const part = fc.oneof(fc.nat(20), fc.nat(2 ** 26 - 1), fc.constantFrom(0, 1, 2 ** 16, 2 ** 26 - 1));
  fc.assert(
    fc.property(fc.array(fc.tuple(part, part), { maxLength: 2_000 }), (asked) => {
      const pairs = new Pairs();
      const numbers = new Map<string, number>();
      for (const [left, right] of asked) {
        const key = `${left}/${right}`;
        const number = numbers.get(key) ?? numbers.size;
        numbers.set(key, number);
        expect(pairs.numberOf(left, right)).toBe(number);
      }
      for (const [key, number] of numbers) expect(pairs.partsOf(number).join('/')).toBe(key);
    }),
    { numRuns: 40 },
  );
});

it('finds pairs among many', () => {
  const pairs = new Pairs();
  for (let left = 0; left < 300; left++) {
    for (let right = 0; right < 200; right++) expect(pairs.numberOf(left, right)).toBe(left * 200 + right);
  }
  for (let left = 0; left < 300; left++) expect(pairs.numberOf(left, 199)).toBe(left * 200 + 199);
  expect(pairs.partsOf(200 * 299 + 7)).toEqual([299, 7]);
});
