import { fromBase64Url } from '#lib/encoding/base64url';
import { parseJsonBytes } from '#lib/encoding/json-bytes';

export type Jws = { header: unknown; payload: unknown; signed: Uint8Array; signature: Uint8Array };

/** The parts of a JWS in compact form (RFC 7515), not verified. Null if it is malformed. Numbers beyond 2^53 are text. */
export function parseJws(text: string): Jws | null {
  const [header = '', payload = '', signature = '', ...rest] = text.split('.');
  const [headerBytes = null, payloadBytes = null, signatureBytes = null] = [header, payload, signature].map(
    fromBase64Url,
  );
  const [head, content] = [parseJsonBytes(headerBytes), parseJsonBytes(payloadBytes)];
  if (rest.length > 0 || head === null || content === null || !signatureBytes) return null;
  const signed = new TextEncoder().encode(`${header}.${payload}`);
  return { header: head, payload: content, signed, signature: signatureBytes };
}
