import { MAX_CLICK_PARAM_CHARS, MAX_CLICK_PARAMS } from '#catalogue';
import { CLICK_ID_PARAMETERS } from '#networks';
import type { QueryParameters } from './query.ts';

const isClickId = ([name]: QueryParameters[number]): boolean => CLICK_ID_PARAMETERS.has(name);

/**
 * The query parameters of a link that are stored with its click: the first 20 names, each with its first value. If there are more, networks'
 * click ids go first. If a name or value is longer than 256 characters, the parameter is left out entirely, because a truncated click id
 * would be useless or wrong.
 */
export function clickParams(query: QueryParameters): Record<string, string> {
  const kept = new Map<string, string>();
  const isLong = query.length > MAX_CLICK_PARAMS;
  const ranked = isLong ? [...query.filter(isClickId), ...query.filter((one) => !isClickId(one))] : query;
  for (const [name, value] of ranked) {
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
