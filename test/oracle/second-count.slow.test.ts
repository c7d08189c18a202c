import { describe } from 'vitest';
import { describeSecondCount } from './second-count/second-count.ts';
import { RATES } from './setup.ts';

// A part of the questions. second-count-east and second-count-west ask all of them, divided among four time zones.
describe('no report in Pacific/Apia differs from a second count', () => {
  describeSecondCount({
    ...{ zone: 'Pacific/Apia', currency: 'usd', start: '2026-02-23', seed: 35, shards: 2 },
    ...{ published: RATES, doubts: 'exclude', every: 31 },
  });
});
