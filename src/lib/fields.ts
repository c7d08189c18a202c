import * as z from 'zod';
import { CURRENCIES } from './currencies.ts';

/** One fault of a request: where (`payload.value`) and what. An empty path means the body as a whole. */
export type Fault = { path: string; message: string };

// The kinds of fields that requests consist of. Text is trimmed; empty text counts as absent, and so does null. NUL characters and lone
// surrogates are refused, because a NUL ends a text early inside SQLite and a lone surrogate does not survive storage.

const wellFormed = (max: number) =>
  z
    .string({
      error: (issue) =>
        issue.input === undefined || issue.input === null ? 'is required' : 'must be a string',
    })
    .overwrite((text) => text.trim().toWellFormed())
    .max(max, `must be at most ${max} characters`)
    .refine((text) => !text.includes('\0'), 'must not contain a NUL character');

export const requiredText = (max = 256) => wellFormed(max).min(1, 'is required');

export const optionalText = (max = 256) =>
  wellFormed(max)
    .nullish()
    .transform((text) => text || undefined);

/** Some clients send a name that consists of digits as a number. */
const numberAsText = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) ? String(value) : value;

/** Like `requiredText`, but also accepts a number. */
export const requiredName = (max = 256) => z.preprocess(numberAsText, requiredText(max));

/** Like `optionalText`, but also accepts a number. */
export const optionalName = (max = 256) => z.preprocess(numberAsText, optionalText(max));

const finite = () =>
  z.number({
    error: (issue) =>
      issue.input === undefined || issue.input === null ? 'is required' : 'must be a number',
  });

export const requiredNumber = (max: number) =>
  finite().min(0, 'must not be negative').max(max, `must be at most ${max}`);

export const optionalNumber = (max: number) =>
  requiredNumber(max)
    .nullish()
    .transform((number) => number ?? undefined);

const NOT_A_COUNT = 'must be a whole number of at least 0';

/** A whole number of at least 0, as a number or as text. Empty text and null count as absent. */
export const optionalCount = (max: number) =>
  z
    .union([z.number(), z.string().trim().regex(/^\d*$/, NOT_A_COUNT), z.null()], { error: NOT_A_COUNT })
    .optional()
    .transform((value) => (value === undefined || value === null || value === '' ? undefined : Number(value)))
    .refine((value) => value === undefined || (Number.isInteger(value) && value >= 0 && value <= max), {
      error: `must be a whole number from 0 to ${max}`,
    });

/** One of a fixed set of words, in any case. */
export const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  requiredText()
    .toLowerCase()
    .pipe(z.enum(words, { error: `must be one of ${words.join(', ')}` }));

/** An ISO 4217 code, in any case. */
export const currencyCode = () =>
  requiredText(3)
    .toLowerCase()
    .refine((code) => CURRENCIES.has(code), 'must be an ISO 4217 code');

const limitError = 'must be a whole number from 1 to 200';

/** The `?limit=&cursor=` query of every list. */
export const listQuery = z.object({
  limit: z.coerce
    .number({ error: limitError })
    .int(limitError)
    .min(1, limitError)
    .max(200, limitError)
    .default(50),
  cursor: z.string().max(128, 'must be at most 128 characters').default(''),
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
