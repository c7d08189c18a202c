import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { addDay, EMPTY_DAY_SET, hasDay, lastDay } from '#lib/day-set';

const days = fc.array(fc.integer({ min: -20, max: 60 }));

it('holds what a Set of the same numbers holds', () => {
  return fc.assert(
    fc.property(days, (added) => {
      const oracle = new Set(added);
      const set = added.reduce(addDay, EMPTY_DAY_SET);
      for (let day = -22; day <= 62; day++) expect(hasDay(set, day)).toBe(oracle.has(day));
      expect(lastDay(set)).toBe(added.length === 0 ? null : Math.max(...added));
    }),
  );
});

it('is written in one way, whatever the order of adding', () => {
  return fc.assert(
    fc.property(days, (added) => {
      const sorted = [...added].sort((left, right) => left - right);
      expect(added.reduce(addDay, EMPTY_DAY_SET)).toBe(sorted.reduce(addDay, EMPTY_DAY_SET));
    }),
  );
});

it('writes runs short', () => {
  expect([0, 1, 2, 7, 30, 31].reduce(addDay, EMPTY_DAY_SET)).toBe('0-2,7,30-31');
  expect([-3, -2, 0].reduce(addDay, EMPTY_DAY_SET)).toBe('-3--2,0');
});

it('refuses what is no day set', () => {
  expect(() => hasDay('0-2;7', 7)).toThrow('not a day set');
});
