import { MAX_CLICK_PARAM_CHARS, MAX_CLICK_PARAMS } from '#catalogue';

/**
 * The query parameters of a link that are stored with its click: the first 20 names, each with its first value. One whose name
 * or value is longer than 256 characters is left out whole: a network's click id that was cut is another id, or none.
 */
export function clickParams(query: URLSearchParams): Record<string, string> {
  const kept = new Map<string, string>();
  for (const [name, value] of query) {
    if (kept.size === MAX_CLICK_PARAMS) break;
    const fits = name !== '' && Math.max(name.length, value.length) <= MAX_CLICK_PARAM_CHARS;
    // SQLite ends a text at a NUL. `__proto__` is no name that a schema of ours lets through.
    const storable = !name.includes('\0') && !value.includes('\0') && name !== '__proto__';
    if (fits && storable && !kept.has(name)) kept.set(name, value);
  }
  return Object.fromEntries(kept);
}

/**
 * The country that the edge saw a request come from, in lower case. Cloudflare says `XX` where it does not know and `T1` for
 * Tor; locally it says nothing. Source: Cloudflare's documentation, "IP geolocation".
 */
export function countryOf(cf: unknown): string | undefined {
  if (typeof cf !== 'object' || cf === null || !('country' in cf)) return undefined;
  const { country } = cf;
  if (typeof country !== 'string' || !/^[A-Z]{2}$/.test(country) || country === 'XX') return undefined;
  return country.toLowerCase();
}
