import { describe } from 'vitest';
import { describeEveryReport } from './every-report.ts';

// Several counters, a clock that changes, rates that are missing, doubted installs left out. reports.slow.test.ts has more.
describe.each([
  { zone: 'America/New_York', currency: 'usd', seed: 2, shards: 4, doubts: 'exclude' },
] as const)('every figure in $zone, in $currency (seed $seed)', describeEveryReport);
