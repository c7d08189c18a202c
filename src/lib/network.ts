import ipaddr from 'ipaddr.js';
import * as z from 'zod';

/** Four decimal parts. ipaddr.js also accepts hexadecimal and shorter forms, which no header should contain. */
const IPV4 = z.regexes.ipv4;

function parseIPv6(text: string): ipaddr.IPv6 | null {
  try {
    return ipaddr.IPv6.parse(text);
  } catch {
    return null;
  }
}

/** The first 96 bits of addresses that contain an IPv4 address: mapped, translated by NAT64 (RFC 6052), and compatible (RFC 4291). */
const IPV4_PREFIXES: ReadonlySet<string> = new Set(['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0', '0:0:0:0:0:0']);

/** The IPv4 address within an IPv6 one. Null if there is none. */
function ipv4Within({ parts }: ipaddr.IPv6): string | null {
  const prefix = parts.slice(0, 6).map((part) => part.toString(16));
  const [high = 0, low = 0] = parts.slice(6);
  // `::` and `::1` are addresses of their own.
  if (high === 0 || !IPV4_PREFIXES.has(prefix.join(':'))) return null;
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/**
 * The part of an address that identifies a household: all of an IPv4 address, or the /64 network of an IPv6 address, the smallest that
 * providers assign; devices change the other half daily (RFC 8981). Returns null if the text is not an address.
 */
export function networkOf(address: string): string | null {
  const text = address.trim().split('%')[0] ?? '';
  if (!text.includes(':')) return IPV4.test(text) ? text : null;
  const parsed = parseIPv6(text);
  if (parsed === null) return null;
  const within = ipv4Within(parsed);
  if (within !== null) return within;
  return parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':');
}

/** Where no device of the public network has its address: private, shared by carriers (RFC 6598), link-local, loopback and multicast. */
const NOT_PUBLIC: ReadonlySet<string> = new Set([
  ...['private', 'carrierGradeNat', 'linkLocal', 'loopback', 'multicast', 'broadcast', 'unspecified'],
  'uniqueLocal',
]);

function rangeOf(address: string): string {
  const [plain = ''] = address.split('%');
  return ipaddr.process(plain).range();
}

/** One address of a list as proxies write it: with quotes, brackets, a port, the length of a network or the `for=` of the header Forwarded. Null if it is none. */
function readAddress(text: string): string | null {
  const plain = text
    .trim()
    .replace(/^\[?["'(]+|["')]+\]?$/g, '')
    .replace(/^(?:for|ip)=/i, '')
    .replace(/^["']+/, '')
    .trim();
  const [, inBrackets] = /^\[([^\]]*)\](?::\d{1,5}|\/\d{1,3})?$/.exec(plain) ?? [];
  const [, beforeEnd] = /^([\d.]+(?=:)|[^/]+(?=\/))(?::\d{1,5}|\/\d{1,3})$/.exec(plain) ?? [];
  const address = (inBrackets ?? beforeEnd ?? plain).trim();
  return networkOf(address) === null || rangeOf(address) === 'unspecified' ? null : address;
}

/**
 * The address in a text: one, or a list as in `X-Forwarded-For`, of which the first public address is the device's, else the first address. Null if
 * there is none.
 */
export function addressIn(text: string): string | null {
  const addresses = text.split(/[,;|\s]+/).flatMap((part) => readAddress(part) ?? []);
  return addresses.find((address) => !NOT_PUBLIC.has(rangeOf(address))) ?? addresses[0] ?? null;
}
