const GROUPS = 8;
/** The groups of a /64, the smallest network that providers assign. */
const NETWORK_GROUPS = 4;

/**
 * What one caller has of the address space: an IPv4 address (also mapped, as `::ffff:192.0.2.1`), or the /64 of an IPv6 address, whose
 * owner has 2^64 addresses to choose from. Other text is returned unchanged.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  const [head = '', tail] = address.toLowerCase().split('::');
  const [left, right] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':'))) as [
    string[],
    string[],
  ];
  const zeros = tail === undefined ? 0 : Math.max(0, GROUPS - left.length - right.length);
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right];
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => group.replace(/^0+(?=.)/, ''));
  return `${network.join(':')}::/64`;
}
