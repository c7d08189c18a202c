import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '#http';
import { AAK_POSTBACK, SKAN_POSTBACKS } from '../../src/cli/simulation/apple-postbacks.ts';
import { readAakPostback } from '../../src/skan/adattributionkit.ts';
import { readSkanPostback } from '../../src/skan/skadnetwork.ts';

const UNSIGNED = ['conversion-value', 'coarse-conversion-value'];
const vectors = Object.entries(SKAN_POSTBACKS).map(([name, postback]) => ({ name, postback }));

/** The message of the 400 that a postback is refused with. */
async function refusal(read: (body: unknown) => Promise<unknown>, body: unknown): Promise<string> {
  try {
    await read(body);
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_request') return error.message;
    throw error;
  }
  return 'accepted';
}

describe('a SKAdNetwork postback', () => {
  it.each(vectors)('that Apple published verifies: $name', async ({ postback }) => {
    expect(await readSkanPostback(postback)).toMatchObject({
      framework: 'skadnetwork',
      version: postback.version,
      transactionId: postback['transaction-id'],
      appId: '525463029',
      network: postback['ad-network-id'],
      conversion: postback.redownload ? 'redownload' : 'download',
      test: false,
    });
  });

  const changes = vectors.flatMap(({ name, postback }) =>
    Object.entries(postback)
      .filter(([field]) => !UNSIGNED.includes(field))
      .map(([field, value]) => ({ name, field, value, postback })),
  );

  it.each(changes)('is refused with another $field: $name', async ({ field, value, postback }) => {
    const others = {
      boolean: () => !value,
      number: () => Number(value) + (Number(value) === 1 ? -1 : 1),
      string: () => `${value}1`,
    };
    const other = others[typeof value as keyof typeof others]();
    expect(await refusal(readSkanPostback, { ...postback, [field]: other })).not.toBe('accepted');
    const { [field]: _, ...without } = postback as Record<string, unknown>;
    expect(await refusal(readSkanPostback, without)).not.toBe('accepted');
  });

  it.each(vectors)('is refused with any bit of its signature changed: $name', async ({ postback }) => {
    const signature = atob(postback['attribution-signature']);
    await fc.assert(
      fc.asyncProperty(fc.nat(signature.length * 8 - 1), async (bit) => {
        const bytes = Uint8Array.from(signature, (character) => character.charCodeAt(0));
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const changed = btoa(String.fromCharCode(...bytes));
        expect(await refusal(readSkanPostback, { ...postback, 'attribution-signature': changed })).toMatch(
          /signature is not Apple's/,
        );
      }),
      { numRuns: 40 },
    );
  });

  it('does not mistake one field for another', async () => {
    const { 'source-domain': domain, ...web } = SKAN_POSTBACKS['4.0 fine'];
    expect(await refusal(readSkanPostback, { ...web, 'source-app-id': domain })).toBe(
      'source-app-id must be an App Store id',
    );
    const { 'source-app-id': app, ...shown } = SKAN_POSTBACKS['2.1'];
    expect(await refusal(readSkanPostback, { ...shown, 'source-domain': String(app) })).not.toBe('accepted');
    const shifted = { ...SKAN_POSTBACKS['3.0 not winning'], 'source-app-id': 1 } as Record<string, unknown>;
    delete shifted['fidelity-type'];
    expect(await refusal(readSkanPostback, shifted)).toBe('fidelity-type is required');
  });

  it.each([
    [
      'a fine value',
      SKAN_POSTBACKS['4.0 fine'],
      { fine: 63, coarse: null, sequence: 0, sourceApp: 'example.com' },
    ],
    ['a coarse value', SKAN_POSTBACKS['4.0 coarse'], { fine: null, coarse: 'high', sourceIdentifier: '39' }],
    [
      'no value',
      SKAN_POSTBACKS['3.0 not winning'],
      { fine: null, coarse: null, didWin: false, sourceApp: null },
    ],
    ['a campaign', SKAN_POSTBACKS['2.1'], { fine: 20, sourceIdentifier: '42', fidelity: null, didWin: true }],
  ])('is read with %s', async (_, postback, expected) => {
    expect(await readSkanPostback(postback)).toMatchObject(expected);
  });

  it('keeps its signature whatever its values are, which are not signed', async () => {
    const postback = { ...SKAN_POSTBACKS['4.0 fine'], 'conversion-value': 1 };
    expect(await readSkanPostback(postback)).toMatchObject({ fine: 1 });
    expect(await readSkanPostback({ ...postback, 'conversion-value': null })).toMatchObject({ fine: null });
  });

  it.each([
    [{ version: '1.0' }, /^version 1.0 is signed with a P-192 key/],
    [{ version: '2.0' }, /^version 2.0 is signed with a P-192 key/],
    [{ version: undefined }, /^version 1.0 is signed/],
    [{ version: '5.0' }, /^version must be one of 2.1, 2.2, 3.0, 4.0$/],
    [{ version: 4 }, /^version must be text$/],
    [{ 'app-id': undefined }, /^app-id is required$/],
    [{ 'app-id': 1.5 }, /^app-id must be an App Store id$/],
    [{ 'source-domain': '1234567891' }, /^source-domain must be a domain$/],
    [{ redownload: 'false' }, /^redownload must be true or false$/],
    [{ 'conversion-value': 64 }, /^conversion-value must be a whole number from 0 to 63$/],
    [{ 'conversion-value': -1 }, /^conversion-value must be/],
    [{ 'coarse-conversion-value': 'most' }, /^coarse-conversion-value must be one of low, medium, high$/],
    [{ 'postback-sequence-index': 3 }, /^postback-sequence-index must be a whole number from 0 to 2$/],
    [{ 'transaction-id': 'a\u2063b' }, /^transaction-id must not contain invisible characters$/],
    [{ 'attribution-signature': 'not base64!' }, /signature is not Apple's/],
    [{ 'attribution-signature': undefined }, /^attribution-signature is required$/],
  ])('with %j is refused by name', async (fields, message) => {
    expect(await refusal(readSkanPostback, { ...SKAN_POSTBACKS['4.0 fine'], ...fields })).toMatch(message);
  });

  it.each([[null], [[]], ['text'], [1]])('that is %j is refused', async (body) => {
    expect(await refusal(readSkanPostback, body)).not.toBe('accepted');
  });
});

describe('an AdAttributionKit postback', () => {
  it('that Apple published verifies, as a test', async () => {
    expect(await readAakPostback(AAK_POSTBACK)).toEqual({
      framework: 'adattributionkit',
      version: null,
      transactionId: '85546EB7-FD39-44BC-8990-C98A4AC36A49',
      sequence: 0,
      appId: '10738027756',
      network: 'development.adattributionkit',
      sourceIdentifier: '1234',
      sourceApp: '0',
      fidelity: null,
      conversion: 're-engagement',
      didWin: true,
      test: true,
      fine: 24,
      coarse: null,
      country: 'us',
      interaction: 'click',
    });
  });

  const [header = '', payload = '', signature = ''] = AAK_POSTBACK['jws-string'].split('.');
  const encode = (value: unknown) =>
    btoa(JSON.stringify(value)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  const decoded: Record<string, unknown> = JSON.parse(
    atob(payload.replaceAll('-', '+').replaceAll('_', '/')),
  );
  const withJws = (...parts: string[]) => ({ ...AAK_POSTBACK, 'jws-string': parts.join('.') });

  it.each(Object.keys(decoded))('is refused with another %s', async (field) => {
    const value = decoded[field];
    const other = typeof value === 'boolean' ? !value : typeof value === 'number' ? value + 1 : `${value}1`;
    const changed = withJws(header, encode({ ...decoded, [field]: other }), signature);
    expect(await refusal(readAakPostback, changed)).toMatch(/signature is not Apple's/);
  });

  it('is refused with any character of its JWS changed', async () => {
    const jws = AAK_POSTBACK['jws-string'];
    const taken = await Promise.all(
      [...jws].flatMap((own, at) =>
        ['A', 'z', '9', '_', '.']
          .filter((other) => other !== own)
          .map(async (other) => {
            const changed = jws.slice(0, at) + other + jws.slice(at + 1);
            const answer = await refusal(readAakPostback, { ...AAK_POSTBACK, 'jws-string': changed });
            return answer === 'accepted' ? [at, other] : [];
          }),
      ),
    );
    expect(taken.flat()).toEqual([]);
  });

  it.each([
    [
      'another of its keys',
      encode({ kid: 'apple-cas-identifier/0', alg: 'ES256' }),
      /signature is not Apple's/,
    ],
    ['a key that is not theirs', encode({ kid: 'constructor', alg: 'ES256' }), /one of Apple's keys/],
    ['no key', encode({ alg: 'ES256' }), /names its key/],
    ['no signature algorithm', encode({ kid: 'apple-cas-identifier/0', alg: 'none' }), /ES256/],
    ['a header that is not JSON', 'AAAA', /ES256/],
  ])('is refused with %s', async (_, replaced, message) => {
    expect(await refusal(readAakPostback, withJws(replaced, payload, signature))).toMatch(message);
  });

  it.each([
    [withJws(header, payload), /signature is not Apple's/],
    [withJws(header, payload, ''), /signature is not Apple's/],
    [withJws(header, payload, signature, signature), /ES256/],
    [{ ...AAK_POSTBACK, 'conversion-value': '24' }, /^conversion-value must be a whole number/],
    [{ ...AAK_POSTBACK, 'country-code': 'USA' }, /^country-code must be a two-letter/],
    [{ ...AAK_POSTBACK, 'ad-interaction-type': 'tap' }, /^ad-interaction-type must be one of click, view$/],
    [{}, /^jws-string is required$/],
    [null, /must be/],
  ])('that is malformed is refused by name', async (body, message) => {
    expect(await refusal(readAakPostback, body)).toMatch(message);
  });
});
