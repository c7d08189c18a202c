import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { daysOf, mondayOf, weekOf } from '#lib/calendar';
import { toCsv } from '#lib/csv';

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

/** RFC 4180, as another program would read it. */
function parse(csv: string): string[][] {
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of csv.matchAll(field)) {
    rows.at(-1)?.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
    if (end === '\r\n') rows.push([]);
  }
  return rows.slice(0, -1);
}

describe('CSV', () => {
  it('escapes what a spreadsheet would run, in text alone', () => {
    const cells = { a: '=1+1', b: '+1', c: '-5', d: '@x', e: '\tx', f: -5, g: 'a,"b"', h: null, i: true };
    expect(toCsv(Object.keys(cells), [cells])).toBe(
      'a,b,c,d,e,f,g,h,i\r\n' + `'=1+1,'+1,'-5,'@x,'\tx,-5,"a,""b""",,true\r\n`,
    );
  });

  it('is read back as it was written', () => {
    const text = fc
      .string({ unit: 'grapheme' })
      .filter((cell) => !/^[=+\-@\t\r]/.test(cell) && !cell.includes('\0'));
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text)), (rows) => {
        const csv = toCsv(
          ['first', 'second'],
          rows.map(([first, second]) => ({ first, second })),
        );
        expect(parse(csv)).toEqual([['first', 'second'], ...rows]);
      }),
    );
  });
});
