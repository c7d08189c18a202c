import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ROLLUP_KEYS, type RollupTable } from '#catalogue';
import { BlockCache } from '../../src/rollup/block-cache.ts';
import {
  ALL_CREATIVES,
  CREATIVE_BUCKETS,
  PAID,
  sumRowsOf,
  UNSEGMENTED,
  WHOLE_SEGMENT,
} from '../../src/rollup/breakdown.ts';
import type { EntryFilter } from '../../src/rollup/entries.ts';
import { openToKeep } from '../../src/rollup/kept-block.ts';
import { type OpenBlock, openBlock } from '../../src/rollup/open-block.ts';
import { FULL_BLOCK_BYTES, packBlocks } from '../../src/rollup/segment-blocks.ts';
import { Additions, ROLLUP_TABLES, type SegmentedRow, sumColumnsOf } from '../../src/rollup/tables.ts';
import { entriesOf, unpack } from '../helpers/blocks.ts';

const sum = fc.oneof(
  fc.constant(0),
  fc.nat(40),
  fc.nat(),
  fc.integer({ min: -3, max: -1 }),
  fc.constant(10 ** 12 - 1),
  fc.constant(2 ** 51),
);
const name = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '"', "'", '\\', '\\n', '\n', 'ä', '日本', '\u0000'),
);
const id = fc.maxSafeNat().map((number) => number % 2 ** 48);

describe.each(ROLLUP_TABLES)('blocks of %s', (table) => {
  const width = sumColumnsOf(table).length;
  const row = fc.record({
    key: fc.tuple(...ROLLUP_KEYS[table].map(() => name)),
    segments: fc
      .uniqueArray(fc.tuple(id, fc.array(sum, { minLength: width, maxLength: width })), {
        selector: ([own]) => own,
        maxLength: 6,
      })
      .map((own) => own.flatMap(([segment, sums]) => [segment, ...sums])),
  });
  const rows = fc.uniqueArray(row, { selector: ({ key }) => JSON.stringify(key.slice(1)), maxLength: 8 });

  it('contain the packed sums in ASCII, however short blocks must be', () => {
    fc.assert(
      fc.property(rows, fc.constantFrom(1, 80, FULL_BLOCK_BYTES), (packed: SegmentedRow[], max) => {
        const blocks = [...packBlocks(table, packed, max)];
        for (const block of blocks) {
          expect(block).toMatch(/^[\x20-\x26\x28-\x7e]*\n[\w-]*$/);
          expect(block).not.toContain(String.raw`\n`);
        }
        const expected = new Map<string, number[]>();
        for (const { key, segments } of packed) {
          for (let at = 0; at < segments.length; at += width + 1) {
            const sums = segments.slice(at + 1, at + 1 + width);
            expected.set(`${JSON.stringify(key.slice(1))}/${segments[at]}`, sums);
          }
        }
        const found = unpack(table, blocks);
        expect(found.size).toBe(expected.size);
        for (const [own, sums] of expected) expect(found.get(own)).toEqual(sums);
      }),
      { numRuns: 60 },
    );
  });
});

const key = (placement: string) => ({
  application_id: 'app_1',
  day: '2026-03-01',
  source: 'banner',
  media_source: '',
  placement,
  creative_id: '',
  currency: 'usd',
});

it('splits rows that are too long for a block, even the segments of a single row', () => {
  const additions = new Additions('rollup_ads');
  for (let segment = 0; segment < 30_000; segment++) {
    additions.add(key('one'), segment + 2 ** 40, { impressions: 1, ad_revenue: 123_456 });
  }
  const [rows = []] = [...additions.spans(String).values()];
  const blocks = [...packBlocks('rollup_ads', rows)];
  expect(blocks.length).toBeGreaterThan(1);
  for (const { length } of blocks) expect(length).toBeLessThan(FULL_BLOCK_BYTES + 100);
  // They are nearly full: blocks are counted, read and charged by the row.
  for (const { length } of blocks.slice(0, -1)) expect(length).toBeGreaterThan(0.75 * FULL_BLOCK_BYTES);
  expect(unpack('rollup_ads', blocks).size).toBe(30_000);
});

