import { describe } from 'vitest';
import { describeSecondCount } from './second-count/second-count.ts';
import { CHANGING_RATES, RATES } from './setup.ts';

/** Each asks its part of the questions, which takes a quarter of the time. Remove `every` and `first` to ask all questions in all zones. */
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
  {
    zone: 'Asia/Kolkata',
    currency: 'eur',
    start: '2026-02-23',
    seed: 32,
    shards: 3,
    published: CHANGING_RATES,
    first: 1,
    doubts: 'exclude',
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
  {
    zone: 'Pacific/Kiritimati',
    currency: 'usd',
    start: '2026-02-23',
    seed: 34,
    shards: 2,
    published: CHANGING_RATES,
    first: 3,
    doubts: 'flag',
  },
] as const)('no report in $zone differs from a second count', (history) => {
  describeSecondCount({ ...history, every: ZONES });
});
