import { describeZones } from './second-count/second-count.ts';
import { CHANGING_RATES } from './setup.ts';

describeZones([
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
]);
