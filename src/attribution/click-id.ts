import { hmac, secretsIn } from '#lib/crypto';
import { fromBase64Url, toBase64Url } from '#lib/encoding/base64url';
import { idFromBytes, idTime, idToBytes, isId } from '#lib/ids';

// A click's public id travels with the person through the store. It is signed and names the clicked creative, because the phone may come
// back before the queue delivers the click, or the click may never be delivered.

/** The click that an id names. `creativeId` is set only if the id itself proves it. Times are epoch milliseconds. */
export type NamedClick = { id: string; clickedAt: number; creativeId: string | null };

const MAC_BYTES = 12;

async function macOf(secret: string, applicationId: string, id: string, creativeId: string): Promise<string> {
  const mac = await hmac(secret, `click:${applicationId}:${id}:${creativeId}`);
  return toBase64Url(mac.slice(0, MAC_BYTES));
}

/** `<click id>.<creative>.<96 bits of HMAC>`, 76 URL-safe characters. */
export async function signClickId(
  secret: string,
  applicationId: string,
  id: string,
  creativeId: string,
): Promise<string> {
  const creative = toBase64Url(idToBytes(creativeId));
  return [id, creative, await macOf(secret, applicationId, id, creativeId)].join('.');
}

/**
 * Reads a click id. An id that is unsigned, signed for another application or tampered with proves nothing; only the click's row then
 * shows what was clicked. Returns null if the text is not a click id.
 */
export async function readClickId(
  secret: string,
  applicationId: string,
  text: string,
): Promise<NamedClick | null> {
  const [id = '', creative = '', mac = '', ...rest] = text.split('.');
  if (!isId('clk', id)) return null;
  const named = { id, clickedAt: idTime(id), creativeId: null };
  const bytes = fromBase64Url(creative);
  if (bytes?.length !== 16 || rest.length > 0) return named;
  const creativeId = idFromBytes('crt', bytes);
  // No constant-time comparison needed: a forged id gains nothing that a click on the link would not.
  for (const one of secretsIn(secret)) {
    if (mac === (await macOf(one, applicationId, id, creativeId))) return { ...named, creativeId };
  }
  return named;
}
