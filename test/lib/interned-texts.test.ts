import fc from 'fast-check';
import { expect, it } from 'vitest';
import { InternedTexts } from '../../src/lib/encoding/interned-texts.ts';

const utf8 = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });
const encode = (text: string) => new TextEncoder().encode(text);

it('decodes any bytes as the decoder does, in any order, however few texts it keeps', () => {
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 8 }), fc.string({ unit: 'grapheme' }).map(encode));
  fc.assert(
    fc.property(fc.array(bytes), fc.integer({ min: 1, max: 5 }), (all, maxTexts) => {
      const texts = new InternedTexts(utf8, maxTexts);
      for (const one of [...all, ...all]) expect(texts.of(one)).toBe(utf8.decode(one));
    }),
  );
});

it('tells apart texts of the same hash', () => {
  const texts = new InternedTexts(utf8);
  // Their 32-bit FNV-1a hashes are the same: https://softwareengineering.stackexchange.com/a/145633
  const words = ['declinate', 'macallums', 'declinate'];
  expect(words.map((word) => texts.of(encode(word)))).toEqual(words);
});
