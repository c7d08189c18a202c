import { isCurrencyOfAnyDay } from '#lib/currencies';
import { toAsciiDigits } from '#lib/timestamp';

// Amounts and counts as people, networks and spreadsheets write them. Pure.

/**
 * Currencies without a decimal unit: a separator in their amounts separates thousands. Sources: ISO 4217, exponent 0; the second line are those
 * that Meta bills without decimals.
 */
const WITHOUT_DECIMALS: ReadonlySet<string> = new Set([
  ...'bif clp djf gnf isk jpy kmf krw pyg rwf ugx vnd vuv xaf xof xpf'.split(' '),
  ...'cop crc huf idr twd'.split(' '),
]);

/** What is written before or after an amount, and stands for one currency only: not `$`, `¥` and `kr`. */
const SYMBOLS: Readonly<Record<string, string>> = {
  ...{ '€': 'eur', '£': 'gbp', '₹': 'inr', '₩': 'krw', '₺': 'try', '₽': 'rub', '₫': 'vnd', '₪': 'ils' },
  ...{ '฿': 'thb', '₴': 'uah', '₦': 'ngn', '₱': 'php', zł: 'pln', r$: 'brl', us$: 'usd', a$: 'aud' },
  ...{
    c$: 'cad',
    ca$: 'cad',
    hk$: 'hkd',
    nt$: 'twd',
    mx$: 'mxn',
    nz$: 'nzd',
    s$: 'sgd',
    円: 'jpy',
    원: 'krw',
  },
};

/** What stands for several currencies, each with the most used ones first. */
const SHARED_SYMBOLS: Readonly<Record<string, readonly string[]>> = {
  '¥': ['jpy', 'cny'],
  元: ['cny', 'twd', 'hkd'],
  kr: ['sek', 'nok', 'dkk', 'isk'],
  $: (
    'usd cad aud mxn sgd hkd twd nzd ars clp cop uyu brl bbd bmd bnd bsd bzd dop fjd gyd jmd kyd lrd nad nio sbd srd ' +
    'top ttd xcd zwl zwg'
  ).split(' '),
};

/** How a file writes amounts: the character before decimals. Null if it does not show. */
export type DecimalStyle = '.' | ',' | null;

export type WrittenAmount = {
  /** The digits and separators, without anything around them. */
  bare: string;
  /** The currency that is written beside them, if one is. */
  currency: string | null;
  /** What is written beside them and stands for several currencies: the sign, and those. */
  shared: { sign: string; currencies: readonly string[] } | null;
};

const INVISIBLE = /[\u200E\u200F\u061C\uFEFF]/g;

/** A number or day in the digits and signs of ASCII, whatever script they are in. */
export const plainNumber = (text: string): string =>
  toAsciiDigits(text.normalize('NFKC').replace(INVISIBLE, ''))
    .replaceAll('٫', '.')
    .replaceAll('٬', ',')
    .trim();

const SPACES = /[\s\u00A0\u2007\u2009\u202F'’‘`´]/g;

/** `--` and the like, by which exports say that there is no value. */
export const isBlank = (text: string): boolean => /^(?:[-–—]+|n\/?a|null|nan)?$/i.test(text.trim());

/** Splits an amount from the currency that is written beside it. */
export function readWritten(text: string): WrittenAmount {
  const plain = plainNumber(text);
  const [, before = '', digits = plain, after = ''] =
    /^((?:\p{L}+\.?)?\p{Sc}?)\s*([\d.,\s'’‘`´-]*\d(?:e-\d{1,3})?)\s*(\p{Sc}|\p{L}+\.?)?$/iu.exec(plain) ?? [];
  const beside = [before, after].map((mark) => mark.replace(/\.$/, '').toLowerCase());
  const currency =
    beside.flatMap((mark) => SYMBOLS[mark] ?? (isCurrencyOfAnyDay(mark) ? mark : []))[0] ?? null;
  const sign = beside.find((mark) => Object.hasOwn(SHARED_SYMBOLS, mark));
  const currencies = SHARED_SYMBOLS[sign ?? ''];
  return {
    bare: digits.replace(SPACES, ''),
    currency,
    shared: currency === null && sign && currencies ? { sign, currencies } : null,
  };
}

/** One separator before three digits may be either, unless only zeros stand before it. */
const AMBIGUOUS = /^(?!0+[.,])\d{1,3}([.,])\d{3}$/;
const POINT = /^(?:\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3}|\d*)\.\d+$/;
const COMMA = /^(?:\d{1,3}(?:\.\d{3})+|\d*),\d+$/;
/** Thousands by commas or points, also as in India. */
const WHOLE = /^(?:\d+|\d{1,3}([.,])\d{3}(?:\1\d{3})+|\d{1,2}(?:,\d{2})+,\d{3})$/;
/** Spreadsheets round small negative numbers to it. */
const NOTHING = /^-0+(?:[.,]0+)?$/;
const SMALL = /^\d(?:\.\d+)?e-\d{1,3}$/i;

/** The character before decimals that all of a file's amounts agree on. Null if none shows one, or if they differ. */
export function findStyle(amounts: Iterable<string>): DecimalStyle {
  const styles = new Set<DecimalStyle>();
  for (const text of amounts) {
    const { bare } = readWritten(text);
    const whole = WHOLE.exec(bare);
    // Repeated, as in `1.234.567`, a separator is of thousands.
    if (whole && bare.includes(',')) styles.add('.');
    else if (whole && bare.includes('.')) styles.add(',');
    if (whole || AMBIGUOUS.test(bare)) continue;
    if (POINT.test(bare)) styles.add('.');
    else if (COMMA.test(bare)) styles.add(',');
  }
  const [style = null, other] = styles;
  return other === undefined ? style : null;
}

const decimals = (bare: string, point: '.' | ',') =>
  Number(point === '.' ? bare.replaceAll(',', '') : bare.replaceAll('.', '').replace(',', '.'));

/**
 * Parses an amount: `1,234.50`, `1.234,50`, `1 234,5`, `1'234.50`, `1,23,456.78`, `$12.30`. A single comma or point before three digits, as in
 * `1,234`, is ambiguous, unless the file's other amounts or the currency tell. Returns null for that, and for anything that is not an amount.
 */
export function parseAmount(
  text: string,
  { style = null, currency = '' }: { style?: DecimalStyle; currency?: string } = {},
): number | null {
  const { bare } = readWritten(text);
  if (NOTHING.test(bare)) return 0;
  if (WHOLE.test(bare)) return Number(bare.replace(/[.,]/g, ''));
  if (SMALL.test(bare)) return Number(bare);
  if (AMBIGUOUS.test(bare)) {
    if (WITHOUT_DECIMALS.has(currency.toLowerCase())) return Number(bare.replace(/[.,]/, ''));
    return style === null ? null : decimals(bare, style);
  }
  if (POINT.test(bare)) return decimals(bare, '.');
  return COMMA.test(bare) ? decimals(bare, ',') : null;
}

/** Parses a count with thousands separators, or with zeros as decimals. Returns any other text unchanged, so that the schema reports the fault. */
export function parseCount(text: string): string {
  if (isBlank(text)) return '';
  const bare = plainNumber(text)
    .replace(SPACES, '')
    .replace(/(?<=\d)[.,]0{1,2}$/, '');
  return WHOLE.test(bare) || AMBIGUOUS.test(bare) ? bare.replace(/[.,]/g, '') : text;
}
