import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROLLUP_KEYS, type RollupTable, type Segment, UNKNOWN_SEGMENT, valuesOfSegment } from '#catalogue';
import { loadParquet } from '#lib/encoding/parquet';
import { packParts, sumRowsOf } from '../../src/rollup/cube/cube.ts';
import { segmentColumns } from '../../src/rollup/cube/grains.ts';
import { writePart } from '../../src/rollup/cube/part-file.ts';
import { Additions, ROLLUP_TABLES, sumColumnsOf } from '../../src/rollup/tables.ts';
import { addedUp, additionsOf, rowsOf, type SegmentedRow } from '../helpers/cube.ts';
import { sorted } from '../helpers/march.ts';

beforeAll(loadParquet);

const CUBED = ROLLUP_TABLES;

const sum = fc.oneof(
  fc.constant(0),
  fc.nat(40),
  fc.nat(),
  fc.integer({ min: -3, max: -1 }),
  fc.constantFrom(10 ** 12 - 1, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1, -(2 ** 40), 2 ** 51),
);
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '"', '\\', '\n', 'ä', '日本', '\u0000', '\uFEFFa', "''"),
);
const day = fc.integer({ min: 0, max: 40_000 }).map((n) => new Date(n * 864e5).toISOString().slice(0, 10));
const age = fc.nat(40_000).map(String);
const arbitraryOf = (column: string) =>
  column === 'day' || column === 'acquired_day' ? day : column === 'age' ? age : text;

const segmentOf = (id: number): Segment => ({
  country: `c${id % 5}`,
  os: id % 2 ? 'ios' : '',
  network: id % 3 ? 'meta' : '',
  app_version: `"${id}`,
  sdk_version: `${id % 7}`,
});
const segmentTexts = (id: number) => valuesOfSegment(segmentOf(id));
const UNKNOWN = valuesOfSegment(UNKNOWN_SEGMENT);

/** The names of a part's columns. */
async function columnsOf(data: string): Promise<string[]> {
  const { parquetMetadata } = await loadParquet();
  const { buffer, byteOffset, byteLength } = Buffer.from(data, 'base64');
  const bytes = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
  return parquetMetadata(bytes)
    .schema.slice(1)
    .map(({ name }) => name);
}

/** The month of the events of a row. */
function monthOf(table: RollupTable, key: readonly string[]): string {
  const at = (column: string) => key[(ROLLUP_KEYS[table] as readonly string[]).indexOf(column) - 1] ?? '';
  const day = at('day') || new Date(Date.parse(at('acquired_day')) + Number(at('age')) * 864e5).toISOString();
  return day.slice(0, 7);
}

describe.each(CUBED)('parts of %s', (table) => {
  const width = sumColumnsOf(table).length;
  const row = fc.record({
    key: fc.tuple(...ROLLUP_KEYS[table].map(arbitraryOf)),
    segments: fc
      .uniqueArray(fc.tuple(fc.nat(1_000), fc.array(sum, { minLength: width, maxLength: width })), {
        selector: ([own]) => own,
        minLength: 1,
        maxLength: 6,
      })
      .map((own) => own.flatMap(([segment, sums]) => [segment, ...sums])),
  });
  const rows = fc.uniqueArray(row, {
    selector: ({ key }) => JSON.stringify(key.slice(1)),
    minLength: 1,
    maxLength: 8,
  });

  it('hold every sum of every key and segment, and say which days they have', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (packed: SegmentedRow[]) => {
        const parts = [...packParts(additionsOf(table, packed), 'both', segmentOf)];
        const expected = new Map<string, number[]>();
        for (const { key, segments } of packed) {
          for (let at = 0; at < segments.length; at += width + 1) {
            const name = JSON.stringify([key.slice(1), segmentTexts(segments[at] ?? 0)]);
            expected.set(name, segments.slice(at + 1, at + 1 + width));
          }
        }
        const found = await addedUp(
          table,
          'both',
          parts.map(({ data }) => data),
        );
        expect(sorted(found, table)).toEqual(sorted(expected, table));
        for (const part of parts) {
          const own = await rowsOf(table, 'both', part.data);
          const days = own.map(({ key }) => key[0] ?? '').sort();
          expect([part.fromDay, part.toDay, part.rows]).toEqual([days[0], days.at(-1), own.length]);
          expect(new Set(own.map(({ key }) => monthOf(table, key)))).toEqual(new Set([part.month]));
        }
      }),
      { numRuns: 40 },
    );
  });

  it('are of all together, by segment for all creatives together, by creative alone, and by both', async () => {
    const additions = new Additions<RollupTable>(table);
    const keyOf = (creative: string) =>
      ROLLUP_KEYS[table].map((column) =>
        column === 'creative_id' ? creative : column === 'age' ? 3 : '2026-03-02',
      );
    const sums = (first: number) => Array.from({ length: width }, (_, index) => first + index);
    for (const [creative, segment, first] of [
      ['', 7, 1],
      ['crt_1', 7, 10],
      ['crt_1', 8, 100],
      ['crt_2', 8, 1_000],
    ] as const) {
      additions.addSums(keyOf(creative), segment, sums(first));
    }
    const parts = [...sumRowsOf(additions, 5, segmentOf)].flatMap(([kind, own]) =>
      kind === 'parts' ? [own] : [],
    );
    expect(parts.map(({ rollup, grain, number }) => [rollup, grain, number])).toEqual([
      [table, 'total', 5],
      [table, 'segment', 6],
      [table, 'creative', 7],
      [table, 'both', 8],
    ]);
    const columns = await Promise.all(parts.map(({ data }) => columnsOf(data)));
    const together = columns.slice(0, 2).map((own) => own.slice(0, ROLLUP_KEYS[table].length - 1));
    const key = ROLLUP_KEYS[table].slice(1);
    expect(together).toEqual(
      Array(2).fill(key.map((name) => (name === 'creative_id' ? 'attribution' : name))),
    );
    expect(columns.slice(2)).toEqual([
      [...key, ...sumColumnsOf(table)],
      [...key, ...segmentColumns('both'), ...sumColumnsOf(table)],
    ]);
    const found = await Promise.all(parts.map(({ grain, data }) => addedUp(table, grain, [data])));
    const named = (creative: string, segment: number | null) =>
      JSON.stringify([
        keyOf(creative).slice(1).map(String),
        segment === null ? UNKNOWN : segmentTexts(segment),
      ]);
    const added = (...firsts: number[]) =>
      sums(0).map((index) => firsts.reduce((total, first) => total + first + index, 0));
    expect(found).toEqual([
      new Map([
        [named('organic', null), added(1)],
        [named('paid', null), added(10, 100, 1_000)],
      ]),
      new Map([
        [named('organic', 7), added(1)],
        [named('paid', 7), added(10)],
        [named('paid', 8), added(100, 1_000)],
      ]),
      new Map([
        [named('', null), added(1)],
        [named('crt_1', null), added(10, 100)],
        [named('crt_2', null), added(1_000)],
      ]),
      new Map([
        [named('', 7), added(1)],
        [named('crt_1', 7), added(10)],
        [named('crt_1', 8), added(100)],
        [named('crt_2', 8), added(1_000)],
      ]),
    ]);
  });
});

