import { fromBase64Url, toBase64Url } from '#lib/base64url';
import { hmac } from '#lib/crypto';
import { idFromBytes, idTime, idToBytes, isId } from '#lib/ids';

// A click's public id travels with the person through the store. It says which creative was clicked and proves that we said
// so: the phone may come back before the queue has brought the click, or although it never will.

/** What a click's id names. `creativeId` only where the id itself proves it. Times are epoch milliseconds. */
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
 * Reads a click id. One that is bare, was signed for another application or was tampered with proves nothing: then only the
 * click's row can tell what was clicked. Null for what is no click id.
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
  // Not in constant time: what a forged id could gain, a click on the link gives away.
  return mac === (await macOf(secret, applicationId, id, creativeId)) ? { ...named, creativeId } : named;
}
