import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { countDays, DaySet, readRuns } from '#lib/collections/day-set';

const days = fc.array(fc.integer({ min: -20, max: 60 }));
const setOf = (added: readonly number[], text = '') => {
  const set = DaySet.parse(text);
  for (const day of added) set.add(day);
  return set;
};

it('contains the same numbers as a Set, and reports which are new', () => {
  return fc.assert(
    fc.property(days, (added) => {
      const oracle = new Set<number>();
      const set = DaySet.parse('');
      for (const day of added) {
        expect(set.add(day)).toBe(!oracle.has(day));
        oracle.add(day);
        expect(set.add(day)).toBe(false);
      }
      const members = readRuns(`${set}`).flatMap(([first, last]) =>
        Array.from({ length: last - first + 1 }, (_, at) => first + at),
      );
      expect(members).toEqual([...oracle].sort((left, right) => left - right));
      expect(countDays(`${set}`)).toBe(oracle.size);
      expect(set.last).toBe(added.length === 0 ? null : Math.max(...added));
    }),
  );
});

it('has one text form, whatever the order of additions and intermediate storage', () => {
  return fc.assert(
    fc.property(days, days, (first, second) => {
      const sorted = [...first, ...second].sort((left, right) => left - right);
      expect(setOf(second, `${setOf(first)}`).toString()).toBe(`${setOf(sorted)}`);
    }),
  );
});

it('writes runs short', () => {
  expect(`${setOf([0, 1, 2, 7, 30, 31])}`).toBe('0-2,7,30-31');
  expect(`${setOf([-3, -2, 0])}`).toBe('-3--2,0');
  expect(`${setOf([2, 0, 1])}`).toBe('0-2');
});

it.each(['0-2;7', 'NaN', '1,,2'])('refuses %s, which is not a day set', (text) => {
  expect(() => DaySet.parse(text)).toThrow('not a day set');
});
