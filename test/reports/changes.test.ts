import { expect, it } from 'vitest';
import { largestChanges } from '../../src/reports/changes.ts';
import { emptySums } from '../../src/reports/engine/group-table.ts';
import { REST } from '../../src/reports/engine/question.ts';

type Figures = Record<string, number | { nanos: bigint; installs?: number }>;

/** Groups by country, each with its purchase revenue. */
const groups = (figures: Figures) =>
  new Map(
    Object.entries(figures).map(([country, own]) => {
      const { nanos, installs = 1 } = typeof own === 'number' ? { nanos: BigInt(own) * 1_000_000_000n } : own;
      const key = country === REST ? REST : JSON.stringify([country]);
      return [key, { ...emptySums(), purchaseRevenue: nanos, installs }];
    }),
  );

const changes = (now: Figures, before: Figures, count = 3) =>
  largestChanges(['country'], groups(now), groups(before), { metric: 'revenue', also: 'installs', count });

const named = (...asked: Parameters<typeof changes>) =>
  changes(...asked).map(({ row, now, before }) => [row.country, before, now]);

it('ranks groups by how much their metric rose or fell', () => {
  expect(named({ a: 5, b: 1, c: 3, d: 90 }, { a: 1, c: 3, d: 100 })).toEqual([
    ['d', 100, 90],
    ['a', 1, 5],
    ['b', 0, 1],
  ]);
  expect(named({ a: 5, b: 1, d: 90 }, { d: 100 }, 1)).toEqual([['d', 100, 90]]);
});

it('orders equal changes by the columns of the groups', () => {
  expect(named({ d: 2, b: 2, a: 2, c: 2 }, {}, 3).map(([country]) => country)).toEqual(['a', 'b', 'c']);
});

it('has the second metric of both periods', () => {
  expect(changes({ a: { nanos: 5_500_000_000n, installs: 7 } }, { a: { nanos: 0n, installs: 2 } })).toEqual([
    { row: { country: 'a' }, now: 5.5, before: 0, also: { now: 7, before: 2 } },
  ]);
  expect(changes({ a: 5 }, {})).toMatchObject([{ also: { now: 1, before: 0 } }]);
});

it('ignores groups that may only have been cut off', () => {
  expect(named({ a: 5, b: 1 }, { a: 1, [REST]: 9 })).toEqual([['a', 1, 5]]);
  expect(named({ a: 1, [REST]: 9 }, { a: 2, b: 5 })).toEqual([['a', 2, 1]]);
});
