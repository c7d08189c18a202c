import { describeZones } from './second-count/second-count.ts';
import { RATES } from './setup.ts';

describeZones([
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
]);
