import { describe } from 'vitest';
import { describeSecondCount } from './second-count/second-count.ts';
import { CHANGING_RATES, RATES } from './setup.ts';

describe.each([
  // A year and its first week begin.
  { zone: 'UTC', currency: 'usd', start: '2025-12-22', seed: 31, shards: 1, published: RATES },
  {
    zone: 'Asia/Kolkata',
    currency: 'eur',
    start: '2026-02-23',
    seed: 32,
    shards: 3,
    published: CHANGING_RATES,
  },
  // Clocks are set forward on March 8th.
  { zone: 'America/New_York', currency: 'jpy', start: '2026-02-25', seed: 33, shards: 1, published: RATES },
  {
    zone: 'Pacific/Kiritimati',
    currency: 'usd',
    start: '2026-02-23',
    seed: 34,
    shards: 2,
    published: CHANGING_RATES,
  },
])('no report in $zone differs from a second count', describeSecondCount);
