import { describe } from 'vitest';
import { describeEveryReport } from './every-report.ts';
import { CHANGING_RATES } from './setup.ts';

// More histories than reports.test.ts has time for.
describe.each([
  { zone: 'Europe/Berlin', currency: 'eur', seed: 1 },
  { zone: 'Australia/Lord_Howe', currency: 'jpy', seed: 3 },
  { zone: 'Asia/Kolkata', currency: 'chf', seed: 4 },
  { zone: 'UTC', currency: 'usd', seed: 5, published: CHANGING_RATES },
  { zone: 'America/Sao_Paulo', currency: 'jpy', seed: 6, published: CHANGING_RATES, shards: 8 },
  // Only the yen lacks a rate, and only in the first days.
  { zone: 'Asia/Tokyo', currency: 'usd', seed: 7, currencies: ['usd', 'eur', 'jpy'] },
])('every figure in $zone, in $currency (seed $seed)', describeEveryReport);