it('uses about 8 characters per segment of a row', () => {
  const additions = new Additions('rollup_ads');
  for (let row = 0; row < 100; row++) {
    for (let segment = 0; segment < 20; segment++) {
      additions.add(key(`p${row}`), segment + 2 ** 40, {
        impressions: 100 + row,
        ad_revenue: 123_456 + segment,
      });
    }
  }
  const [rows = []] = [...additions.spans(String).values()];
  const [block = ''] = packBlocks('rollup_ads', rows);
  expect(block.length / 2_000).toBeLessThan(10);
});

/** A block of every kind of number, longer than what is read at once, and with sums that are all 0. */
function largeBlock(): { text: string; table: 'rollup_daily' } {
  const rows = Array.from({ length: 2_500 }, (_, row) => ({
    key: ['app_1', row % 5 === 0 ? '2026-03-01' : '2026-03-02', `crt_${row}`, 'usd'],
    segments: [7, 8, 9].flatMap((segment) => [
      segment,
      ...sumColumnsOf('rollup_daily').map((_, at) => {
        if (at === 3) return 0;
        return at === 4 ? -row : at === 5 ? 2 ** 45 + row : (row + segment) % 2 ** (2 * at + 2);
      }),
    ]),
  }));
  const [text = ''] = packBlocks('rollup_daily', rows, 10_000_000);
  return { text, table: 'rollup_daily' };
}

it('reads a kept block like its text, as often as needed', () => {
  const { text, table } = largeBlock();
  const cache = new BlockCache();
  const kept = openToKeep(table, [text], cache.share);
  const expected = entriesOf(openBlock(table, text));
  expect(expected).toHaveLength(7_500);
  expect(expected.find(({ key, segment }) => key[1] === 'crt_2' && segment === 8)).toEqual({
    key: ['2026-03-02', 'crt_2', 'usd'],
    segment: 8,
    sums: [2, 10, 10, 0, -2, 2 ** 45 + 2, ...Array.from({ length: 10 }, () => 10)],
  });
  expect(sorted(entriesOf(kept))).toEqual(sorted(expected));
  expect(sorted(entriesOf(kept))).toEqual(sorted(expected));
});

it('keeps the sums of a block without those that are 0', () => {
  const columns = sumColumnsOf('rollup_daily');
  const row = (at: number, names: readonly string[]) => ({
    key: ['app_1', '2026-03-02', `crt_${at % 100}`, at < 100 ? '' : 'usd'],
    segments: [7, ...columns.map((name) => (names.includes(name) ? 1 + (at % 200) : 0))],
  });
  const kinds = [['clicks'], ['impressions'], ['installs', 'sessions'], ['clicks', 'impressions']];
  const rows = Array.from({ length: 200 }, (_, at) => row(at, kinds[at % 4] ?? []));
  const [text = ''] = packBlocks('rollup_daily', rows, 10_000_000);
  const kept = openToKeep('rollup_daily', [text], (value) => value);
  expect(sorted(entriesOf(kept))).toEqual(sorted(entriesOf(openBlock('rollup_daily', text))));
  // A byte for the creative and one for the currency of each entry, a byte per sum, and the mask and size of each group.
  expect(kept.bytes).toBe(200 * 2 + 50 * (1 + 1 + 2 + 2) + 4 * 16);
});

/** Readers may pass entries in any order. */
const sorted = (entries: ReturnType<typeof entriesOf>) =>
  entries
    .map((entry) => ({ entry, key: JSON.stringify([entry.segment, entry.key]) }))
    .sort((left, right) => (left.key < right.key ? -1 : 1))
    .map(({ entry }) => entry);

