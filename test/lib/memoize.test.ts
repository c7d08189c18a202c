import { expect, it } from 'vitest';
import { memoize } from '#lib/collections/memoize';

it('computes each result once, and forgets all beyond a number', () => {
  const computed: string[] = [];
  const upper = memoize(2, (text: string) => {
    computed.push(text);
    return text.toUpperCase();
  });
  expect(['a', 'b', 'a', 'b'].map(upper)).toEqual(['A', 'B', 'A', 'B']);
  expect(computed).toEqual(['a', 'b']);
  expect(['c', 'c', 'a'].map(upper)).toEqual(['C', 'C', 'A']);
  expect(computed).toEqual(['a', 'b', 'c', 'a']);
});

it('remembers no failure', () => {
  let calls = 0;
  const fail = memoize(2, (): number => {
    calls++;
    throw new Error('no');
  });
  for (const _ of [1, 2]) expect(() => fail('a')).toThrow('no');
  expect(calls).toBe(2);
});
