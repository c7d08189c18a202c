import { describe, expect, it } from 'vitest';
import { daysOf, mondayOf, weekOf } from '#lib/calendar';

describe('the ISO week', () => {
  // Source: ISO 8601, the examples of its Wikipedia article.
  it.each([
    ['2026-11-20', '2026-W47'],
    ['2005-01-01', '2004-W53'],
    ['2005-01-02', '2004-W53'],
    ['2005-12-31', '2005-W52'],
    ['2007-01-01', '2007-W01'],
    ['2008-12-29', '2009-W01'],
    ['2010-01-03', '2009-W53'],
    ['1969-12-31', '1970-W01'],
  ])('of %s is %s', (day, week) => {
    expect(weekOf(day)).toBe(week);
  });

  it('has seven days, from Monday', () => {
    const days = daysOf('1999-12-20', '2031-01-10');
    for (const day of days) expect(new Date(`${mondayOf(day)}T00:00:00Z`).getUTCDay()).toBe(1);
    const mondays = days.filter((day) => mondayOf(day) === day);
    expect(new Set(mondays.map(weekOf)).size).toBe(mondays.length);
  });
});
