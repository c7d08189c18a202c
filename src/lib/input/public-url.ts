import ipaddr from 'ipaddr.js';

/** Top-level names that no public host has: reserved by RFC 6761, 6762, 7686 and 9476 or by ICANN, or common in private networks. */
const LOCAL_NAMES = new Set([
  ...['localhost', 'local', 'internal', 'test', 'invalid', 'onion', 'alt', 'arpa'],
  ...['lan', 'home', 'corp', 'mail', 'intranet', 'private', 'localdomain'],
]);

/** All of `2000::/3` that is not set aside. The rest, such as `::10.0.0.1`, belongs to nobody or is an old form of something local. */
export function isPublicAddress(host: string): boolean {
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

const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');

const isLoopback = (host: string): boolean =>
  host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback');

/** Whether a URL leads to this machine by http, for trying things out. */
function isOfThisMachine(url: URL): boolean {
  return url.protocol === 'http:' && isLoopback(hostOf(url)) && url.username === '' && url.password === '';
}

/**
 * Explains why nothing must be sent to a URL; null for a public https URL. What a public name resolves to is not asked: see
 * `privateNameFault`.
 *
 * `ports`: `443`, or also those `from_1024` on; below are mail, remote access and other services that are no webhooks. `allowsLocal`: also
 * `http` to this machine, on any port.
 */
export function publicUrlFault(
  text: string,
  { ports, allowsLocal = false }: { ports: '443' | 'from_1024'; allowsLocal?: boolean },
): string | null {
  const url = URL.parse(text);
  if (allowsLocal && url && isOfThisMachine(url)) return null;
  if (url?.protocol !== 'https:') return 'must be a URL that begins with https://';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  // The URL's own port is empty for 443.
  if (url.port !== '' && ports === '443') return 'must not have a port other than 443';
  if (url.port !== '' && Number(url.port) < 1024) return 'must not have a port below 1024 other than 443';
  const host = hostOf(url);
  const isPublic = ipaddr.isValid(host) ? isPublicAddress(host) : isPublicName(host);
  return isPublic ? null : 'must not be a private or local address';
}
