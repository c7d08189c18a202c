import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TupleIndex } from '../../src/lib/collections/tuple-index.ts';
import { KeyValues } from '../../src/rollup/key-values.ts';
import { Additions } from '../../src/rollup/tables.ts';
import { rowsOf } from '../helpers/tally.ts';

it('returns each value by its number', () => {
  const values = new KeyValues();
  const names = Array.from({ length: 1_000 }, (_, index) => `name ${index}`);
  const numbers = names.map((name) => values.numberOf(name));
  expect(new Set(numbers).size).toBe(names.length);
  expect(numbers.map((number) => values.valueOf(number))).toEqual(names);
});

it('distinguishes a number from its text, and measures each value once', () => {
  const values = new KeyValues();
  expect([1, '1'].map((value) => values.valueOf(values.numberOf(value)))).toEqual([1, '1']);
  const { weight } = values;
  values.numberOf('1');
  expect(values.weight).toBe(weight);
  values.numberOf('x'.repeat(1_000));
  expect(values.weight).toBeGreaterThan(weight + 1_000);
});

it('numbers tuples in order of first use, as a map of texts does', () => {
  const tuple = fc.tuple(fc.nat({ max: 40 }), fc.nat({ max: 2 }), fc.nat({ max: 2 ** 31 - 1 }));
  fc.assert(
    fc.property(fc.array(tuple, { maxLength: 500 }), fc.array(fc.nat({ max: 499 })), (tuples, repeats) => {
      const index = new TupleIndex(3);
      const expected = new Map<string, number>();
      for (const own of [...tuples, ...repeats.flatMap((place) => [tuples[place] ?? []].filter(isTuple))]) {
        const name = own.join();
        expect(index.find(Int32Array.from(own))).toBe(expected.get(name) ?? -1);
        if (!expected.has(name)) expected.set(name, expected.size);
        const number = index.numberOf(Int32Array.from(own));
        expect(number).toBe(expected.get(name));
        expect([0, 1, 2].map((place) => index.at(number, place))).toEqual([...own]);
      }
      expect(index.size).toBe(expected.size);
    }),
  );
});

const isTuple = (tuple: readonly number[]) => tuple.length === 3;

it('keeps and finds distinct rows beyond 32,768 values', () => {
  const additions = new Additions('rollup_custom');
  const names = Array.from({ length: 33_000 }, (_, index) => `event ${index}`);
  const key = { application_id: 'app', day: '2026-03-01', creative_id: '' };
  for (const event_name of names) additions.add({ ...key, event_name }, 7, { custom_events: 1 });
  for (const event_name of names.slice(-10)) additions.add({ ...key, event_name }, 8, { custom_events: 2 });
  const rows = rowsOf(additions);
  expect(rows).toHaveLength(names.length);
  expect(rows.filter(({ key: own }, index) => !own.includes(names[index] ?? ''))).toEqual([]);
  expect(rows.map(({ sums }) => sums[0]).slice(-11)).toEqual([1n, ...names.slice(-10).map(() => 3n)]);
});
