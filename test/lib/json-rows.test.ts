import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseExactJson } from '#lib/encoding/exact-json';
import { JsonRows, type JsonRowsOptions } from '#lib/encoding/json-rows';

/** The rows of a text that arrives in pieces of these lengths. */
function rowsOf(
  text: string,
  lengths: readonly number[] = [text.length],
  options: JsonRowsOptions = {},
): unknown[] {
  const rows: unknown[] = [];
  const reader = new JsonRows((row) => rows.push(row), options);
  let at = 0;
  for (let piece = 0; at < text.length; piece++) {
    const length = Math.max(1, lengths[piece % lengths.length] ?? 1);
    reader.add(text.slice(at, at + length));
    at += length;
  }
  reader.end();
  return rows;
}

const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

it('finds the rows of any list, however it arrives', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), lengths, fc.constantFrom(0, 1, '\t'), (list, pieces, space) => {
      const expected = parseExactJson(JSON.stringify(list));
      expect(rowsOf(JSON.stringify(list, null, space), pieces)).toEqual(expected);
    }),
  );
});

it('finds the rows of an object, whatever else it has', () => {
  const others = fc.dictionary(
    fc.string().filter((key) => key !== 'rows'),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), others, others, lengths, (rows, before, after, pieces) => {
      const members = [...Object.entries(before), ['rows', rows] as const, ...Object.entries(after)];
      const text = `{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(' , ')}}`;
      expect(rowsOf(text, pieces)).toEqual(parseExactJson(JSON.stringify(rows)));
    }),
  );
});

it('refuses whatever is not JSON with a list of rows', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue(), { minLength: 1 }),
      fc.nat(),
      fc.constantFrom('', ',', ']', '}', '"', 'x', ':'),
      (list, place, change) => {
        const text = JSON.stringify(list);
        const at = place % text.length;
        const changed = text.slice(0, at) + change + text.slice(at + 1);
        let expected: unknown;
        try {
          expected = parseExactJson(changed);
        } catch {
          expect(() => rowsOf(changed)).toThrow(/^JSON /);
          return;
        }
        if (Array.isArray(expected)) expect(rowsOf(changed)).toEqual(expected);
      },
    ),
  );
});

it.each([
  ['', 'JSON that ends too early'],
  ['[', 'JSON that ends too early'],
  ['[{"a":1}', 'JSON that ends too early'],
  ['{"rows":[]', 'JSON that ends too early'],
  ['[1,]', 'JSON that cannot be read from row 2 on'],
  ['[{"a":1} {"a":2}]', 'JSON that cannot be read from row 2 on'],
  ['[{"a":tru}]', 'JSON that cannot be read from row 1 on'],
  ['[] x', 'JSON that cannot be read from row 1 on'],
  ['{"rows":[1]} {', 'JSON that cannot be read from row 2 on'],
  ['{rows:[]}', 'JSON that cannot be read from row 1 on'],
  ['{"a":1,}', 'JSON that cannot be read from row 1 on'],
  ['{"a" 1}', 'JSON that cannot be read from row 1 on'],
  ['{}', 'JSON without a list of rows'],
  ['{"a":[1]}', 'JSON without a list of rows'],
  ['{"rows":{}}', 'JSON without a list of rows'],
  ['7', 'JSON without a list of rows'],
  ['{"rows":[],"rows":[]}', 'JSON with two lists `rows`'],
  [`[1,"${'x'.repeat(20_000)}"]`, 'row 2 has more than 20000 characters'],
])('says of %j: %s', (text, message) => {
  expect(() => rowsOf(text)).toThrow(new Error(message));
  expect(() => rowsOf(text, [3])).toThrow(new Error(message));
});

it('skips long names and values of other members', () => {
  const long = 'y'.repeat(100_000);
  expect(rowsOf(`{"${long}":"${long}","rows":[1],"z":{"rows":[2]}}`)).toEqual([1]);
});

const NESTED = { key: 'results', isNested: true, refused: 'error' };

it('finds the rows of a list of objects, however it arrives', () => {
  const batch = fc.record(
    { fieldMask: fc.string(), results: fc.array(fc.jsonValue()), requestId: fc.jsonValue() },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(batch), lengths, fc.constantFrom(0, 1, '\t'), (batches, pieces, space) => {
      const text = JSON.stringify(batches, null, space);
      expect(rowsOf(text, pieces, NESTED)).toEqual(
        parseExactJson(JSON.stringify(batches.flatMap(({ results = [] }) => results))),
      );
    }),
  );
});

it.each([
  ['{"results":[]}', 'JSON that cannot be read from row 1 on'],
  ['[[]]', 'JSON that cannot be read from row 1 on'],
  ['[{"results":[1]}', 'JSON that ends too early'],
  ['[{"results":[1]},]', 'JSON that cannot be read from row 2 on'],
  ['[{"results":[1],"results":[2]}]', 'JSON with two lists `results`'],
  ['[{"results":1}]', 'JSON without a list of rows'],
  ['[{"results":[1,2]},{"error":{"code":500}}]', 'JSON with `error` after row 2'],
])('refuses %s', (text, message) => {
  expect(() => rowsOf(text, [3], NESTED)).toThrow(message);
});
