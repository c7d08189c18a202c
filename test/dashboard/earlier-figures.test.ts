import { expect, it } from 'vitest';
import { addDays } from '#lib/time';
import type { PerformanceReport } from '#reports';
import { figuresBefore } from '../../src/dashboard/tables/compared.tsx';
import { keepsHoursBefore } from '../../src/dashboard/tables/part-of-day.ts';

const TODAY = '2026-03-31';

it('knows the hours of an earlier period as long as they are kept, for 32 days before today', () => {
  const keeps = (from: string) =>
    keepsHoursBefore({ today: TODAY }, { now: { from: TODAY, to: TODAY }, before: { from, to: from } });
  expect([32, 33].map((ago) => keeps(addDays(TODAY, -ago)))).toEqual([true, false]);
});

it('does not know the earlier figure of a group that may be in the row of the rest', () => {
  const reportOf = (...data: object[]) => ({ data }) as unknown as PerformanceReport;
  const germany = { country: 'DE', revenue: 5, installs: 2 };
  const valueIn = (before: PerformanceReport | null, country: string) =>
    figuresBefore(['country'], before, 'revenue')({ country } as never).value;
  const whole = reportOf(germany);
  expect([valueIn(whole, 'DE'), valueIn(whole, 'FR')]).toEqual([5, 0]);
  const cut = reportOf(germany, { country: 'other', is_other: true, revenue: 9 });
  expect([valueIn(cut, 'DE'), valueIn(cut, 'FR')]).toEqual([5, null]);
  expect(valueIn(null, 'DE')).toBeNull();
});
