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

/**
 * The part of an address that identifies a household: all of an IPv4 address, or the /64 network of an IPv6 address, the smallest that
 * providers assign; devices change the other half daily (RFC 8981). Returns null if the text is not an address.
 */
export function networkOf(address: string): string | null {
  const text = address.trim().split('%')[0] ?? '';
  if (!text.includes(':')) return IPV4.test(text) ? text : null;
  const parsed = parseIPv6(text);
  if (parsed === null) return null;
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  return parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':');
}
