import ipaddr from 'ipaddr.js';

/** Top-level names that no public host has: reserved by RFC 6761, 6762, 7686 and 9476 or by ICANN, or common in private networks. */
const LOCAL_NAMES = new Set([
  ...['localhost', 'local', 'internal', 'test', 'invalid', 'onion', 'alt', 'arpa'],
  ...['lan', 'home', 'corp', 'mail', 'intranet', 'private', 'localdomain'],
]);

/** All of `2000::/3` that is not set aside. The rest, such as `::10.0.0.1`, belongs to nobody or is an old form of something local. */
function isPublicAddress(host: string): boolean {
  // `process` also recognizes an IPv4 address in IPv6 notation.
  const address = ipaddr.process(host);
  const isGlobal = address.kind() === 'ipv4' || address.match(ipaddr.parseCIDR('2000::/3'));
  return isGlobal && address.range() === 'unicast';
}

function isPublicName(host: string): boolean {
  const labels = host.split('.');
  const isWhole = labels.length > 1 && labels.every((label) => label !== '');
  return isWhole && !LOCAL_NAMES.has(labels.at(-1) ?? '') && !/^\d+$/.test(labels.at(-1) ?? '');
}

/**
 * Explains why messages must not be posted to a URL; null for a public https URL. A public name that resolves to a private address is
 * harmless: a Worker's requests leave through Cloudflare's edge, which reaches only public addresses.
 */
export function webhookFault(text: string): string | null {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:') return 'must be a URL that begins with https://';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  // Below 1024 are mail, remote access and other services that are no webhooks.
  if (url.port !== '' && Number(url.port) < 1024) return 'must not have a port below 1024 other than 443';
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const isPublic = ipaddr.isValid(host) ? isPublicAddress(host) : isPublicName(host);
  return isPublic ? null : 'must not be a private or local address';
}
