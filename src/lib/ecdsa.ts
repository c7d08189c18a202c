import { Buffer } from 'node:buffer';

const SCALAR_BYTES = 32;
const SEQUENCE = 0x30;
const INTEGER = 0x02;

/** An integer of a DER signature, from `start`: its 32 bytes and where it ends. Null if it is malformed or does not fit. */
function readScalar(der: Uint8Array, start: number): { bytes: Uint8Array; end: number } | null {
  const length = der[start + 1];
  if (der[start] !== INTEGER || length === undefined || length === 0) return null;
  const end = start + 2 + length;
  const digits = der.subarray(start + 2, end);
  // A leading zero only keeps the number from reading as negative.
  const bytes = digits[0] === 0 ? digits.subarray(1) : digits;
  if (digits.length !== length || bytes.length > SCALAR_BYTES) return null;
  const padded = new Uint8Array(SCALAR_BYTES);
  padded.set(bytes, SCALAR_BYTES - bytes.length);
  return { bytes: padded, end };
}

/** A P-256 signature in DER (RFC 3279) as the 64 bytes r‖s that WebCrypto verifies. Returns null if it is malformed. */
export function derToRaw(der: Uint8Array): Uint8Array | null {
  if (der[0] !== SEQUENCE || der[1] !== der.length - 2) return null;
  const r = readScalar(der, 2);
  const s = r && readScalar(der, r.end);
  if (!r || s?.end !== der.length) return null;
  const raw = new Uint8Array(2 * SCALAR_BYTES);
  raw.set(r.bytes);
  raw.set(s.bytes, SCALAR_BYTES);
  return raw;
}

/** Imports a P-256 public key (SPKI in base64) for `verifyEs256`. Throws if it is not one. */
export function importEs256Key(spki: string): Promise<CryptoKey> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  return crypto.subtle.importKey('spki', Buffer.from(spki, 'base64'), algorithm, false, ['verify']);
}

/** Verifies an ECDSA P-256 SHA-256 signature of 64 bytes. False for a signature of any other length. */
export function verifyEs256(key: CryptoKey, signature: Uint8Array, message: Uint8Array): Promise<boolean> {
  return crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, signature, message);
}