it('adds up the sums of several kept blocks, with amounts carried', () => {
  const { text, table } = largeBlock();
  const amountAt = sumColumnsOf(table).indexOf('ad_revenue');
  const row = (creative: string, segment: number, installs: number, nanos: number) => ({
    key: ['app_1', '2026-03-02', creative, 'usd'],
    segments: [
      segment,
      ...sumColumnsOf(table).map((_, at) => (at === 1 ? installs : at === amountAt ? nanos : 0)),
    ],
  });
  const almost = 10 ** 12 - 1;
  const [small = ''] = packBlocks(table, [row('crt_new', 9, 3, almost), row('crt_1', 8, 5, 7)]);
  const [again = ''] = packBlocks(table, [row('crt_new', 5, 1, 1), row('crt_new', 9, 4, almost)]);
  // Exactly the least that is carried, alone.
  const [least = ''] = packBlocks(table, [row('crt_new', 9, 4, 1)]);
  const exact = entriesOf(openToKeep(table, [small, least], new BlockCache().share));
  expect(
    exact
      .find(({ key, segment }) => key[1] === 'crt_new' && segment === 9)
      ?.sums.slice(amountAt, amountAt + 2),
  ).toEqual([0, 1]);
  const kept = openToKeep(table, [small, text, again], new BlockCache().share);
  const inTwoParts = new Map<string, number[]>();
  for (const [name, sums] of unpack(table, [small, text, again])) {
    const own = [...sums];
    const low = own[amountAt] ?? 0;
    own[amountAt] = low % 10 ** 12;
    own[amountAt + 1] = (own[amountAt + 1] ?? 0) + Math.floor(low / 10 ** 12);
    inTwoParts.set(name, own);
  }
  const found = entriesOf(kept);
  expect(found).toHaveLength(7_502);
  expect(found.find(({ key, segment }) => key[1] === 'crt_new' && segment === 9)?.sums).toEqual(
    sumColumnsOf(table).map((_, at) =>
      at === 1 ? 7 : at === amountAt ? almost - 1 : at === amountAt + 1 ? 1 : 0,
    ),
  );
  expect(new Map(found.map(({ key, segment, sums }) => [`${JSON.stringify(key)}/${segment}`, sums]))).toEqual(
    inTwoParts,
  );
});

it.each<[string, (table: 'rollup_daily', text: string) => OpenBlock]>([
  ['a text', openBlock],
  ['a kept block', (table, text) => openToKeep(table, [text], (value) => value)],
])('reads of %s only the entries with wanted values and segments', (_, open) => {
  const { text, table } = largeBlock();
  const block = open(table, text);
  const flags = (values: readonly unknown[], wanted: readonly unknown[]) =>
    Uint8Array.from(values, (value) => (wanted.includes(value) ? 1 : 0));
  const [days = [], creatives = []] = block.keys;
  const read = (filter: EntryFilter) => entriesOf(block, filter);
  const all = entriesOf(block);
  const day = '2026-03-01';
  const keys = [flags(days, [day]), null, null];
  expect(read({ keys, segments: null })).toEqual(all.filter(({ key }) => key[0] === day));
  const few = ['crt_5', 'crt_6', 'crt_2490'];
  const both = { keys: [keys[0] ?? null, flags(creatives, few), null], segments: flags(block.segments, [9]) };
  expect(read(both)).toEqual(
    all.filter(({ key, segment }) => key[0] === day && few.includes(key[1] ?? '') && segment === 9),
  );
  expect(read(both).map(({ key }) => key[1])).toEqual(['crt_5', 'crt_2490']);
  expect(read({ keys: [flags(days, []), null, null], segments: null })).toEqual([]);
  expect(read({ keys: [null, null, null], segments: null })).toEqual(all);
});

it('can be read again after a reader failed', () => {
  const { text, table } = largeBlock();
  const block = openBlock(table, text);
  const expected = entriesOf(block);
  expect(() =>
    block.read(() => {
      throw new Error('full');
    }),
  ).toThrow('full');
  expect(entriesOf(block)).toEqual(expected);
});

const NAMES = [['2026-03-01'], [''], [''], [''], [''], ['']];
const head = (index: string, masks = [1], rows = 'AAAAAA') => JSON.stringify([index, NAMES, rows, masks]);

it('reads segments of more rows than are read at once', () => {
  const rows = Array.from({ length: 10_000 }, (_, row) => ({
    key: ['app_1', '2026-03-01', `crt_${row}`, 'usd'],
    segments: [7, ...sumColumnsOf('rollup_daily').map((_, at) => (at === 0 ? row + 1 : 0))],
  }));
  const [text = ''] = packBlocks('rollup_daily', rows, 10_000_000);
  const entries = entriesOf(openBlock('rollup_daily', text));
  expect(entries.map(({ key, sums }) => [key[1], sums[0]])).toEqual(
    rows.map((_, row) => [`crt_${row}`, row + 1]),
  );
});

