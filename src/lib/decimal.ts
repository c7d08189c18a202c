/** A positive ratio of whole numbers: exact, where a floating-point number is not. */
export type Fraction = { numerator: bigint; denominator: bigint };

export const ONE: Fraction = { numerator: 1n, denominator: 1n };

const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i;

/**
 * The one reader of numbers that are sent as text: events, callbacks, files and imports. Returns digits with a point and a sign if need be, so `.5`, `5.`, `+0.50`
 * and `9.5E-4` as `0.5`, `5`, `0.50` and `0.00095`. Null for anything else, such as `1,250`, which is another number in another country.
 */
export function readDecimal(text: string): string | null {
  const [, sign, whole = '', part = '', exponent = '0'] = NUMBER.exec(text.trim()) ?? [];
  const digits = whole + part;
  if (sign === undefined || digits === '') return null;
  const point = whole.length + Number(exponent);
  const padded = point < 0 ? '0'.repeat(-point) + digits : digits.padEnd(point, '0');
  const at = Math.max(0, point);
  const left = padded.slice(0, at).replace(/^0+(?=\d)/, '') || '0';
  const right = padded.slice(at);
  return `${sign === '-' ? '-' : ''}${left}${right === '' ? '' : `.${right}`}`;
}

const DECIMAL = /^(\d{1,15})(?:\.(\d{1,40}))?$/;

/** Parses a decimal text such as `1.0866`. Returns null if it is malformed or not above 0. */
export function parseDecimal(text: string): Fraction | null {
  const [, whole, part = ''] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) return null;
  const numerator = BigInt(whole + part);
  return numerator === 0n ? null : { numerator, denominator: 10n ** BigInt(part.length) };
}

/** A JSON number as the decimal text that was sent: the shortest text that reads back as the same number, without an exponent. */
export function toDecimal(number: number): string {
  const text = String(number);
  const [digits = '', exponent] = text.split('e');
  if (exponent === undefined) return text;
  const [whole = '', part = ''] = digits.split('.');
  const point = whole.length + Number(exponent);
  const all = whole + part;
  if (point <= 0) return `0.${'0'.repeat(-point)}${all}`;
  return point >= all.length ? all.padEnd(point, '0') : `${all.slice(0, point)}.${all.slice(point)}`;
}

export const over = (left: Fraction, right: Fraction): Fraction => ({
  numerator: left.numerator * right.denominator,
  denominator: left.denominator * right.numerator,
});

/** `above / below` rounded to the nearest whole number, halves away from zero. Requires `below` > 0. */
export function divideRounded(above: bigint, below: bigint): bigint {
  return above < 0n ? -divideRounded(-above, below) : (2n * above + below) / (2n * below);
}
