import ipaddr from 'ipaddr.js';

const LOCAL_NAMES = ['localhost', 'local', 'internal', 'home.arpa', 'test', 'invalid'];

/**
 * Explains why messages must not be posted to a URL; null for a public https URL. A public name that resolves to a private address is
 * harmless: a Worker's requests leave through Cloudflare's edge, which reaches only public addresses.
 */
export function webhookFault(text: string): string | null {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:') return 'must be a URL that begins with https://';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (ipaddr.isValid(host)) {
    // `process` also recognizes an IPv4 address in IPv6 notation.
    return ipaddr.process(host).range() === 'unicast' ? null : 'must not be a private or local address';
  }
  const isLocal = !host.includes('.') || LOCAL_NAMES.some((name) => host.endsWith(`.${name}`));
  return isLocal ? 'must not be a private or local address' : null;
}
