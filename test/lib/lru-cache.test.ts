import { expect, it } from 'vitest';
import { LruCache } from '#lib/collections/lru-cache';

const keys = (cache: LruCache<string, number>) =>
  ['a', 'b', 'c', 'd'].filter((key) => cache.get(key) !== undefined);

it('drops what was unused for longest, by weight', () => {
  const cache = new LruCache<string, number>(10);
  cache.set('a', 1, 4);
  cache.set('b', 2, 4);
  expect(cache.get('a')).toBe(1);
  cache.set('c', 3, 4);
  expect(keys(cache)).toEqual(['a', 'c']);
});

it('counts the last weight of a value', () => {
  const cache = new LruCache<string, number>(10);
  cache.set('a', 1, 9);
  cache.set('a', 2, 2);
  cache.set('b', 3, 8);
  expect(keys(cache)).toEqual(['a', 'b']);
  cache.set('a', 4, 3);
  expect(keys(cache)).toEqual(['a']);
  expect(cache.get('a')).toBe(4);
});

it('keeps nothing that is too large, and nothing once it is cleared', () => {
  const cache = new LruCache<string, number>(10);
  cache.set('a', 1, 11);
  expect(keys(cache)).toEqual([]);
  cache.set('b', 2, 10);
  expect(keys(cache)).toEqual(['b']);
  cache.clear();
  expect(keys(cache)).toEqual([]);
  cache.set('c', 3, 10);
  expect(keys(cache)).toEqual(['c']);
});
