import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hideSecrets } from '../../src/lib/input/hide-secrets.ts';

const ODD = `p!a's(s)*w"o\\r\\\\d/+&<>% ü`;
const asBasic = (text: string) => Buffer.from(`user:${text}`).toString('base64');
const lowerHex = (text: string) =>
  encodeURIComponent(text).replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());

const ENCODINGS: readonly [string, (text: string) => string][] = [
  ['as it is', (text) => text],
  ['percent-encoded', encodeURIComponent],
  ['percent-encoded by another', lowerHex],
  [
    'percent-encoded whole',
    (text) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  ],
  ['percent-encoded twice', (text) => encodeURIComponent(encodeURIComponent(text))],
  ['in a form', (text) => new URLSearchParams({ text }).toString().slice(5)],
  ['in JSON', (text) => JSON.stringify(text).slice(1, -1)],
  ['in JSON in JSON', (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3)],
  ['in JSON with escaped slashes', (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/')],
  [
    'in JSON as code units',
    (text) =>
      Array.from(
        { length: text.length },
        (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`,
      ).join(''),
  ],
  ['in HTML', (text) => text.replaceAll(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`)],
  ['in base64', (text) => Buffer.from(text).toString('base64').replaceAll('=', '')],
  ['in base64 of URLs', (text) => Buffer.from(text).toString('base64url')],
];

it.each(ENCODINGS)('hides a secret %s', (_name, encode) => {
  const shown = hideSecrets(`before ${encode(ODD)} after`, ['other', ODD]);
  // The last bits of base64 may depend on what follows.
  expect(shown).toMatch(/^before \*\*\*[\w+/-]?=* after$/);
});

it('hides what is in a Basic header', () => {
  expect(hideSecrets(asBasic('a-long-secret'), ['a-long-secret'])).not.toContain(
    Buffer.from('user:a-long-secret').toString('base64').slice(8, 22),
  );
});

it('leaves other text', () => {
  expect(hideSecrets('nothing to hide: {"a":1}', ['secret', ''])).toBe('nothing to hide: {"a":1}');
});

it('hides every secret in every encoding', () => {
  const secret = fc.string({ minLength: 6, maxLength: 40, unit: fc.constantFrom(...`ab1!'()*"\\ /+%&<=~`) });
  fc.assert(
    fc.property(secret, fc.constantFrom(...ENCODINGS), fc.string(), (text, [, encode], around) => {
      const shown = encode(text);
      fc.pre(!around.includes(shown));
      expect(hideSecrets(`${around}:${shown}:`, [text])).not.toContain(shown);
    }),
  );
});
