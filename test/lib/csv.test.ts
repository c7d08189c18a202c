import fc from 'fast-check';
import Papa from 'papaparse';
import { describe, expect, it } from 'vitest';
import { csvHeaders, toCsv } from '#lib/encoding/csv';

const parse = (csv: string) => Papa.parse<string[]>(csv, { skipEmptyLines: true }).data;
const cellOf = (text: string) => parse(toCsv(['cell'], [{ cell: text }]))[1]?.[0];

describe('CSV', () => {
  it('writes small numbers without an exponent, which not every reader knows', () => {
    const cells = { a: 1e-9, b: -1.5e-9, c: 9.99e-7, d: 0.000001, e: 0, f: 1e21 };
    expect(toCsv(Object.keys(cells), [cells])).toContain(
      '\r\n0.000000001,-0.0000000015,0.000000999,0.000001,0,1e+21\r\n',
    );
  });

  it('escapes what a spreadsheet would run, in text only', () => {
    const cells = { a: '=1+1', b: '+1', c: '-5', d: '@x', e: '\tx', f: -5, g: 'a,"b"', h: null, i: true };
    expect(toCsv(Object.keys(cells), [cells])).toBe(
      '\ufeffa,b,c,d,e,f,g,h,i\r\n' + `'=1+1,'+1,'-5,'@x,'\tx,-5,"a,""b""",,true\r\n`,
    );
  });

  it.each([
    ['＝1+1', "'＝1+1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠SUM(1)', "'＠SUM(1)"],
    ['\n=1+1', "'\n'=1+1"],
    ['  =1+1', "'  =1+1"],
    ['x;=1+1', "x;'=1+1"],
    ['x; ＝1;@y;z', "x;' ＝1;'@y;z"],
    ['x\n=1', "x\n'=1"],
    ['x\ty\n\nz', 'x\ty\n\nz'],
    ['1-1=0', '1-1=0'],
    ['a@b.test', 'a@b.test'],
  ])('writes %j as %j', (text, inert) => {
    expect(cellOf(text)).toBe(inert);
  });

  it('starts no cell with a formula, whichever usual separator a reader assumes', () => {
    const formula = /^\s*[=+\-@＝＋－＠]/;
    const text = fc
      .array(fc.constantFrom('=', '＝', '@', '-', ';', ',', '"', ' ', '\n', '\t', 'x'), { maxLength: 8 })
      .map((characters) => characters.join(''));
    fc.assert(
      fc.property(text, text, (first, second) => {
        const csv = toCsv(['first', 'second'], [{ first, second }]).slice(1);
        const byComma = Papa.parse<string[]>(csv, { delimiter: ',' }).data.flat();
        // A reader whose separator is the semicolon or the tab does not see quotes within a line as such.
        const bySemicolon = csv.split(/[;\t\r\n]/).slice(1);
        for (const cell of [...byComma, ...bySemicolon]) expect(cell).not.toMatch(formula);
      }),
      { numRuns: 2_000, seed: 17 },
    );
  });

  it('quotes what contains the separator of another locale', () => {
    expect(toCsv(['a'], [{ a: 'x;y' }])).toBe('\ufeffa\r\n"x;y"\r\n');
  });

  it('is read back unchanged', () => {
    const text = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((cell) => !/^\s|[=+\-@＝＋－＠]/.test(cell) && !cell.includes('\ufeff'));
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text)), (rows) => {
        const csv = toCsv(
          ['first', 'second'],
          rows.map(([first, second]) => ({ first, second })),
        );
        const { data } = Papa.parse<string[]>(csv, { delimiter: ',', newline: '\r\n' });
        expect(data).toEqual([['first', 'second'], ...rows, ['']]);
      }),
    );
  });
});

describe('the name of a CSV file', () => {
  const disposition = (...parts: string[]) => csvHeaders(parts)['Content-Disposition'];

  it('consists of its parts, without missing ones', () => {
    expect(disposition('ads', 'My game', '2026-03-01', '')).toBe(
      `attachment; filename="ads-My game-2026-03-01.csv"; filename*=UTF-8''ads-My%20game-2026-03-01.csv`,
    );
  });

  it('keeps other scripts for clients that support them', () => {
    expect(disposition('ads', 'Игра 遊戲')).toBe(
      `attachment; filename="ads-____ __.csv"; filename*=UTF-8''ads-%D0%98%D0%B3%D1%80%D0%B0%20%E9%81%8A%E6%88%B2.csv`,
    );
  });

  it.each(['a"; filename="evil.exe', 'a\r\nSet-Cookie: x=1', '../../etc/passwd', 'x\u202egpj.csv', '\ud800'])(
    'cannot be extended by %j',
    (name) => {
      const header = disposition('ads', name) ?? '';
      expect(header).toMatch(/^attachment; filename="[\w.\- ]+\.csv"; filename\*=UTF-8''[\w.~%-]+\.csv$/);
      expect(header.length).toBeLessThan(700);
      const encoded = decodeURIComponent(/''(.*)$/.exec(header)?.[1] ?? '');
      expect(encoded).not.toMatch(/[/\\"\r\n\u202e]/);
      expect(() => new Headers({ 'Content-Disposition': header })).not.toThrow();
    },
  );

  it('stays short enough for a file system', () => {
    const [, encoded = ''] = /''(.*)$/.exec(disposition('ads', '遊'.repeat(5_000), '2026-03-01') ?? '') ?? [];
    expect(new TextEncoder().encode(decodeURIComponent(encoded)).length).toBeLessThan(255);
  });
});
