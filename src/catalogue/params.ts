import { dropped } from '#lib/input/leniency';
import { hasControlCharacters } from '#lib/input/one-line';

const MAX_PARAMS = 100;
const MAX_NAME = 256;
const MAX_TEXT = 256;
/** Nested values are kept as JSON, which is longer than their content. */
const MAX_JSON = 2048;

type Params = Record<string, string>;

function readValue(value: unknown): string | ReturnType<typeof dropped> | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'object') {
    const json = JSON.stringify(value).toWellFormed();
    return json.length <= MAX_JSON
      ? json
      : dropped(`must be at most ${MAX_JSON} characters of JSON; ignored`);
  }
  const text = String(value).trim().toWellFormed();
  if (text === '') return undefined;
  if (text.includes('\0')) return dropped('must not contain a NUL character; ignored');
  return text.length <= MAX_TEXT ? text : dropped(`must be at most ${MAX_TEXT} characters; ignored`);
}

/**
 * The entries of `params` as text, with nested values as JSON. Empty entries are left out. Entries that are too long, and those after the
 * first 100, are dropped.
 */
export function readParams(params: Record<string, unknown>): Params {
  const entries = Object.entries(params).map(([name, value], index) => {
    if (index >= MAX_PARAMS) return [name, dropped(`is more than ${MAX_PARAMS} entries; ignored`)] as const;
    const isUsable = name.length <= MAX_NAME && !hasControlCharacters(name) && name.isWellFormed();
    if (!isUsable)
      return [name.slice(0, MAX_NAME), dropped('has a name that is too long or malformed; ignored')] as const;
    return [name, readValue(value)] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Params;
}