const rowsOn = (count: number, dayOf: (row: number) => string, creativeOf: (row: number) => string) =>
  Array.from({ length: count }, (_, row) => ({
    key: ['app_1', dayOf(row), creativeOf(row), 'usd'],
    segments: [row, ...sumColumnsOf('rollup_daily').map((_, at) => (at < 3 ? 1 : 0))],
  }));

it('splits what does not fit into one statement of an exported database, latest day first', () => {
  // Random texts hardly compress.
  const rows = rowsOn(
    9_000,
    (row) => `2026-03-0${1 + (row % 9)}`,
    () => crypto.randomUUID(),
  ).sort((one, other) => (String(one.key[1]) < String(other.key[1]) ? 1 : -1));
  const parts = [...packParts(additionsOf('rollup_daily', rows), 'both', segmentOf)];
  expect(parts.length).toBeGreaterThan(3);
  for (const { data } of parts) expect(data.length).toBeLessThan(80_000);
  expect(parts.reduce((sum, part) => sum + part.rows, 0)).toBe(9_000);
  for (const [at, { toDay }] of parts.entries()) {
    const before = parts[at - 1];
    if (before) expect(toDay <= before.fromDay).toBe(true);
  }
});

it('bounds the rows of a part, however well they compress', () => {
  const parts = [
    ...packParts(
      additionsOf(
        'rollup_daily',
        rowsOn(
          45_000,
          () => '2026-03-01',
          () => 'crt_1',
        ),
      ),
      'both',
      () => segmentOf(1),
    ),
  ];
  expect(parts.map(({ rows }) => rows)).toEqual([12_000, 12_000, 12_000, 9_000]);
});

it('takes a few bytes a row', () => {
  const rows = rowsOn(
    4_000,
    () => '2026-03-01',
    (row) => `crt_${row % 200}`,
  );
  const parts = [...packParts(additionsOf('rollup_daily', rows), 'both', (id) => segmentOf(id % 20))];
  expect(parts.reduce((sum, { data }) => sum + data.length, 0) / 4_000).toBeLessThan(14);
});

it('takes a missing column for empty or 0, and ignores one that it does not know', async () => {
  const texts = new Map([
    ['day', ['2026-03-01', '2026-03-02']],
    ['creative_id', ['crt_1', '']],
    ['currency', ['usd', 'usd']],
  ]);
  const sums = sumColumnsOf('rollup_daily').map((name) => (name === 'installs' ? [1, 2] : []));
  // The grain `creative` has no segments; what is read by both finds none.
  expect(
    await rowsOf('rollup_daily', 'creative', writePart('rollup_daily', 'creative', { texts, sums })),
  ).toEqual([
    { key: ['2026-03-01', 'crt_1', 'usd'], segment: UNKNOWN, sums: sums.map(([one = 0]) => one) },
    { key: ['2026-03-02', '', 'usd'], segment: UNKNOWN, sums: sums.map(([, two = 0]) => two) },
  ]);
  // A rollup without a currency reads a part that has one.
  const other = await rowsOf(
    'rollup_custom',
    'creative',
    writePart('rollup_daily', 'creative', { texts, sums }),
  );
  expect(other.map(({ key }) => key)).toEqual([
    ['2026-03-01', '', 'crt_1'],
    ['2026-03-02', '', ''],
  ]);
});

it('refuses a text that is no part', async () => {
  await expect(rowsOf('rollup_daily', 'both', 'AAAA')).rejects.toThrow('parquet');
});
