import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseQuery, queryOf, writeQuery } from '../../src/tracking/query.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.stringMatching(/^[ -~]*$/),
);
const query = fc.array(fc.tuple(text, text));

it('writes what URLSearchParams writes', () => {
  return fc.assert(
    fc.property(query, (list) => {
      expect(writeQuery(list)).toBe(new URLSearchParams(list).toString());
    }),
  );
});

it('writes half of a surrogate pair as U+FFFD, as URLSearchParams does', () => {
  const list = [['\ud800', 'a\udc00b']] as const;
  expect(writeQuery(list)).toBe('%EF%BF%BD=a%EF%BF%BDb');
  expect(writeQuery(list)).toBe(new URLSearchParams(list.map(([name, value]) => [name, value])).toString());
});

it('reads what it wrote', () => {
  return fc.assert(
    fc.property(query, (list) => {
      expect(parseQuery(writeQuery(list))).toEqual(list);
    }),
  );
});

it.each([
  ['https://a.example/t/x', []],
  ['https://a.example/t/x?', []],
  ['https://a.example/t/x#f?a=1', []],
  [
    'https://a.example/t/x?a=1&a=2&b#c=3',
    [
      ['a', '1'],
      ['a', '2'],
      ['b', ''],
    ],
  ],
  ['https://a.example/t/x?a=%20+%zz', [['a', '  %zz']]],
  // Escaped as HTML on the way.
  [
    'https://a.example/t/x?a=1&amp;ttclid=2&amp;amp;b=3',
    [
      ['a', '1'],
      ['ttclid', '2'],
      ['b', '3'],
    ],
  ],
])('reads the query of %s', (url, expected) => expect(queryOf(url)).toEqual(expected));
