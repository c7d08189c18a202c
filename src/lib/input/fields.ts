import * as z from 'zod';
import { CURRENCIES, isCurrencyOfAnyDay } from '../currencies.ts';
import { readDecimal } from '../decimal.ts';
import { type IdPrefix, isId } from '../ids.ts';
import { lettersFoldedTo, MAX_FOLDED_LETTERS } from '../search.ts';
import { type DayRange, daysBetween, isDay } from '../time.ts';
import { COUNTRY_CODE_FAULT, toCountryCode } from './country.ts';
import { keeps, keptBy } from './keeps.ts';
import { CONTROL_FAULT, hasControlCharacters } from './one-line.ts';

/** One fault of a request: where (`payload.value`) and what. An empty path means the body as a whole. */
export type Fault = { path: string; message: string };

// The kinds of fields that requests consist of. Text is trimmed; empty text counts as absent, and so does null. NUL characters and lone
// surrogates are refused, because a NUL ends a text early inside SQLite and a lone surrogate does not survive storage.

/** Creates one schema per limit, on first use: building a schema slows an isolate's start more than hundreds of uses. */
function perLimit<Schema>(make: (max: number) => Schema): (max?: number) => Schema {
  const made = new Map<number, Schema>();
  return (max = 256) => {
    const schema = made.get(max) ?? make(max);
    made.set(max, schema);
    return schema;
  };
}

/** Whether a number stands for several whole numbers. */
const isRounded = (value: unknown): boolean => Number.isInteger(value) && !Number.isSafeInteger(value);

const wellFormed = (max: number, ...more: z.core.$ZodCheck<string>[]) =>
  z
    .string({
      error: ({ input }) =>
        input === undefined || input === null
          ? 'is required'
          : isRounded(input)
            ? 'must be sent as text: a JSON number does not keep all of its digits'
            : 'must be a string',
    })
    .check(
      z.overwrite((text) => text.trim().toWellFormed()),
      z.maxLength(max, `must be at most ${max} characters`),
      z.refine((text: string) => !text.includes('\0'), {
        error: 'must not contain a NUL character',
        abort: true,
      }),
      ...more,
    );

/** Printable ASCII without spaces around it, as nearly all texts are. */
const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/;

const isWithin = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= max;

const isTrimmed = (text: string): boolean =>
  text.trim() === text && text.isWellFormed() && !text.includes('\0');

/** Whether the schemas of texts return this unchanged. */
const isPlainText = (value: unknown, max: number): value is string =>
  isWithin(value, max) && (PLAIN.test(value) || isTrimmed(value));

const required = () => z.minLength(1, 'is required');

const absentIfEmpty = (text: z.ZodType<string, string>) =>
  text.nullish().transform((given) => given || undefined);

export const requiredText = perLimit((max) =>
  keeps(wellFormed(max, required()), (value) => isPlainText(value, max)),
);

export const optionalText = perLimit((max) =>
  keeps(absentIfEmpty(wellFormed(max)), (value) => value === undefined || isPlainText(value, max)),
);

// A name appears in pages, files, mail subjects and chats, where a line break or an escape sequence would pose as something else. Keys and
// filters are texts: they are only compared, also with names that were stored before.

const oneLine = () => z.refine<string>((text) => !hasControlCharacters(text), CONTROL_FAULT);

/** Whether the schemas of names return this unchanged. */
const isPlainName = (value: unknown, max: number) =>
  isWithin(value, max) && (PLAIN.test(value) || (isTrimmed(value) && !hasControlCharacters(value)));

/** As `requiredText`, without control characters. */
export const requiredName = perLimit((max) =>
  keeps(wellFormed(max, oneLine(), required()), (value) => isPlainName(value, max)),
);

/** As `optionalText`, without control characters. */
export const optionalName = perLimit((max) =>
  keeps(absentIfEmpty(wellFormed(max, oneLine())), (value) => value === undefined || isPlainName(value, max)),
);

/** Some clients send a name or key that consists of digits as a number. */
const orNumber = <Schema extends z.ZodType>(schema: Schema) =>
  keeps(
    z.preprocess((value) => (typeof value === 'number' && !isRounded(value) ? String(value) : value), schema),
    keptBy(schema),
  );

export const requiredNameOrNumber = perLimit((max) => orNumber(requiredName(max)));
export const optionalNameOrNumber = perLimit((max) => orNumber(optionalName(max)));
export const optionalTextOrNumber = perLimit((max) => orNumber(optionalText(max)));

/** Some clients send a number as decimal text. Other text is returned unchanged, to be refused, and empty text as absent. */
function textAsNumber(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (text === '') return undefined;
  const plain = readDecimal(text);
  return plain === null ? value : Number(plain);
}

const finite = () =>
  z.number({
    error: (issue) =>
      issue.input === undefined || issue.input === null ? 'is required' : 'must be a number',
  });

/** A number ≥ 0, also sent as decimal text. */
export const requiredNumber = perLimit((max) =>
  keeps(
    z.preprocess(
      textAsNumber,
      finite().check(z.gte(0, 'must not be negative'), z.lte(max, `must be at most ${max}`)),
    ),
    (value) => typeof value === 'number' && value >= 0 && value <= max,
  ),
);

export const optionalNumber = perLimit((max) =>
  keeps(
    z.preprocess(
      textAsNumber,
      requiredNumber(max)
        .nullish()
        .transform((number) => number ?? undefined),
    ),
    (value) => value === undefined || keptBy(requiredNumber(max))(value),
  ),
);

const NOT_A_COUNT = 'must be a whole number of at least 0';

