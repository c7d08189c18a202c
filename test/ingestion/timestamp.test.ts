import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTimestamp, toOccurredAt } from '#lib/timestamp';

const read = (text: string) => {
  const sent = readTimestamp(text);
  return 'fault' in sent ? null : sent;
};
const at = (text: string) => read(text)?.at;
const faultOf = (text: string) => {
  const sent = readTimestamp(text);
  return 'fault' in sent ? sent.fault : null;
};

describe('readTimestamp', () => {
  it.each([
    ['2026-03-01 10:20:30', Date.UTC(2026, 2, 1, 10, 20, 30)],
    ['2026-03-01T10:20:30Z', Date.UTC(2026, 2, 1, 10, 20, 30)],
    ['2026-03-01T10:20:30.123Z', Date.UTC(2026, 2, 1, 10, 20, 30, 123)],
    ['2026-03-01T10:20:30.058123Z', Date.UTC(2026, 2, 1, 10, 20, 30, 58)],
    ['2026-03-01T10:20:30+02:00', Date.UTC(2026, 2, 1, 8, 20, 30)],
    ['2026-03-01T10:20:30.5-0330', Date.UTC(2026, 2, 1, 13, 50, 30, 500)],
    ['2024-02-29 00:00:00', Date.UTC(2024, 1, 29)],
    ['2026-12-31 23:59:59', Date.UTC(2026, 11, 31, 23, 59, 59)],
    ['2026-11-22T15:00Z', Date.UTC(2026, 10, 22, 15)],
    ['2026-11-22T15:00+02:00', Date.UTC(2026, 10, 22, 13)],
    ['2026-11-22 15:00', Date.UTC(2026, 10, 22, 15)],
    ['2026-11-22 15.07', Date.UTC(2026, 10, 22, 15, 7)],
  ])('reads %s', (text, expected) => expect(at(text)).toBe(expected));

  it.each([
    ['2026-11-21 09.15.30', 'the time separator of Finnish, Danish or Italian'],
    ['2026/11/21 09:15:30', 'slashes'],
    ['2026.11.21 09:15:30', 'points'],
    ['٢٠٢٦-١١-٢١ ٠٩:١٥:٣٠', 'Arabic digits'],
    ['۲۰۲۶-۱۱-۲۱ ۰۹:۱۵:۳۰', 'Persian digits'],
    ['२०२६-११-२१ ०९:१५:३०', 'Devanagari digits'],
    ['২০২৬-১১-২১ ০৯:১৫:৩০', 'Bengali digits'],
    ['２０２６-１１-２１ ０９:１５:３０', 'full-width digits'],
    ['\u200f2026-11-21\u200e 09:15:30', 'marks of direction'],
    ['2026-11-21\u00a009:15:30', 'a no-break space'],
  ])('reads %j: %s', (text) => expect(at(text)).toBe(Date.UTC(2026, 10, 21, 9, 15, 30)));

  it('reads the digits of every script', () => {
    for (const numbers of Intl.supportedValuesOf('numberingSystem')) {
      const digits = new Intl.NumberFormat(`en-u-nu-${numbers}`, {
        useGrouping: false,
        minimumIntegerDigits: 2,
      });
      const [ten = '', eleven = ''] = [digits.format(10), digits.format(11)];
      if (!/^\p{Nd}{2}$/u.test(ten)) continue;
      expect(at(`2026-${eleven}-${ten} 09:15:30`), numbers).toBe(Date.UTC(2026, 10, 10, 9, 15, 30));
    }
  });

  it.each([
    '1448-05-30 09:15:30',
    '1405-02-31 09:15:30',
    '2569-11-21 09:15:30',
    '0008-11-21 09:15:30',
    '115-11-21 09:15:30',
    '25-01-05 09:15:30',
  ])('uses our time for a date of another calendar, and gives its retries the same day: %s', (text) => {
    const sent = read(text);
    expect(sent?.at).toBeNull();
    expect(read(text)).toEqual(sent);
    expect(toOccurredAt(sent ?? { at: 0, day: 0 }, 5_000)).toEqual({ occurredAt: 5_000, clockAhead: true });
  });

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
    '2026-01-01T10:00:00+15:00',
    '1448-14-01 10:00:00',
    '1448-01-33 10:00:00',
    '2026-01-01',
    '1767261600',
    'yesterday',
    '',
  ])('refuses %j', (text) => expect(faultOf(text)).toEqual(expect.any(String)));

  it.each([
    ['2026-11-22T15:00:00', 'has no time zone: add Z for UTC, or an offset such as +02:00'],
    ['2026-11-22T15:00:00.123456', 'has no time zone: add Z for UTC, or an offset such as +02:00'],
    ['2026-11-22T15:00', 'has no time zone: add Z for UTC, or an offset such as +02:00'],
    ['2026-11-22', 'has no time of day: send YYYY-MM-DD HH:MM:SS (UTC) or ISO 8601'],
    ['2026-02-30 10:00:00', 'is a date that does not exist'],
    ['1448-14-01 10:00:00', 'is a date that does not exist'],
    ['yesterday', 'must be a real time, as YYYY-MM-DD HH:MM:SS (UTC) or ISO 8601'],
    ['2026-11-22T25:00:00Z', 'must be a real time, as YYYY-MM-DD HH:MM:SS (UTC) or ISO 8601'],
    ['2026-11-22T15Z', 'must be a real time, as YYYY-MM-DD HH:MM:SS (UTC) or ISO 8601'],
  ])('says what is wrong with %j', (text, fault) => expect(faultOf(text)).toBe(fault));

  it('reads back every time in both forms, with its UTC day', () => {
    return fc.assert(
      fc.property(
        fc.date({ min: new Date('2010-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
        (date) => {
          const iso = date.toISOString();
          const day = Math.floor(date.getTime() / 86_400_000);
          expect(readTimestamp(iso)).toEqual({ at: date.getTime(), day });
          expect(readTimestamp(iso.slice(0, 19).replace('T', ' '))).toEqual({
            at: Math.floor(date.getTime() / 1000) * 1000,
            day,
          });
        },
      ),
    );
  });
});

describe('toOccurredAt', () => {
  it('keeps a past time and replaces a future one by ours', () => {
    expect(toOccurredAt({ at: 4_000, day: 0 }, 5_000)).toEqual({ occurredAt: 4_000, clockAhead: false });
    expect(toOccurredAt({ at: 6_000, day: 0 }, 5_000)).toEqual({ occurredAt: 5_000, clockAhead: true });
  });
});
