import { hmac } from '#lib/crypto';
import { toBase64Url } from '#lib/encoding/base64url';
import { networkOf } from '#lib/network';

/**
 * A keyed hash of an address, the only form in which one is ever stored or sent on. It differs between applications, so that nobody can
 * be followed from one to another. `hashKey` is that of `hashKeyOf`. Returns null if the text is not an address.
 */
export async function hashAddress(
  hashKey: string,
  applicationId: string,
  address: string | undefined,
): Promise<string | null> {
  const network = networkOf(address ?? '');
  if (network === null) return null;
  const digest = await hmac(hashKey, `ip:${applicationId}:${network}`);
  return toBase64Url(digest.slice(0, 16));
}
