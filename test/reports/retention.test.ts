import { describe, expect, it } from 'vitest';
import { type ActivityRow, cohortSize, retentionOf } from '../../src/reports/metrics.ts';

// Two cohorts: ten devices of the 1st, of which four came back on day 1 and two on day 7; five of the 5th, of which one came
// back on day 1.
const rows: ActivityRow[] = [
  { acquiredDay: '2026-03-01', age: 0, active: 10, lastActive: 5 },
  { acquiredDay: '2026-03-01', age: 1, active: 4, lastActive: 3 },
  { acquiredDay: '2026-03-01', age: 7, active: 2, lastActive: 2 },
  { acquiredDay: '2026-03-05', age: 0, active: 5, lastActive: 4 },
  { acquiredDay: '2026-03-05', age: 1, active: 1, lastActive: 1 },
];

describe('retentionOf', () => {
  it.each<[string, number, string, Record<string, number | boolean | null>]>([
    [
      'everyone on day 0',
      0,
      '2026-03-20',
      { eligible: 15, complete: true, active: 15, classic: 1, rolling: 1 },
    ],
    ['day 1', 1, '2026-03-20', { eligible: 15, complete: true, active: 5, classic: 5 / 15, rolling: 6 / 15 }],
    [
      'a day without anyone, who came later',
      3,
      '2026-03-20',
      { eligible: 15, complete: true, active: 0, classic: 0, rolling: 2 / 15 },
    ],
    ['day 7', 7, '2026-03-20', { eligible: 15, complete: true, active: 2, classic: 2 / 15, rolling: 2 / 15 }],
    [
      'only cohorts whose day 7 is over',
      7,
      '2026-03-09',
      { eligible: 10, complete: false, active: 2, classic: 0.2, rolling: 0.2 },
    ],
    [
      'no cohort on the very day',
      7,
      '2026-03-08',
      { eligible: 0, complete: false, active: 0, classic: null, rolling: null },
    ],
  ])('returns %s', (_, day, today, expected) => expect(retentionOf(rows, day, today)).toEqual(expected));

  it('sizes cohorts by their installs', () => expect(cohortSize(rows)).toBe(15));
});
