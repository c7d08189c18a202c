import { describe } from 'vitest';
import { describeSecondCount } from './second-count/second-count.ts';
import { CHANGING_RATES } from './setup.ts';

/** Each zone of this file and of second-count-west.slow.test.ts asks its part of the questions. Remove `every` and `first` to ask all in all. */
const ZONES = 4;

describe.each([
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
