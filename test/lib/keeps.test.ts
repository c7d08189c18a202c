import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  currencyCode,
  optionalCount,
  optionalName,
  optionalNumber,
  optionalText,
  requiredName,
  requiredNumber,
  requiredText,
} from '#lib/fields';
import { keepsFields, keptBy } from '#lib/keeps';
import { descriptive, replaceable, withWarnings } from '#lib/leniency';
import { timestamp } from '#lib/timestamp';

const FIELDS = {
  'required text': requiredText(8),
  'optional text': optionalText(8),
  'required name': requiredName(8),
  'optional name': optionalName(8),
  'required number': requiredNumber(1000),
  'optional number': optionalNumber(1000),
  'optional count': optionalCount(1000),
  currency: currencyCode(),
  'descriptive text': descriptive(optionalText(8)),
  'descriptive flag': descriptive(z.boolean().nullish()),
  'replaceable name': replaceable(requiredName(8), 'unknown'),
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

describe('an object of such fields', () => {
  const fields = {
    ...FIELDS,
    time: timestamp(),
    'with default': z.string().default('none'),
    'not optional': z.unknown(),
    type: z.literal('a'),
  };
  const schema = keepsFields(z.object(fields));
  const chain = z.core.clone(schema as z.ZodType);
  const good: Record<keyof typeof fields, unknown> = {
    'required text': 'a',
    'optional text': 'a',
    'required name': 'a',
    'optional name': 1,
    'required number': 1,
    'optional number': 1,
    'optional count': '1',
    currency: 'usd',
    'descriptive text': 'a',
    'descriptive flag': true,
    'replaceable name': 'a',
    'replaceable number': 1,
    time: '2026-03-02 10:00:00',
    'with default': 'some',
    'not optional': null,
    type: 'a',
  };
  const changes = fc.dictionary(
    fc.constantFrom(...Object.keys(good), 'unknown', 'constructor'),
    fc.oneof(values, fc.constant('absent')),
    { maxKeys: 4 },
  );

  it('returns what its chain returns', () => {
    const seen = new Set<boolean>();
    fc.assert(
      fc.property(changes, (changed) => {
        const body = Object.fromEntries(
          Object.entries({ ...good, ...changed }).filter(([, value]) => value !== 'absent'),
        );
        const before = structuredClone(body);
        const outcome = outcomeOf(schema, body);
        expect(outcome).toEqual(outcomeOf(chain, body));
        expect(body).toEqual(before);
        seen.add(outcome.success);
      }),
      { numRuns: 3000 },
    );
    expect(seen.size).toBe(2);
  });

  it.each([[null], [[]], ['text'], [undefined]])('refuses %j like its chain', (value) => {
    expect(outcomeOf(schema, value)).toEqual(outcomeOf(chain, value));
  });

  it('returns a new object, so that the input may be used again', () => {
    expect(schema.parse(good)).not.toBe(good);
  });
});

it('names what was dropped of a body, even after a body that was refused', () => {
  const body = z
    .object({ strict: requiredText(8), loose: descriptive(optionalText(8)) })
    .transform(withWarnings);
  const dropped = {
    loose: undefined,
    warnings: [{ path: 'loose', message: expect.stringContaining('ignored') }],
  };
  expect(body.parse({ strict: 'a', loose: 5 })).toEqual({ strict: 'a', ...dropped });
  expect(body.parse({ strict: 'a', loose: 'b' })).toEqual({ strict: 'a', loose: 'b', warnings: [] });
  expect(body.safeParse({ loose: 5 }).success).toBe(false);
  expect(body.parse({ strict: 'a', loose: 'b' })).toEqual({ strict: 'a', loose: 'b', warnings: [] });
  expect(body.parse({ strict: 'a', loose: 5 })).toEqual({ strict: 'a', ...dropped });
});
