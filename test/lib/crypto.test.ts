import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decryptText,
  encryptText,
  hmac,
  randomSecret,
  reencryptText,
  sha256Hex,
  verifyHmac,
} from '#lib/crypto';
import { fromBase64Url, toBase64Url } from '#lib/encoding/base64url';
import { idFromBytes, idTime, idToBytes, isId, newId } from '#lib/ids';

describe('crypto', () => {
  it('hashes as SHA-256 does', async () => {
    // FIPS 180-2, appendix B.1.
    expect(await sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('decrypts what it encrypted, and nothing modified or encrypted under another secret', async () => {
    const encrypted = await encryptText('secret', 'appkey_1');
    expect(encrypted).not.toContain('appkey');
    expect(await decryptText('secret', encrypted)).toBe('appkey_1');
    expect(await decryptText('another', encrypted)).toBeNull();
    expect(await decryptText('secret', `${encrypted.slice(0, -2)}AA`)).toBeNull();
    expect(await decryptText('secret', 'not base64!')).toBeNull();
  });

  it('signs and encrypts with the newest of several secrets, and verifies and decrypts with each', async () => {
    const message = new TextEncoder().encode('message');
    for (const one of ['former', 'newest']) {
      expect(await verifyHmac('newest former', message, await hmac(one, message))).toBe(true);
      expect(await decryptText('newest former', await encryptText(one, 'plain'))).toBe('plain');
    }
    expect(await verifyHmac('newest former', message, await hmac('another', message))).toBe(false);
    expect(await verifyHmac('newest', message, await hmac('newest former', message))).toBe(true);
    expect(await verifyHmac('former', message, await hmac('newest former', message))).toBe(false);
    expect(await decryptText('newest', await encryptText('newest former', 'plain'))).toBe('plain');
    expect(await decryptText('former', await encryptText('newest former', 'plain'))).toBeNull();
  });

  it('encrypts again what a former secret encrypted, and nothing else', async () => {
    const again = await reencryptText('newest former', await encryptText('former', 'plain'));
    expect(await decryptText('newest', again ?? '')).toBe('plain');
    expect(await reencryptText('newest former', again ?? '')).toBeNull();
    expect(await reencryptText('newest former', await encryptText('another', 'plain'))).toBeNull();
    expect(await reencryptText('newest', await encryptText('former', 'plain'))).toBeNull();
  });

  it('never encrypts or draws the same twice', async () => {
    expect(await encryptText('secret', 'x')).not.toBe(await encryptText('secret', 'x'));
    expect(randomSecret()).not.toBe(randomSecret());
    expect(randomSecret()).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });
});

describe('ids', () => {
  it('convert to bytes and back, and contain their creation time', () => {
    const before = Date.now();
    const id = newId('dev');
    expect(isId('dev', id)).toBe(true);
    expect(isId('app', id)).toBe(false);
    expect(idFromBytes('dev', idToBytes(id))).toBe(id);
    expect(idTime(id)).toBeGreaterThanOrEqual(before);
    expect(idTime(id)).toBeLessThanOrEqual(Date.now());
  });

  it('have the bytes of a UUID', () => {
    const uuid = crypto.randomUUID();
    const bytes = Uint8Array.from({ length: 16 }, (_, index) =>
      Number.parseInt(uuid.replaceAll('-', '').slice(index * 2, index * 2 + 2), 16),
    );
    expect(idToBytes(`dev_${uuid.replaceAll('-', '')}`)).toEqual(bytes);
  });

  it('sort by creation time', () => {
    const ids = Array.from({ length: 1000 }, () => newId('evt'));
    expect([...ids].sort()).toEqual(ids);
  });
});

describe('base64url', () => {
  it('reads back what it wrote, and no other text of the same bytes', () =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(), (bytes, at) => {
        const text = toBase64Url(bytes);
        expect(fromBase64Url(text)).toEqual(bytes);
        const index = at % Math.max(1, text.length);
        for (const other of ['A', 'B', 'w', '-', '=', '+', ' ']) {
          const changed = text.slice(0, index) + other + text.slice(index + 1);
          const read = fromBase64Url(changed);
          if (read) expect(toBase64Url(read)).toBe(changed);
        }
      }),
    ));
});
