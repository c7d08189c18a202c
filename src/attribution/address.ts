import { toBase64Url } from '#lib/base64url';
import { hmac } from '#lib/crypto';

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;

/**
 * What of an address stands for its household: all of an IPv4 address, the /64 network of an IPv6 one, whose other half
 * devices change daily (RFC 8981). Null for what is no address.
 */
export function networkOf(address: string): string | null {
  const text = address.trim().toLowerCase();
  if (IPV4.test(text)) return text.split('.').map(Number).join('.');
  const mapped = /^::ffff:([\d.]+)$/.exec(text)?.[1];
  if (mapped) return networkOf(mapped);
  const [head = '', tail, ...rest] = text.split('%')[0]?.split('::') ?? [];
  if (!text.includes(':') || rest.length > 0) return null;
  const parts = (half: string | undefined) => (half ? half.split(':') : []);
  const known = [...parts(head), ...parts(tail)];
  if (!known.every((part) => /^[0-9a-f]{1,4}$/.test(part))) return null;
  if (tail === undefined ? known.length !== 8 : known.length > 7) return null;
  const groups = [...parts(head), ...Array<string>(8 - known.length).fill('0'), ...parts(tail)];
  return groups
    .slice(0, 4)
    .map((part) => Number.parseInt(part, 16).toString(16))
    .join(':');
}

/**
 * A keyed hash of an address, the only form in which one is ever stored or sent on. It differs between applications, so that
 * nobody is followed from one to another. Null for what is no address.
 */
export async function hashAddress(
  secret: string,
  applicationId: string,
  address: string | undefined,
): Promise<string | null> {
  const network = networkOf(address ?? '');
  if (network === null) return null;
  const digest = await hmac(secret, `ip:${applicationId}:${network}`);
  return toBase64Url(digest.slice(0, 16));
}
