import fc from 'fast-check';
import { expect, it } from 'vitest';
import { weekdayOf } from '#lib/calendar';
import { addDays, dayIn } from '#lib/time';
import { weekName } from '../../src/creatives/names.ts';

// Source of the weeks around New Year: the table of ISO 8601 week dates, https://en.wikipedia.org/wiki/ISO_week_date.
it.each([
  ['2026-11-20', 'Week 47', 'Friday'],
  ['2026-01-01', 'Week 1', 'Thursday'],
  ['2025-12-28', 'Week 52', 'Sunday'],
  ['2025-12-29', 'Week 1', 'Monday'],
  ['2025-12-31', 'Week 1', 'Wednesday'],
  ['2027-01-01', 'Week 53', 'Friday'],
  ['2027-01-03', 'Week 53', 'Sunday'],
  ['2027-01-04', 'Week 1', 'Monday'],
  ['2021-01-03', 'Week 53', 'Sunday'],
  ['2021-01-04', 'Week 1', 'Monday'],
  ['2022-01-01', 'Week 52', 'Saturday'],
  ['2022-01-02', 'Week 52', 'Sunday'],
  ['2008-12-29', 'Week 1', 'Monday'],
  ['2010-01-03', 'Week 53', 'Sunday'],
  ['2024-02-29', 'Week 9', 'Thursday'],
  ['2020-12-31', 'Week 53', 'Thursday'],
])('%s is in %s, a %s', (day, week, weekday) => {
  expect([weekName(day), weekdayOf(day)]).toEqual([week, weekday]);
});

const anyDay = fc.integer({ min: 0, max: 20_000 }).map((number) => addDays('1990-01-01', number));

it('numbers weeks one by one each Monday, and starts at 1 again only after 52 or 53', () => {
  fc.assert(
    fc.property(anyDay, (day) => {
      const [here, next] = [weekName(day), weekName(addDays(day, 1))];
      const [number, following] = [here, next].map((name) => Number(name.slice(5)));
      if (weekdayOf(day) !== 'Sunday') return here === next;
      return following === (number ?? 0) + 1 || (following === 1 && (number === 52 || number === 53));
    }),
  );
});

it('names weekdays as the runtime does', () => {
  const format = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' });
  fc.assert(fc.property(anyDay, (day) => weekdayOf(day) === format.format(Date.parse(`${day}T00:00:00Z`))));
});

it('uses the day of the time zone: New Year in Auckland is still last year in Honolulu', () => {
  const at = Date.UTC(2026, 11, 31, 23, 30);
  expect(weekdayOf(dayIn('Pacific/Auckland', at))).toBe('Friday');
  expect(weekdayOf(dayIn('Pacific/Honolulu', at))).toBe('Thursday');
  const monday = Date.UTC(2027, 0, 3, 12, 0);
  expect(weekName(dayIn('Pacific/Kiritimati', monday))).toBe('Week 1');
  expect(weekName(dayIn('UTC', monday))).toBe('Week 53');
});
