import { expect, it } from 'vitest';
import { RecentMap } from '#lib/collections/recent-map';

const MAX = 100;

/** A map in which 0, 1, 2 … were set, in this order. */
function filled(count: number): RecentMap<number, string> {
  const map = new RecentMap<number, string>(MAX);
  for (let key = 0; key < count; key++) map.set(key, `value ${key}`);
  return map;
}

/** The keys that are still known, read from the last one on, because reading an old one may drop others. */
const remembered = (map: RecentMap<number, string>, count: number) =>
  Array.from({ length: count }, (_, index) => count - 1 - index).filter((key) => map.get(key) !== undefined);

const lastHalf = (count: number) => Array.from({ length: MAX / 2 }, (_, index) => count - 1 - index);

it('returns what was set last for a key', () => {
  const map = filled(1);
  map.set(0, 'other');
  expect([map.get(0), map.get(1)]).toEqual(['other', undefined]);
});

it.each([1, 49, 50])('remembers all of %d values', (count) => {
  expect(remembered(filled(count), count)).toHaveLength(count);
});

it.each([51, 100, 101, 149, 1000])(
  'remembers the last half of %d values, and at most as many as it may',
  (count) => {
    const kept = remembered(filled(count), count);
    expect(kept.slice(0, MAX / 2)).toEqual(lastHalf(count));
    expect(kept.length).toBeLessThanOrEqual(MAX);
  },
);

it('remembers a value that is read now and then, however many others are set', () => {
  const map = filled(1);
  for (let key = 1; key < 1000; key++) {
    map.set(key, 'other');
    if (key % 40 === 0) map.get(0);
  }
  expect(map.get(0)).toBe('value 0');
});

it('drops nothing when a known key is set again', () => {
  const map = filled(MAX);
  for (let round = 0; round < 2 * MAX; round++) map.set(MAX - 1, 'again');
  expect([map.get(MAX / 2), map.get(0)]).toEqual([`value ${MAX / 2}`, 'value 0']);
});
