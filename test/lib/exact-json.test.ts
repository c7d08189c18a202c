import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseExactJson } from '#lib/encoding/exact-json';

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
