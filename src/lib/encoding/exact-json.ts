type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

/**
 * Parses JSON like `JSON.parse`, except that a number which a JavaScript number cannot hold exactly becomes its text: ids of advertising
 * networks exceed 2^53. Throws a `SyntaxError` for anything else than JSON.
 */
export function parseExactJson(text: string): unknown {
  return parseWithSource(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && isInexact(value, source) ? source : value,
  );
}

/** Of a number with an exponent nobody knows which digits it had: it stays one, unless it is too large for that. */
const isInexact = (value: number, source: string): boolean =>
  /e/i.test(source) ? !Number.isFinite(value) : Math.abs(value) > Number.MAX_SAFE_INTEGER;

/** The same; null for anything else than JSON. */
export function exactJsonOrNull(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return null;
  }
}

/** A number of many digits, or with a large exponent. Only in texts that have one does exactness cost anything. */
const LONG_NUMBER = /[:,[]\s*-?(?:\d{16}|\d[\d.]*e\+?\d{3})/i;

export const hasLongNumber = (text: string): boolean => LONG_NUMBER.test(text);

/** `parseExactJson`, in the time of `JSON.parse` for most texts. */
export const parseJson = (text: string): unknown =>
  hasLongNumber(text) ? parseExactJson(text) : JSON.parse(text);
