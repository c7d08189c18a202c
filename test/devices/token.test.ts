import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readToken, signToken, type TokenClaims } from '#devices';
import { newId } from '#lib/ids';
import { dayFromNumber } from '#lib/time';

const SECRET = 'a-secret-of-at-least-thirty-two-characters';

const claims: fc.Arbitrary<TokenClaims> = fc
  .record({
    acquired: fc.integer({ min: 14_610, max: 40_000 }),
    createdAt: fc.integer({ min: 1_262_304_000, max: 4_000_000_000 }),
    days: fc.integer({ min: 1, max: 3650 }),
    organic: fc.boolean(),
    shard: fc.integer({ min: 0, max: 63 }),
    open: fc.boolean(),
  })
  .map(({ acquired, createdAt, days, organic, shard, open }) => ({
    tokenId: newId('tok'),
    applicationId: newId('app'),
    deviceId: newId('dev'),
    creativeId: organic ? null : newId('crt'),
    acquiredDay: dayFromNumber(acquired),
    shard,
    ...(open ? { creditOpen: true } : {}),
    createdAt: createdAt * 1000,
    expiresAt: Math.min(createdAt + days * 86_400, 2 ** 32 - 1) * 1000,
  }));

describe('the device token', () => {
  it('returns what was signed', async () => {
    await fc.assert(
      fc.asyncProperty(claims, async (signed) => {
        const token = await signToken(signed, SECRET);
        expect(await readToken(token, SECRET)).toEqual(signed);
        expect(token).toMatch(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/);
        expect(token.length).toBeLessThanOrEqual(256);
      }),
      { numRuns: 300 },
    );
  });

  it('is refused if any one character is changed, removed or added', async () => {
    await fc.assert(
      fc.asyncProperty(
        claims,
        fc.nat(),
        fc.constantFrom('A', 'b', '0', '_', '.', ''),
        async (signed, at, character) => {
          const token = await signToken(signed, SECRET);
          const index = at % token.length;
          const forged = token.slice(0, index) + character + token.slice(index + 1);
          fc.pre(forged !== token);
          expect(await readToken(forged, SECRET)).toBeNull();
          expect(await readToken(`${token}${character || 'A'}`, SECRET)).toBeNull();
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is refused under another secret than the one it was last verified with', async () => {
    const [signed] = fc.sample(claims, 1) as [TokenClaims];
    const token = await signToken(signed, SECRET);
    expect(await readToken(token, SECRET)).toEqual(signed);
    expect(await readToken(token, `${SECRET}!`)).toBeNull();
    expect(await readToken(token, SECRET)).toEqual(signed);
  });

  it('is refused under another secret, as is any other text', async () => {
    const token = await signToken(fc.sample(claims, 1)[0] as TokenClaims, SECRET);
    expect(await readToken(token, `${SECRET}!`)).toBeNull();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        expect(await readToken(text, SECRET)).toBeNull();
      }),
    );
  });
});
