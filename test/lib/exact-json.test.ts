import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { hasLongNumber, parseExactJson, parseJson } from '#lib/encoding/exact-json';

it('keeps whole numbers beyond 2^53 as text', () => {
  const text =
    '{"ad_id":23854855793500701,"n":[9007199254740993,-9007199254740993],"small":12,"s":"23854855793500701"}';
  expect(parseExactJson(text)).toEqual({
    ad_id: '23854855793500701',
    n: ['9007199254740993', '-9007199254740993'],
    small: 12,
    s: '23854855793500701',
  });
  expect(JSON.parse(text).ad_id).not.toBe(23854855793500701n);
});

it.each([
  ['9007199254740993.0', '9007199254740993.0'],
  ['12345678901234567.5', '12345678901234567.5'],
  ['-9007199254740993', '-9007199254740993'],
  ['1e400', '1e400'],
  ['-1.5E+400', '-1.5E+400'],
  ['1e20', 1e20],
  ['9007199254740991', 9007199254740991],
  ['0.1234567890123456789', 0.12345678901234568],
])('reads %s at any depth', (source, value) => {
  for (const wrapped of [`{"a":${source}}`, `{"a":{"b":[${source}]}}`, `{"a":[[ ${source} ]]}`]) {
    expect(hasLongNumber(wrapped) || typeof value === 'number').toBe(true);
    const parsed = JSON.stringify(parseJson(wrapped));
    expect(parsed).toBe(wrapped.replace(` ${source} `, source).replace(source, JSON.stringify(value)));
  }
});

it('reads every other value like JSON.parse', () => {
  return fc.assert(
    fc.property(fc.json(), (text) => {
      fc.pre(!/\d{16}/.test(text));
      expect(parseExactJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

it('writes every large whole number back as it was', () => {
  return fc.assert(
    fc.property(fc.bigInt(2n ** 53n, 2n ** 80n), (number) => {
      expect(parseExactJson(`{"id":${number}}`)).toEqual({ id: String(number) });
    }),
  );
});

it('refuses what is not JSON', () => {
  expect(() => parseExactJson('{')).toThrow(SyntaxError);
});
