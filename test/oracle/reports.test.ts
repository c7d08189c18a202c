import { describe } from 'vitest';
import { describeEveryReport } from './every-report.ts';
import { CHANGING_RATES } from './setup.ts';

// One counter and several, clocks that change and that do not, rates that are missing and that change. reports.slow.test.ts has more.
describe.each([
  { zone: 'America/New_York', currency: 'usd', seed: 2, shards: 4, doubts: 'exclude' },
  { zone: 'Australia/Lord_Howe', currency: 'jpy', seed: 3 },
  { zone: 'America/Sao_Paulo', currency: 'jpy', seed: 6, published: CHANGING_RATES, shards: 8 },
] as const)('every figure in $zone, in $currency (seed $seed)', describeEveryReport);
