import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromBase64Url, toBase64Url } from '#lib/encoding/base64url';
import { idFromBytes, idToBytes, newId } from '#lib/ids';
import { murmur128 } from '#lib/murmur';

const bytes = fc.uint8Array({ maxLength: 100 });

describe('base64url', () => {
  it('reads what it wrote, as any other decoder does', () => {
    fc.assert(
      fc.property(bytes, (value) => {
        const text = toBase64Url(value);
        expect(text).toBe(Buffer.from(value).toString('base64url'));
        expect(fromBase64Url(text)).toEqual(value);
      }),
    );
  });

  it('reads no other text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 12 }), (text) => {
        const read = fromBase64Url(text);
        if (read !== null) expect(toBase64Url(read)).toBe(text);
      }),
      { numRuns: 2000 },
    );
    // Spare bits that are not 0, padding, other alphabets, and a length that no bytes have.
    for (const text of ['AB', 'AAB', 'AA==', 'A+', 'A/', 'A', 'AAAAA', 'A A']) {
      expect(fromBase64Url(text), text).toBeNull();
    }
  });
});

it('reads an id from the bytes at any index', () => {
  const [first, second] = [newId('evt'), newId('evt')];
  const both = Uint8Array.of(...idToBytes(first), ...idToBytes(second));
  expect(idFromBytes('evt', both)).toBe(first);
  expect(idFromBytes('evt', both, 16)).toBe(second);
});

it.each([
  ['short', (id: string) => id.slice(0, -1)],
  ['long', (id: string) => `${id}0`],
  ['upper case', (id: string) => id.toUpperCase()],
  ['not hexadecimal', (id: string) => `${id.slice(0, -1)}g`],
  ['not ASCII', (id: string) => `${id.slice(0, -1)}à`],
  ['with hyphens', (id: string) => `${id.slice(0, 12)}-${id.slice(13)}`],
])('refuses an id that is %s', (_, change) => {
  expect(() => idToBytes(change(newId('evt')))).toThrow(SyntaxError);
});

describe('murmur128', () => {
  // From the reference implementation (MurmurHash3_x86_128, seed 0).
  it.each([
    ['', '00000000000000000000000000000000'],
    ['abc', '75cdc6d1a2b006a5a2b006a5a2b006a5'],
    ['The quick brown fox jumps over the lazy dog', '2f1583c3ecee2c675d7bf66ce5e91d2c'],
  ])('hashes %j like the reference', (text, expected) => {
    const hex = murmur128(text)
      .map((word) => word.toString(16).padStart(8, '0'))
      .join('');
    expect(hex).toBe(expected);
  });

  it('hashes the UTF-8 of a text, whatever was hashed before', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 60 }),
        fc.string({ maxLength: 60 }),
        (text, other) => {
          const before = murmur128(text);
          murmur128(other);
          expect(murmur128(text)).toEqual(before);
        },
      ),
    );
    expect(murmur128('ä')).not.toEqual(murmur128('a'));
    expect(murmur128('aä')).not.toEqual(murmur128('äa'));
  });
});
