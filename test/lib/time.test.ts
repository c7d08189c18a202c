import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addDays,
  canonicalTimezone,
  clockHour,
  dayFromNumber,
  dayIn,
  dayNumber,
  daysBetween,
  hourIn,
  hoursOf,
  isDay,
  isTimezone,
  zoneOffset,
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
    // St. John's fell back at one minute past midnight, 02:31 UTC.
    ['America/St_Johns', '2010-11-07T02:30:59Z', '2010-11-07'],
    ['America/St_Johns', '2010-11-07T02:31:00Z', '2010-11-06'],
  ])('in %s at %s is %s', (timezone, at, day) => expect(dayIn(timezone, Date.parse(at))).toBe(day));

  it('is the formatted day at any time since 1970, in every zone', () => {
    const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
    const at = fc.integer({ min: 0, max: Date.UTC(2040, 0) });
    // Around midnight and changes of clocks.
    const near = fc
      .tuple(at, fc.integer({ min: -90_000, max: 90_000 }))
      .map(([instant, offset]) => Math.max(0, Math.round(instant / 900_000) * 900_000 + offset));
    return fc.assert(
      fc.property(zone, fc.oneof(at, near), (timezone, instant) => {
        const [day, month, year] = new Date(instant)
          .toLocaleDateString('en-GB', { timeZone: timezone })
          .split('/');
        expect(dayIn(timezone, instant)).toBe(`${year}-${month}-${day}`);
      }),
      { numRuns: 500 },
    );
  });
});

describe('zoneOffset', () => {
  it.each([
    ['UTC', '2026-07-01T12:00:00Z', 0],
    ['Asia/Kathmandu', '2026-07-01T12:00:00Z', 345],
    // New York falls back at 06:00 UTC, Lord Howe by half an hour at 15:00 UTC.
    ['America/New_York', '2026-11-01T05:59:59.999Z', -240],
    ['America/New_York', '2026-11-01T06:00:00Z', -300],
    ['Australia/Lord_Howe', '2026-04-04T14:59:59.999Z', 660],
    ['Australia/Lord_Howe', '2026-04-04T15:00:00Z', 630],
  ])('in %s at %s is %d minutes', (timezone, at, minutes) =>
    expect(zoneOffset(timezone, Date.parse(at))).toBe(minutes),
  );

  it('is the difference between local time and UTC at any time since 2012', () => {
    const zone = fc.constantFrom(
      'Europe/Berlin',
      'America/St_Johns',
      'Australia/Lord_Howe',
      'Asia/Tehran',
      'UTC',
    );
    const at = fc.integer({ min: Date.UTC(2012, 0), max: Date.UTC(2030, 0) });
    return fc.assert(
      fc.property(zone, at, (timezone, instant) => {
        const clock = new Date(instant + zoneOffset(timezone, instant) * 60_000);
        const [hour = 0, minute = 0] = new Date(instant)
          .toLocaleTimeString('en-GB', { timeZone: timezone })
          .split(':')
          .map(Number);
        expect([clock.getUTCHours(), clock.getUTCMinutes()]).toEqual([hour % 24, minute]);
        const [day, month, year] = new Date(instant)
          .toLocaleDateString('en-GB', { timeZone: timezone })
          .split('/');
        expect(clock.toISOString().slice(0, 10)).toBe(`${year}-${month}-${day}`);
      }),
    );
  });
});

describe('hours of the clock', () => {
  it.each([
    ['UTC', '2026-03-01T09:59:59Z', '2026-03-01T09:00:00+00:00'],
    ['Asia/Kathmandu', '2026-03-01T18:14:59Z', '2026-03-01T23:00:00+05:45'],
    ['Asia/Kathmandu', '2026-03-01T18:15:00Z', '2026-03-02T00:00:00+05:45'],
    ['America/New_York', '2026-11-01T05:30:00Z', '2026-11-01T01:00:00-04:00'],
    ['America/New_York', '2026-11-01T06:30:00Z', '2026-11-01T01:00:00-05:00'],
    ['America/St_Johns', '2026-01-01T12:00:00Z', '2026-01-01T08:00:00-03:30'],
  ])('in %s at %s is %s', (timezone, at, hour) => {
    expect(hourIn(timezone, Date.parse(at))).toBe(hour);
    expect(clockHour(timezone, Date.parse(at))).toBe(Number(hour.slice(11, 13)));
  });

  it.each([
    ['UTC', '2026-03-01', 24],
    ['Pacific/Kiritimati', '2026-03-01', 24],
    ['America/New_York', '2026-03-08', 23],
    ['America/New_York', '2026-11-01', 25],
    // Half an hour more: the hour from 01:30 to 02:00 comes twice, which the clock calls one o'clock both times.
    ['Australia/Lord_Howe', '2026-04-05', 25],
    // Half an hour less: two o'clock begins at half past.
    ['Australia/Lord_Howe', '2026-10-04', 24],
  ])('%s has on %s: %d', (timezone, day, count) => {
    const hours = hoursOf(timezone, day);
    expect(hours).toHaveLength(count);
    expect(hours[0]?.slice(0, 13)).toBe(`${day}T00`);
    expect(hours.at(-1)?.slice(0, 13)).toBe(`${day}T23`);
    expect(hours.map((hour) => Date.parse(hour))).toEqual(
      hours.map((hour) => Date.parse(hour)).toSorted((left, right) => left - right),
    );
  });
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
  it('maps all names of a zone to the same name', () => {
    for (let time = 0; time < 2; time++) {
      expect(canonicalTimezone('Asia/Calcutta')).toBe(canonicalTimezone('Asia/Kolkata'));
      expect(canonicalTimezone('europe/berlin')).toBe('Europe/Berlin');
      expect(canonicalTimezone('Mars/Olympus')).toBe('Mars/Olympus');
    }
  });

  it('still recognises zones after very many invalid names', () => {
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

  it('converts days to numbers and back', () => {
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
