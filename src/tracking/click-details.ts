import { MAX_CLICK_PARAM_CHARS, MAX_CLICK_PARAMS } from '#catalogue';
import type { Query } from './query.ts';

/**
 * The query parameters of a link that are stored with its click: the first 20 names, each with its first value. If a name or value is
 * longer than 256 characters, the parameter is left out entirely, because a truncated ad network click id would be useless or wrong.
 */
export function clickParams(query: Query): Record<string, string> {
  const kept = new Map<string, string>();
  for (const [name, value] of query) {
    if (kept.size === MAX_CLICK_PARAMS) break;
    const fits = name !== '' && Math.max(name.length, value.length) <= MAX_CLICK_PARAM_CHARS;
    // SQLite ends a text at a NUL, and our schemas refuse `__proto__` as a name.
    const storable = !name.includes('\0') && !value.includes('\0') && name !== '__proto__';
    if (fits && storable && !kept.has(name)) kept.set(name, value);
  }
  return Object.fromEntries(kept);
}

/**
 * The country of a request according to the edge, in lower case. Cloudflare reports `XX` if it is unknown and `T1` for Tor; it is
 * absent in local development. Source: Cloudflare's documentation, "IP geolocation".
 */
export function countryOf(cf: unknown): string | undefined {
  if (typeof cf !== 'object' || cf === null || !('country' in cf)) return undefined;
  const { country } = cf;
  if (typeof country !== 'string' || !/^[A-Z]{2}$/.test(country) || country === 'XX') return undefined;
  return country.toLowerCase();
}
