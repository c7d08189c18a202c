import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  currencyCode,
  optionalCount,
  optionalName,
  optionalNameOrNumber,
  optionalNumber,
  optionalText,
  optionalTextOrNumber,
  requiredName,
  requiredNameOrNumber,
  requiredNumber,
  requiredText,
} from '#lib/input/fields';
import { keptBy } from '#lib/input/keeps';
import { descriptive, replaceable } from '#lib/input/leniency';

const FIELDS = {
  'required text': requiredText(8),
  'optional text': optionalText(8),
  'required name': requiredName(8),
  'optional name': optionalName(8),
  'required name or number': requiredNameOrNumber(8),
  'optional name or number': optionalNameOrNumber(8),
  'optional text or number': optionalTextOrNumber(8),
  'required number': requiredNumber(1000),
  'optional number': optionalNumber(1000),
  'optional count': optionalCount(1000),
  currency: currencyCode(),
  'descriptive text': descriptive(optionalText(8)),
  'descriptive flag': descriptive(z.boolean().nullish()),
  'replaceable name': replaceable(requiredNameOrNumber(8), 'unknown'),
  'replaceable number': replaceable(requiredNumber(1000), 0, { isAbsent: (value) => value === undefined }),
};

const values = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    null,
    '',
    ' ',
    'a',
    ' a',
    'a\0',
    'a\nb',
    'a\u0085b',
    'a\u2028b',
    'a\ud800',
    'usd',
    'USD',
    '12345678',
    '123456789',
  ),
  fc.constantFrom<unknown>(-1, -0, 0, 1, 1.5, 1000, 1001, Number.NaN, Number.POSITIVE_INFINITY, true, [], {}),
  fc.string({ unit: 'binary', maxLength: 10 }),
  fc.double({ min: -10, max: 1010 }),
  fc.anything({ maxDepth: 1 }),
);

const outcomeOf = (schema: z.ZodType, value: unknown) => {
  const { success, data, error } = schema.safeParse(value);
  return { success, data, issues: error?.issues.map(({ path, message }) => ({ path, message })) };
};

describe.each(Object.entries(FIELDS))('%s', (_, schema) => {
  // A clone has the schema's chain and no way around it.
  const chain = z.core.clone(schema as z.ZodType);

  it('returns what its chain returns', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(outcomeOf(schema, value)).toEqual(outcomeOf(chain, value));
      }),
      { numRuns: 2000 },
    );
  });

  it('accepts at least one value, which stays unchanged', () => {
    const kept: unknown[] = [undefined, 'usd', 1].filter(keptBy(schema));
    expect(kept).not.toEqual([]);
    for (const value of kept) expect(chain.parse(value)).toBe(value);
  });
});
