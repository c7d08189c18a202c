import { expect, it } from 'vitest';
import { FOLD_EVENTS, foldIsDue } from '../../src/rollup/fold.ts';

const NOW = Date.UTC(2026, 2, 1, 12);
const isDue = (pending: number, secondsAgo: number) =>
  foldIsDue({ pending, folded_at: NOW - secondsAgo * 1000 }, NOW);

it('counts a quiet log after ten seconds', () => {
  expect(isDue(1, 9)).toBe(false);
  expect(isDue(1, 10)).toBe(true);
  expect(isDue(999, 10)).toBe(true);
});

it('lets a busy log fill for a minute, because a fold of more events writes fewer rows for each', () => {
  expect(isDue(1_000, 59)).toBe(false);
  expect(isDue(1_000, 60)).toBe(true);
});

it('counts at once what fills a fold, and nothing where nothing waits', () => {
  expect(isDue(FOLD_EVENTS, 0)).toBe(true);
  expect(isDue(0, 3_600)).toBe(false);
});
