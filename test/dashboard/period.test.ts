import { expect, it } from 'vitest';
import {
  comparedDays,
  comparedWholeDays,
  daysBegun,
  daysOfPeriod,
} from '../../src/dashboard/shell/period.ts';

const TODAY = '2026-03-15';

type View = Parameters<typeof comparedDays>[0];
const compared = (view: Pick<View, 'period' | 'from' | 'to'> & Partial<View>) =>
  comparedDays({ today: TODAY, comparison: 'previous', isFirstDay: false, ...view });

it.each([
  ['today', '2026-03-15', '2026-03-15'],
  ['yesterday', '2026-03-14', '2026-03-14'],
  // Whole days.
  ['7d', '2026-03-08', '2026-03-14'],
  ['28d', '2026-02-15', '2026-03-14'],
  ['90d', '2025-12-15', '2026-03-14'],
  // A Sunday.
  ['week', '2026-03-09', '2026-03-15'],
  ['last_week', '2026-03-02', '2026-03-08'],
  ['month', '2026-03-01', '2026-03-15'],
  ['last_month', '2026-02-01', '2026-02-28'],
  ['all', '2025-11-30', '2026-03-15'],
] as const)('%s is %s to %s', (period, from, to) =>
  expect(daysOfPeriod(period, TODAY, '2025-11-30')).toEqual({ from, to }),
);

it('starts all time today if there is no earlier data', () => {
  expect(daysOfPeriod('all', TODAY)).toEqual({ from: TODAY, to: TODAY });
  expect(daysOfPeriod('all', TODAY, '2026-04-01')).toEqual({ from: TODAY, to: TODAY });
});

it.each([
  // Today is left out of both sides, as the last day of the earlier period is.
  ['custom', '2026-03-09', '2026-03-15', 'previous', '2026-03-14', '2026-03-02', '2026-03-07'],
  ['7d', '2026-03-08', '2026-03-14', 'previous', '2026-03-14', '2026-03-01', '2026-03-07'],
  ['custom', '2026-03-01', '2026-03-07', 'previous', '2026-03-07', '2026-02-22', '2026-02-28'],
  ['custom', '2026-03-10', '2026-03-20', 'previous', '2026-03-14', '2026-02-27', '2026-03-03'],
  ['yesterday', '2026-03-14', '2026-03-14', 'previous', '2026-03-14', '2026-03-13', '2026-03-13'],
  ['month', '2026-03-01', '2026-03-15', 'previous', '2026-03-14', '2026-02-01', '2026-02-14'],
  ['last_month', '2026-02-01', '2026-02-28', 'previous', '2026-02-28', '2026-01-01', '2026-01-31'],
  ['week', '2026-03-09', '2026-03-15', 'previous', '2026-03-14', '2026-03-02', '2026-03-07'],
  ['last_week', '2026-03-02', '2026-03-08', 'previous', '2026-03-08', '2026-02-23', '2026-03-01'],
  ['yesterday', '2026-03-14', '2026-03-14', 'weekdays', '2026-03-14', '2026-03-07', '2026-03-07'],
  ['28d', '2026-02-15', '2026-03-14', 'weekdays', '2026-03-14', '2026-01-18', '2026-02-14'],
  ['custom', '2026-03-03', '2026-03-12', 'weekdays', '2026-03-12', '2026-02-17', '2026-02-26'],
  ['month', '2026-03-01', '2026-03-15', 'weekdays', '2026-03-14', '2026-02-08', '2026-02-21'],
  ['custom', '2026-03-09', '2026-03-15', 'year', '2026-03-14', '2025-03-09', '2025-03-14'],
  ['month', '2026-03-01', '2026-03-15', 'year', '2026-03-14', '2025-03-01', '2025-03-14'],
] as const)('%s %s to %s against the %s: up to %s with %s to %s', (period, from, to, by, last, first, end) =>
  expect(compared({ period, from, to, comparison: by })).toEqual({
    now: { from, to: last },
    before: { from: first, to: end },
  }),
);

it('compares no more days of a month than the month before has', () => {
  const month = { period: 'month', from: '2026-03-01', to: '2026-03-31', today: '2026-03-31' } as const;
  expect(compared(month)?.before).toEqual({ from: '2026-02-01', to: '2026-02-28' });
});

it('compares 29 February with 28 February', () => {
  const day = { period: 'custom', from: '2024-02-29', to: '2024-02-29', today: TODAY } as const;
  expect(compared({ ...day, comparison: 'year' })?.before).toEqual({ from: '2023-02-28', to: '2023-02-28' });
});

it('compares today only while no other day has begun, and nothing if figures are known by whole days', () => {
  const today = { period: 'today', from: TODAY, to: TODAY } as const;
  expect(compared(today)).toEqual({
    now: { from: TODAY, to: TODAY },
    before: { from: '2026-03-14', to: '2026-03-14' },
  });
  expect(compared({ ...today, comparison: 'year' })?.before).toEqual({
    from: '2025-03-15',
    to: '2025-03-15',
  });
  const whole = { today: TODAY, comparison: 'previous', isFirstDay: false } as const;
  expect(comparedWholeDays({ ...today, ...whole })).toBeNull();
  const yesterday = { period: 'custom', from: '2026-03-14', to: TODAY } as const;
  expect(comparedWholeDays({ ...yesterday, ...whole })).toEqual(compared(yesterday));
});

it.each([
  ['all time', { period: 'all' }],
  ['what is compared with nothing', { comparison: 'none' }],
  ['the first day', { isFirstDay: true }],
  ['days ahead', { from: '2026-03-16', to: '2026-03-20' }],
] as const)('has no earlier days for %s', (_, changes) => {
  expect(compared({ period: '7d', from: '2026-03-09', to: TODAY, ...changes })).toBeNull();
});

it('compares days before the first one that are over', () => {
  const days = { period: 'custom', from: '2026-03-01', to: '2026-03-07', isFirstDay: true } as const;
  expect(compared(days)?.now).toEqual({ from: '2026-03-01', to: '2026-03-07' });
});

it('lists the days that have started', () => {
  expect(daysBegun({ from: '2026-03-13', to: '2026-03-20', today: TODAY })).toEqual([
    '2026-03-13',
    '2026-03-14',
    '2026-03-15',
  ]);
  expect(daysBegun({ from: '2026-03-16', to: '2026-03-20', today: TODAY })).toEqual([]);
});
