import * as fc from 'fast-check';

// Bodies that are nearly right: a valid one with a few of its fields replaced, removed or added. Whatever they do to a server,
// their number and kind is known, so that what it says it counted can be held against what it was sent.

/** Names that every object of JavaScript answers to. */
const PROTOTYPE_NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'a.constructor',
  'constructor.prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'toJSON',
  'then',
  '__defineGetter__',
  '0',
  'length',
];

/** Written into the JSON text in place of these strings, because no value of JavaScript is written so. */
const RAW_NUMBERS = {
  '@@-0@@': '-0',
  '@@1e400@@': '1e400',
  '@@-1e400@@': '-1e400',
  '@@digits@@': '9'.repeat(400),
};

const nested = (depth: number, leaf: unknown, wrap: (inner: unknown) => unknown): unknown =>
  Array.from({ length: depth }).reduce<unknown>(wrap, leaf);

const odd = fc.constantFrom<unknown>(
  null,
  true,
  false,
  '',
  '   ',
  [],
  {},
  [[]],
  -1,
  0.1,
  1e308,
  -1e308,
  5e-324,
  2 ** 53,
  ...Object.keys(RAW_NUMBERS),
  'NaN',
  'Infinity',
  '-0',
  '0x10',
  '1e9',
  '١٢٣',
  'null',
  'undefined',
  '{}',
  '{"event_name":"__proto__"}',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  '\u202eabc',
  '\ufeff',
  'İıſK',
  '👩‍👩‍👧‍👦',
  'e\u0301'.repeat(100),
  'x'.repeat(256),
  'x'.repeat(257),
  'x'.repeat(10_000),
  "'; DROP TABLE events; --",
  '%00',
  '$.a[0]',
  '2026-02-30 10:00:00',
  '2026-03-02 10:00:00',
  '9999-12-31T23:59:59Z',
  '0000-01-01 00:00:00',
  nested(500, 1, (inner) => [inner]),
  nested(500, 1, (inner) => ({ a: inner })),
  Array.from({ length: 2_000 }, (_, index) => index),
  Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`key_${index}`, `${index}`])),
);
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(...PROTOTYPE_NAMES),
);
const shallow = fc.oneof(odd, text, fc.double(), fc.integer());
/** `fromEntries` makes `__proto__` a property like any other, as JSON does. */
const record = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom(...PROTOTYPE_NAMES), text), shallow), { maxLength: 5 })
  .map((entries) => Object.fromEntries(entries));

export const junk: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: shallow },
  { weight: 2, arbitrary: record },
  { weight: 1, arbitrary: fc.array(fc.oneof(shallow, record), { maxLength: 4 }) },
);

type Body = Record<string, unknown>;
const isBody = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The body with a value at a path, as an own property at each step; `undefined` removes it. */
export function put(body: unknown, [head = '', ...rest]: readonly string[], value: unknown): Body {
  const entries = Object.entries(isBody(body) ? body : {});
  const found = entries.find(([name]) => name === head)?.[1];
  const inner = rest.length === 0 ? value : put(found, rest, value);
  const others = entries.filter(([name]) => name !== head);
  return Object.fromEntries(inner === undefined ? others : [...others, [head, inner]]);
}

/** `paths` are those of the fields that a body may have. */
export const mutations = (paths: readonly string[]) =>
  fc.array(
    fc.tuple(
      fc.oneof(
        { weight: 5, arbitrary: fc.constantFrom(...paths).map((path) => path.split('.')) },
        {
          weight: 2,
          arbitrary: fc
            .tuple(
              fc.constantFrom([], ['payload'], ['payload', 'params'], ['data']),
              fc.constantFrom(...PROTOTYPE_NAMES),
            )
            .map(([within, name]): string[] => [...within, name]),
        },
      ),
      fc.oneof({ weight: 8, arbitrary: junk }, { weight: 1, arbitrary: fc.constant(undefined) }),
    ),
    { minLength: 1, maxLength: 3 },
  );

export type Mutation = [path: string[], value: unknown];

export const mutate = (body: unknown, changes: readonly Mutation[]): Body =>
  changes.reduce<Body>((changed, [path, value]) => put(changed, path, value), isBody(body) ? body : {});

export function toText(body: unknown): string {
  return JSON.stringify(body).replace(/"(@@[^"@]+@@)"/g, (whole, name: string) =>
    Object.hasOwn(RAW_NUMBERS, name) ? RAW_NUMBERS[name as keyof typeof RAW_NUMBERS] : whole,
  );
}