/** A whole number ≥ 0, sent as a number or as text; empty text and null count as absent. */
export const optionalCount = perLimit((max) => {
  const isCount = (value: unknown) =>
    value === undefined || (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= max);
  return keeps(
    z
      .union([z.number(), z.string().trim().regex(/^\d*$/, NOT_A_COUNT), z.null()], { error: NOT_A_COUNT })
      .optional()
      .transform((value) =>
        value === undefined || value === null || value === '' ? undefined : Number(value),
      )
      .refine(isCount, { error: `must be a whole number from 0 to ${max}` }),
    isCount,
  );
});

const MANY_LETTERS = `must have at most ${MAX_FOLDED_LETTERS} different letters with upper and lower case beyond a to z`;

/** A text to search for, with `containsText` or `containsSql`. */
export const searchText = () =>
  optionalText()
    .refine((text) => lettersFoldedTo(text ?? '').length <= MAX_FOLDED_LETTERS, MANY_LETTERS)
    .meta({ description: `A text in any case, which ${MANY_LETTERS}.` });

const NOT_A_DAY = 'must be a day, as YYYY-MM-DD';

/** A calendar day. */
export const dayText = () => requiredText(10).refine(isDay, NOT_A_DAY);

export const optionalDay = () =>
  optionalText(10).refine((text) => text === undefined || isDay(text), NOT_A_DAY);

/** Checks that a period does not end before it starts, and has at most `max` days. */
export const atMostDays =
  (max: number) =>
  ({ from, to }: DayRange, ctx: z.RefinementCtx): void => {
    const fault = (message: string) => ctx.addIssue({ code: 'custom', path: ['to'], message });
    if (from > to) fault('must not be before from');
    else if (daysBetween(from, to) >= max) fault(`must be within ${max} days of from`);
  };

/** A whole number in a query, from `min` to `max`. `form` is what the error calls it. */
export function wholeNumber(min: number, max: number, form = 'a whole number') {
  const error = `must be ${form} from ${min} to ${max}`;
  return z.coerce.number({ error }).int(error).min(min, error).max(max, error);
}

/** One of a fixed set of words, in any case. */
export const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  requiredText()
    .toLowerCase()
    .pipe(z.enum(words, { error: `must be one of ${words.join(', ')}` }));

export const CURRENCY_FAULT = 'must be a currency code (ISO 4217), such as eur';

const currencyOf = (isCode: (code: string) => boolean) =>
  keeps(
    requiredText(3).toLowerCase().refine(isCode, CURRENCY_FAULT),
    (value) => typeof value === 'string' && isCode(value),
  );

/** An ISO 4217 code that is in force, in any case. */
export const currencyCode = () => currencyOf((code) => CURRENCIES.has(code));

/** The ISO 4217 code of an amount of the past, in any case. Whoever takes it checks its day: `currencyDayFault`. */
export const currencyCodeOfAnyDay = () => currencyOf(isCurrencyOfAnyDay);

export const COUNTRY_FAULT = 'must be a two-letter ISO 3166 country code such as DE, or unknown';
const COUNTRY_WORDS: ReadonlySet<string> = new Set(['unknown', 'other']);

/** A country code in any case and any form of `toCountryCode`, as two letters in lower case. */
export const optionalCountry = () =>
  optionalText(16).transform((text, ctx) => {
    const code = text === undefined ? undefined : toCountryCode(text);
    if (code !== null) return code;
    ctx.addIssue({ code: 'custom', message: COUNTRY_CODE_FAULT });
    return z.NEVER;
  });

/**
 * A country as filters have it: a two-letter code in lower case, `unknown`, or `other` for those beyond the limit of segments. Null for any other
 * text.
 */
export function toCountryFilter(text: string): string | null {
  const word = text.trim().toLowerCase();
  return COUNTRY_WORDS.has(word) ? word : toCountryCode(word);
}

/** A country in a filter, in any form that is read elsewhere. */
export const countryFilter = () =>
  requiredText(128)
    .overwrite((text) => toCountryFilter(text) ?? text)
    .refine((text) => toCountryFilter(text) !== null, COUNTRY_FAULT);

export const EMAIL_FAULT = 'must be a complete email address, such as ann@example.com';

/** An email address, in lower case. */
export const emailAddress = () => requiredText(254).toLowerCase().pipe(z.email(EMAIL_FAULT));

/** A list of 1 to `max` items, which the error calls `form`. */
export function listOfUpTo<Item extends z.ZodType>(max: number, item: Item, form: string) {
  const error = `must be a list of 1 to ${max} ${form}`;
  return z.array(item, { error }).min(1, error).max(max, error);
}

/** The `?limit=&cursor=` query of every list. */
export const listQuery = z.object({
  limit: wholeNumber(1, 200).default(50),
  cursor: z.string().max(128, 'must be at most 128 characters').default(''),
});

/** The `?limit=&cursor=` query of a list that is ordered by ids of one kind, where a cursor is the last id of a page. */
export const idListQuery = (prefix: IdPrefix) =>
  listQuery.extend({
    cursor: z
      .string()
      .refine((id) => id === '' || isId(prefix, id), 'must be a cursor returned by a previous request')
      .default(''),
  });

/** The largest number of values of one filter. */
export const MAX_FILTER_VALUES = 50;

/** A parameter that may be repeated; any of its values may match. */
export function repeatable(value: z.ZodType<string, string>) {
  const asList = (sent: unknown) => (sent === undefined || sent === null ? undefined : [sent].flat());
  const values = z
    .array(value)
    .max(MAX_FILTER_VALUES, `must have at most ${MAX_FILTER_VALUES} values`)
    .optional();
  return z.preprocess(asList, values).optional();
}
