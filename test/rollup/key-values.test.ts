import { expect, it } from 'vitest';
import { KeyValues } from '../../src/rollup/key-values.ts';
import { Additions } from '../../src/rollup/tables.ts';

it('returns the values of any key, however many values there are', () => {
  const values = new KeyValues();
  const count = 70_000;
  const parts = Array.from({ length: count }, (_, index) => [
    `name ${index}`,
    index,
    `name ${count - index}`,
  ]);
  const keys = parts.map((own) => own.map((value) => values.textOf(value)).join(''));
  expect(new Set(keys).size).toBe(count);
  const wrong = parts.filter((own, index) => values.read(keys[index] ?? '').join() !== own.join());
  expect(wrong).toEqual([]);
});

it('distinguishes a number from its text, and measures each value once', () => {
  const values = new KeyValues();
  expect(values.read(values.textOf(1) + values.textOf('1'))).toEqual([1, '1']);
  const { weight } = values;
  values.textOf('1');
  expect(values.weight).toBe(weight);
  values.textOf('x'.repeat(1_000));
  expect(values.weight).toBeGreaterThan(weight + 1_000);
});

it('keeps and finds distinct rows beyond 32,768 values', () => {
  const additions = new Additions('rollup_custom');
  const names = Array.from({ length: 33_000 }, (_, index) => `event ${index}`);
  const key = { application_id: 'app', day: '2026-03-01', creative_id: '' };
  for (const event_name of names) additions.add({ ...key, event_name }, 7, { custom_events: 1 });
  for (const event_name of names.slice(-10)) additions.add({ ...key, event_name }, 8, { custom_events: 2 });
  const rows = additions.entries();
  expect(rows).toHaveLength(names.length);
  expect(rows.filter(({ key: own }, index) => !own.includes(names[index] ?? ''))).toEqual([]);
  expect(rows.map(({ sums }) => sums[0]).slice(-11)).toEqual([1n, ...names.slice(-10).map(() => 3n)]);
});
