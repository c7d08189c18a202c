import { Buffer } from 'node:buffer';
import { createSign, createVerify, generateKeyPairSync } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { derToRaw, importEs256Key, verifyEs256 } from '#lib/ecdsa';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');

const signed = (message: Uint8Array | string): Uint8Array =>
  new Uint8Array(createSign('sha256').update(message).sign(privateKey));

it('verifies what Node signs, in DER, and nothing with a bit changed', async () => {
  const key = await importEs256Key(spki);
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 1, maxLength: 80 }),
      fc.nat(),
      fc.boolean(),
      async (message, at, inMessage) => {
        const raw = derToRaw(signed(message));
        if (!raw) throw new Error('the signature was not read');
        expect(await verifyEs256(key, raw, message)).toBe(true);
        const changed = inMessage ? message : raw;
        const bit = at % (changed.length * 8);
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(await verifyEs256(key, raw, message)).toBe(false);
      },
    ),
    { numRuns: 200 },
  );
});

it('keeps the two numbers of every signature', () => {
  return fc.assert(
    fc.property(fc.bigInt(1n, 2n ** 256n - 1n), fc.bigInt(1n, 2n ** 256n - 1n), (r, s) => {
      const integer = (number: bigint) => {
        const hex = number.toString(16);
        const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
        const signed = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes;
        return Buffer.concat([Buffer.of(0x02, signed.length), signed]);
      };
      const body = Buffer.concat([integer(r), integer(s)]);
      const raw = derToRaw(new Uint8Array(Buffer.concat([Buffer.of(0x30, body.length), body])));
      const hex = Buffer.from(raw ?? []).toString('hex');
      expect([BigInt(`0x${hex.slice(0, 64)}`), BigInt(`0x${hex.slice(64)}`)]).toEqual([r, s]);
    }),
  );
});

it.each(['', '30', '3006020101', '300602010102', '3006020101030101', '300602010102010102', '3003020101'])(
  'refuses %s as a signature',
  (hex) => {
    expect(derToRaw(new Uint8Array(Buffer.from(hex, 'hex')))).toBeNull();
  },
);

it('never takes a shortened signature', () => {
  const der = signed('x');
  expect(createVerify('sha256').update('x').verify(publicKey, der)).toBe(true);
  for (let length = 0; length < der.length; length++) {
    expect(derToRaw(new Uint8Array(der.subarray(0, length)))).toBeNull();
  }
});
