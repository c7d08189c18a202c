import { Buffer } from 'node:buffer';

/** Base64url without padding (RFC 4648, section 5). */
export function toBase64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url');
}

// If a length is not a multiple of four, the last character has spare bits: four after one byte, two after two. They must be 0, so
// that every byte sequence has exactly one spelling.
const CANONICAL = [/^[\w-]*$/, null, /^[\w-]*[AQgw]$/, /^[\w-]*[AEIMQUYcgkosw048]$/];

/** Returns null for text that `toBase64Url` cannot have produced. */
export function fromBase64Url(text: string): Uint8Array | null {
  if (!CANONICAL[text.length % 4]?.test(text)) return null;
  return new Uint8Array(Buffer.from(text, 'base64url'));
}

/** Bytes in standard base64, padded (RFC 4648, section 4). Returns null for any other text. */
export function fromBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  return fromBase64Url(text.replaceAll('=', '').replaceAll('+', '-').replaceAll('/', '_'));
}
