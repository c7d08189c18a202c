import { fromBase64Url } from '#lib/encoding/base64url';
import { parseExactJson } from '#lib/encoding/exact-json';

export type Jws = { header: unknown; payload: unknown; signed: Uint8Array; signature: Uint8Array };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The parts of a JWS in compact form (RFC 7515), not verified. Null if it is malformed. Numbers beyond 2^53 are text. */
export function parseJws(text: string): Jws | null {
  const [header = '', payload = '', signature = '', ...rest] = text.split('.');
  const bytes = [header, payload, signature].map(fromBase64Url);
  const [headerBytes, payloadBytes, signatureBytes] = bytes;
  if (rest.length > 0 || !headerBytes || !payloadBytes || !signatureBytes) return null;
  try {
    return {
      header: parseExactJson(utf8.decode(headerBytes)),
      payload: parseExactJson(utf8.decode(payloadBytes)),
      signed: new TextEncoder().encode(`${header}.${payload}`),
      signature: signatureBytes,
    };
  } catch {
    return null;
  }
}
