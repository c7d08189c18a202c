/** Second levels below which countries register domains, as in `example.co.uk`. The Public Suffix List has thousands; these are the common ones. */
const SHARED = new Set(['ac', 'co', 'com', 'edu', 'gov', 'ne', 'net', 'or', 'org']);

/**
 * The domain that was registered for a host: `example.com` of `attr.example.com`. Null for hosts that are below nobody's own domain: addresses,
 * names without a dot, and workers.dev.
 */
export function registrableDomain(host: string): string | null {
  const labels = host.toLowerCase().split('.');
  const [top = '', second = ''] = labels.toReversed();
  if (!/^[a-z][a-z\d-]+$/.test(top) || (second === 'workers' && top === 'dev')) return null;
  const own = top.length === 2 && SHARED.has(second) ? 3 : 2;
  return labels.length < own ? null : labels.slice(-own).join('.');
}
