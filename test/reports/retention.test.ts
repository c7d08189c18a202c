import { describe, expect, it } from 'vitest';
import { CohortActivity } from '../../src/reports/cohort-activity.ts';
import { CohortCells } from '../../src/reports/cohort-cells.ts';
import { CohortDetails } from '../../src/reports/cohort-details.ts';

// Ten devices of the 1st, of which four came back on day 1 and two on day 7; five of the 5th, of which one came back on day 1.
const ROWS = [
  { acquiredDay: '2026-03-01', age: 0, active: 10, lastActive: 5 },
  { acquiredDay: '2026-03-01', age: 1, active: 4, lastActive: 3 },
  { acquiredDay: '2026-03-01', age: 7, active: 2, lastActive: 2 },
  { acquiredDay: '2026-03-05', age: 0, active: 5, lastActive: 4 },
  { acquiredDay: '2026-03-05', age: 1, active: 1, lastActive: 1 },
];

const read = (today: string, cohort: 'all' | 'day', limit = 10) => {
  const asked = {
    cohort,
    from: '2026-03-01',
    to: '2026-03-09',
    limit,
    days: [7, 0, 3, 1],
    filters: {},
    today,
  };
  const cells = new CohortCells(asked, new Map());
  const activity = new CohortActivity(cells, asked);
  for (const { acquiredDay, age, active, lastActive } of ROWS.toReversed()) {
    activity.addDevices(acquiredDay, age, active, lastActive);
  }
  return { ranked: activity.rank(), activity };
};

describe('retention', () => {
  it.each<[string, number, string, { eligible: number; active: number; later: number }]>([
    ['everyone on day 0', 0, '2026-03-20', { eligible: 15, active: 15, later: 15 }],
    ['day 1', 1, '2026-03-20', { eligible: 15, active: 5, later: 6 }],
    ['a day on which no one came, but later', 3, '2026-03-20', { eligible: 15, active: 0, later: 2 }],
    ['day 7', 7, '2026-03-20', { eligible: 15, active: 2, later: 2 }],
    ['only cohorts whose day 7 is over', 7, '2026-03-09', { eligible: 10, active: 2, later: 2 }],
    ['no cohort on the very day', 7, '2026-03-08', { eligible: 0, active: 0, later: 0 }],
    ['what came on the very day for earlier days', 3, '2026-03-08', { eligible: 10, active: 0, later: 2 }],
  ])('counts %s', (_, day, today, expected) => {
    const { ranked, activity } = read(today, 'all');
    expect(ranked).toMatchObject({ rows: [{ row: 1, label: '', value: '' }], sizes: [0, 15], cut: null });
    expect(activity.details.of(1, day)).toEqual(expected);
  });

  it('sums up the cohorts that are cut off', () => {
    const { ranked, activity } = read('2026-03-20', 'day', 1);
    expect(ranked.rows).toEqual([{ row: 1, label: '2026-03-05', value: '' }]);
    expect(ranked).toMatchObject({ sizes: [10, 5], cut: { total: 2 } });
    expect(ranked.restDays).toEqual({ first: '2026-03-01', last: '2026-03-01' });
    expect(activity.details.of(0, 1)).toEqual({ eligible: 10, active: 4, later: 5 });
  });
});

it('keeps a bounded number of counts', () => {
  const cells = new CohortCells(
    { cohort: 'day', from: '', to: '', limit: 1, days: [0, 1], filters: {}, today: '2026-03-20' },
    new Map(),
  );
  const details = new CohortDetails(cells.numbers);
  const day = cells.dayOf('2026-03-01');
  for (let cohort = 0; cohort < 600_000 && !details.isFull; cohort++) details.add(cohort, day, 0, 0, 1, 1);
  expect(details.isFull).toBe(true);
});
