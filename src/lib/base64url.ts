/** Base64url without padding (RFC 4648, section 5). */
export function toBase64Url(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

// The last character of a length that is no multiple of four has spare bits, which have to be 0 for a text to be the one
// spelling of its bytes: four of them after one byte, two after two.
const CANONICAL = [/^[\w-]*$/, null, /^[\w-]*[AQgw]$/, /^[\w-]*[AEIMQUYcgkosw048]$/];

/** Returns null for text that is not what `toBase64Url` makes of any bytes. */
export function fromBase64Url(text: string): Uint8Array | null {
  if (!CANONICAL[text.length % 4]?.test(text)) return null;
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