it.each([
  ['a text without its first line', 'AAAA', 'not a block'],
  ['no JSON', 'x\nAAAA', 'is not valid JSON'],
  [
    'a row that does not end',
    `${head(';AAAAAAAB0000000;........0000004', [1], 'AAAAAg')}\nAAAC`,
    'not a block',
  ],
  ['a number that does not end', `${head(';AAAAAAAB0000000;........0000007')}\nAAAgggg`, 'not a block'],
  [
    'a section that is longer than its index says',
    `${head(';AAAAAAAB0000000;........0000002')}\nAAAC`,
    'not a block',
  ],
  ['a section of an unknown segment', `${head(';AAAAAAAB0000000;........0000004')}\nBAAC`, 'not a block'],
  ['an empty section', `${head(';AAAAAAAB0000000;........0000000')}\nAAAC`, 'not a block'],
  ['a group of too many entries', `${head(';AAAAAAAB0000000;........0000007')}\nAggggBC`, 'not a block'],
  ['a group without a mask', `${head(';AAAAAAAB0000000;........0000004', [])}\nAAAC`, 'not a block'],
])('refuses %s', (_, text, message) => {
  const open = () => openBlock('rollup_ads', text).read(() => undefined);
  expect(open).toThrow(message);
  // What was read of it is not part of the next block.
  const good = openBlock('rollup_ads', `${head(';AAAAAAAB0000000;........0000004')}\nAAAC`);
  expect(entriesOf(good)).toEqual([
    { key: NAMES.map(([value]) => value), segment: 1, sums: [1, ...Array.from({ length: 3 }, () => 0)] },
  ]);
});

it('skips the sections of other segments without reading them', () => {
  const index = ';AAAAAAAB0000000;AAAAAAAC0000004;AAAAAAAD0000008;........0000012';
  // The second section has no group that could be read.
  const block = openBlock('rollup_ads', `${head(index)}\nAAACB___CAAE`);
  const segments = Uint8Array.of(1, 0, 1);
  expect(entriesOf(block, { keys: [], segments }).map(({ segment, sums }) => [segment, sums[0]])).toEqual([
    [1, 1],
    [3, 2],
  ]);
  expect(() => entriesOf(block)).toThrow('not a block');
});

it.each(ROLLUP_TABLES.filter((table) => table !== 'rollup_hours'))(
  'of %s are by creative and segment, by segment for all creatives together, and by creative alone',
  (table) => {
    const additions = new Additions<RollupTable>(table);
    const width = sumColumnsOf(table).length;
    const keyOf = (creative: string) =>
      ROLLUP_KEYS[table].map((column) => (column === 'creative_id' ? creative : '2026-03-02'));
    const sums = (first: number) => Array.from({ length: width }, (_, index) => first + index);
    for (const [creative, segment, first] of [
      ['', 7, 1],
      ['crt_1', 7, 10],
      ['crt_1', 8, 100],
      ['crt_2', 8, 1_000],
    ] as const) {
      additions.addSegments(keyOf(creative), [segment, ...sums(first)]);
    }
    const found = new Map<number, Map<string, number[]>>();
    for (const [kind, row] of sumRowsOf(additions, 0)) {
      if (kind !== 'blocks') continue;
      const [, bucket, , , data] = row;
      found.set(bucket, new Map([...(found.get(bucket) ?? []), ...unpack(table, [data])]));
    }
    const named = (creative: string, segment: number) =>
      `${JSON.stringify(keyOf(creative).slice(1))}/${segment}`;
    const added = (...firsts: number[]) =>
      sums(0).map((index) => firsts.reduce((total, first) => total + first + index, 0));
    const own = new Map([
      [named('', 7), added(1)],
      [named('crt_1', 7), added(10)],
      [named('crt_1', 8), added(100)],
      [named('crt_2', 8), added(1_000)],
    ]);
    const byHash = Array.from({ length: CREATIVE_BUCKETS }, (_, at) => [...(found.get(at + 1) ?? [])]);
    expect(new Map(byHash.flat())).toEqual(own);
    expect(found.get(ALL_CREATIVES)).toEqual(
      new Map([
        [named('', 7), added(1)],
        [named(PAID, 7), added(10)],
        [named(PAID, 8), added(100, 1_000)],
      ]),
    );
    expect(found.get(UNSEGMENTED)).toEqual(
      new Map([
        [named('', WHOLE_SEGMENT), added(1)],
        [named('crt_1', WHOLE_SEGMENT), added(10, 100)],
        [named('crt_2', WHOLE_SEGMENT), added(1_000)],
      ]),
    );
  },
);
