import { MAX_CLICK_PARAM_CHARS, MAX_CLICK_PARAMS } from '#catalogue';
import type { Fault } from '#http';
import { COUNTED_AS_ABSENT, placeholderFault, placeholderId, placeholderName } from '#lib/input/placeholder';
import { CLICK_ID_PARAMETERS } from '#networks';
import type { QueryParameters } from './query.ts';

const isClickId = ([name]: QueryParameters[number]): boolean => CLICK_ID_PARAMETERS.has(name);

/** The warning about a parameter that its network did not fill in; null for any other. */
const faultOf = ([name, value]: QueryParameters[number]): Fault | null =>
  placeholderFault(name, value, CLICK_ID_PARAMETERS.has(name) ? placeholderId : placeholderName);

/** Why a parameter that says something cannot be stored; null if it can. */
function refusalOf([name, value]: QueryParameters[number]): Fault | null {
  const fault = (message: string) => ({
    path: name.slice(0, MAX_CLICK_PARAM_CHARS).replaceAll('\0', ''),
    message: `${message}; ${COUNTED_AS_ABSENT}`,
  });
  if (Math.max(name.length, value.length) > MAX_CLICK_PARAM_CHARS)
    return fault(`is longer than ${MAX_CLICK_PARAM_CHARS} characters`);
  // SQLite ends a text at a NUL, and our schemas refuse `__proto__` as a name.
  if (name.includes('\0') || value.includes('\0')) return fault('has a NUL character');
  return name === '__proto__' ? fault('is a name that cannot be kept') : null;
}

const MAX_FAULTS = 20;

/**
 * The parameters that are not stored, with the reasons: macros that were not replaced and null words, and what `clickParams` leaves out. At most 20,
 * because a caller may send any number.
 */
export function absentParams(query: QueryParameters): Fault[] {
  const faults = query.flatMap((one) => faultOf(one) ?? refusalOf(one) ?? []);
  if (query.length > MAX_CLICK_PARAMS) {
    const kept = new Map(Object.entries(clickParams(query)));
    for (const parameter of query) {
      const [path] = parameter;
      if (path === '' || kept.has(path) || faultOf(parameter) || refusalOf(parameter)) continue;
      faults.push({ path, message: `is beyond the first ${MAX_CLICK_PARAMS}; ${COUNTED_AS_ABSENT}` });
    }
  }
  return faults.slice(0, MAX_FAULTS);
}

/**
 * The query parameters of a link that are stored with its click: the first 20 names, each with its first value. If there are more, networks'
 * click ids go first. If a name or value is longer than 256 characters, the parameter is left out entirely, because a truncated click id
 * would be useless or wrong. So are those that say nothing: see `absentParams`.
 */
export function clickParams(query: QueryParameters): Record<string, string> {
  const kept = new Map<string, string>();
  const isLong = query.length > MAX_CLICK_PARAMS;
  const ranked = isLong ? [...query.filter(isClickId), ...query.filter((one) => !isClickId(one))] : query;
  for (const parameter of ranked) {
    const [name, value] = parameter;
    if (kept.size === MAX_CLICK_PARAMS) break;
    const isStorable = name !== '' && refusalOf(parameter) === null;
    if (isStorable && !kept.has(name) && faultOf(parameter) === null) kept.set(name, value);
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
