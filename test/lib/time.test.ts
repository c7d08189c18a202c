import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addDays,
  canonicalTimezone,
  dayFromNumber,
  dayIn,
  dayNumber,
  daysBetween,
  isDay,
  isTimezone,
} from '#lib/time';

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

describe('canonicalTimezone', () => {
  it('gives the names of one zone one name, each time they are asked for', () => {
    for (let time = 0; time < 2; time++) {
      expect(canonicalTimezone('Asia/Calcutta')).toBe(canonicalTimezone('Asia/Kolkata'));
      expect(canonicalTimezone('europe/berlin')).toBe('Europe/Berlin');
      expect(canonicalTimezone('Mars/Olympus')).toBe('Mars/Olympus');
    }
  });

  it('knows zones after very many names that are none', () => {
    for (let name = 0; name < 5_000; name++) isTimezone(`Mars/${name}`);
    expect(canonicalTimezone('europe/berlin')).toBe('Europe/Berlin');
  });
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
