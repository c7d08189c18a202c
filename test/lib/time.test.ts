import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addDays,
  dayFromNumber,
  dayIn,
  dayNumber,
  daysBetween,
  isDay,
  isTimezone,
  parseTimestamp,
} from '#lib/time';

describe('parseTimestamp', () => {
  it.each([
    ['2026-03-01 10:20:30', Date.UTC(2026, 2, 1, 10, 20, 30)],
    ['2026-03-01T10:20:30Z', Date.UTC(2026, 2, 1, 10, 20, 30)],
    ['2026-03-01T10:20:30.123Z', Date.UTC(2026, 2, 1, 10, 20, 30, 123)],
    ['2024-02-29 00:00:00', Date.UTC(2024, 1, 29)],
    ['2026-12-31 23:59:59', Date.UTC(2026, 11, 31, 23, 59, 59)],
  ])('reads %s', (text, at) => expect(parseTimestamp(text)).toBe(at));

  it.each([
    '2026-02-30 10:00:00',
    '2026-02-29 10:00:00',
    '2026-13-01 10:00:00',
    '2026-00-10 10:00:00',
    '2026-01-01 24:00:00',
    '2026-01-01T24:00:00Z',
    '2026-01-01 10:60:00',
    '2026-01-01 10:00:60',
    '2026-01-01T10:00:00',
    '2026-01-01T10:00:00+02:00',
    '2026-01-01',
    '1767261600',
    'yesterday',
    '',
  ])('refuses %j', (text) => expect(parseTimestamp(text)).toBeNull());

  it('reads back every time that it is given in either form', () => {
    return fc.assert(
      fc.property(
        fc.date({ min: new Date('2010-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
        (date) => {
          const iso = date.toISOString();
          expect(parseTimestamp(iso)).toBe(date.getTime());
          expect(parseTimestamp(iso.slice(0, 19).replace('T', ' '))).toBe(
            Math.floor(date.getTime() / 1000) * 1000,
          );
        },
      ),
    );
  });
});

describe('dayIn', () => {
  it.each([
    ['UTC', '2026-03-29T23:59:59Z', '2026-03-29'],
    // Berlin springs forward at 01:00 UTC and falls back at 01:00 UTC.
    ['Europe/Berlin', '2026-03-28T22:59:59Z', '2026-03-28'],
    ['Europe/Berlin', '2026-03-28T23:00:00Z', '2026-03-29'],
    ['Europe/Berlin', '2026-03-29T21:59:59Z', '2026-03-29'],
    ['Europe/Berlin', '2026-03-29T22:00:00Z', '2026-03-30'],
    ['Europe/Berlin', '2026-10-25T22:59:59Z', '2026-10-25'],
    ['Europe/Berlin', '2026-10-25T23:00:00Z', '2026-10-26'],
    ['America/Los_Angeles', '2026-01-01T07:59:59Z', '2025-12-31'],
    ['Pacific/Kiritimati', '2025-12-31T10:00:00Z', '2026-01-01'],
    ['Asia/Kolkata', '2026-01-01T18:29:59Z', '2026-01-01'],
    ['Asia/Kolkata', '2026-01-01T18:30:00Z', '2026-01-02'],
  ])('in %s at %s is %s', (timezone, at, day) => expect(dayIn(timezone, Date.parse(at))).toBe(day));
});

describe('isTimezone', () => {
  it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Asia/Kolkata'])('knows %s', (name) =>
    expect(isTimezone(name)).toBe(true),
  );
  it.each(['+05:30', '-08:00', 'Mars/Olympus', '', '5', 'Europe/Berlin '])('refuses %j', (name) =>
    expect(isTimezone(name)).toBe(false),
  );
});

describe('calendar days', () => {
  it('counts days as the calendar does', () => {
    expect(daysBetween('2024-02-28', '2024-03-01')).toBe(2);
    expect(daysBetween('2026-02-28', '2026-03-01')).toBe(1);
    expect(daysBetween('2026-01-02', '2026-01-01')).toBe(-1);
    expect(addDays('2025-12-31', 1)).toBe('2026-01-01');
  });

  it('numbers and names days back and forth', () => {
    return fc.assert(
      fc.property(fc.integer({ min: 0, max: 60_000 }), (number) => {
        const day = dayFromNumber(number);
        expect(isDay(day)).toBe(true);
        expect(dayNumber(day)).toBe(number);
      }),
    );
  });

  it.each(['2026-02-30', '2026-2-3', '20260203', 'today'])('refuses %j as a day', (day) =>
    expect(isDay(day)).toBe(false),
  );
});
