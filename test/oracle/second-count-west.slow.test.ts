import { describe } from 'vitest';
import { describeSecondCount } from './second-count/second-count.ts';
import { RATES } from './setup.ts';

/** Each zone of this file and of second-count-east.slow.test.ts asks its part of the questions. Remove `every` and `first` to ask all in all. */
const ZONES = 4;

describe.each([
  // A year and its first week begin.
  {
    zone: 'UTC',
    currency: 'usd',
    start: '2025-12-22',
    seed: 31,
    shards: 1,
    published: RATES,
    first: 0,
    doubts: 'flag',
  },
  // Clocks are set forward on March 8th.
  {
    zone: 'America/New_York',
    currency: 'jpy',
    start: '2026-02-25',
    seed: 33,
    shards: 1,
    published: RATES,
    first: 2,
    doubts: 'exclude',
  },
] as const)('no report in $zone differs from a second count', (history) => {
  describeSecondCount({ ...history, every: ZONES });
});
