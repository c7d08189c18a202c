import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { SEGMENT_DIMENSIONS, type Segment, UNKNOWN_SEGMENT } from '#catalogue';
import { loadParquet } from '#lib/encoding/parquet';
import { openPart } from '#rollup';
import { packParts } from '../../src/rollup/cube/cube.ts';
import { isText, PartFile } from '../../src/rollup/cube/part-file.ts';
import { RowSelector } from '../../src/rollup/cube/read-parts.ts';
import { sumColumnsOf } from '../../src/rollup/tables.ts';
import { additionsOf, rowsIn } from '../helpers/cube.ts';

beforeAll(loadParquet);

const TABLE = 'rollup_daily';
const SUMS = sumColumnsOf(TABLE);
const DAYS = ['2026-03-01', '2026-03-02'];
const CREATIVES = ['', 'crt_1', 'crt_2', 'crt_3'];
const COUNTRIES = ['', 'de', 'us'];

const segmentOf = (id: number): Segment => ({
  ...UNKNOWN_SEGMENT,
  country: COUNTRIES[id % 3] ?? '',
  os: id < 3 ? 'ios' : 'android',
});
const row = fc.record({
  day: fc.constantFrom(...DAYS),
  creative: fc.constantFrom(...CREATIVES),
  segment: fc.nat(5),
  sum: fc.constantFrom(0, 1, 2 ** 31, 2 ** 40),
});
const among = (texts: readonly string[]) => fc.option(fc.subarray([...texts]), { nil: undefined });

it('selects the rows and columns that are asked for', async () => {
  const asked = fc.record({
    rows: fc.array(row, { minLength: 1, maxLength: 30 }),
    day: among(DAYS),
    creative_id: among(CREATIVES),
    country: among(COUNTRIES),
    // No part of this release has it.
    network: among(['', 'meta']),
    segments: fc.subarray([...SEGMENT_DIMENSIONS]),
    sums: fc.subarray([...SUMS]),
  });
  await fc.assert(
    fc.asyncProperty(asked, async ({ rows, segments, sums, ...wanted }) => {
      const packed = rows.map(({ day, creative, segment, sum }) => ({
        key: ['app_1', day, creative, 'usd'],
        segments: [segment, ...SUMS.map((_, at) => (at % 3 === 0 ? sum : 0))],
      }));
      const [part] = [...packParts(additionsOf(TABLE, packed), 'both', segmentOf)];
      const data = part?.data ?? '';
      const given = Object.entries(wanted).flatMap(([name, texts]) =>
        texts ? [[name, texts] as const] : [],
      );
      const filters = new Map(given.map(([name, texts]) => [name, (text: string) => texts.includes(text)]));
      const whole = rowsIn(await openPart(TABLE, 'both', data));
      const { day, creative_id, country, network } = wanted;
      const matching = whole.filter(
        ({ key, segment }) =>
          (day?.includes(key[0] ?? '') ?? true) &&
          (creative_id?.includes(key[1] ?? '') ?? true) &&
          (country?.includes(segment[SEGMENT_DIMENSIONS.indexOf('country')] ?? '') ?? true) &&
          (network?.includes('') ?? true),
      );
      const inOrder = (names: readonly string[]) => SUMS.map((name) => (names.includes(name) ? name : null));
      const open = new RowSelector(TABLE, 'both', { segments, sums: inOrder(sums), filters }).open(
        await PartFile.open(data),
      );
      expect([open.size, open.searched]).toEqual([matching.length, whole.length]);
      expect(rowsIn(open)).toEqual(
        matching.map((one) => ({
          key: one.key,
          segment: SEGMENT_DIMENSIONS.map((name, at) => (segments.includes(name) ? one.segment[at] : '')),
          sums: SUMS.map((name, at) => (sums.includes(name) ? one.sums[at] : 0)),
        })),
      );
    }),
    { numRuns: 200 },
  );
});

it('reads a text of several row groups and pages as one', async () => {
  const { ByteWriter, ParquetWriter, compressors } = await loadParquet();
  const writer = new ByteWriter();
  const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' } as const;
  const schema = [
    { name: 'root', num_children: 1 },
    { name: 'currency', ...text },
  ];
  const file = new ParquetWriter({ writer, schema, codec: 'GZIP', compressors, statistics: false });
  const groups = [
    ['eur', 'eur'],
    ['usd', 'usd', 'usd'],
    Array.from({ length: 40 }, (_, at) => `c${at % 20}`),
  ];
  for (const data of groups) void file.write({ columnData: [{ name: 'currency', data }], pageSize: 20 });
  void file.finish();
  const part = await PartFile.open(Buffer.from(writer.getBytes()).toString('base64'));
  const column = part.read(['currency']).get('currency');
  if (!isText(column)) throw new Error('no texts');
  const { values, numbers } = column;
  expect(Array.from(numbers ?? [], (number) => values[number])).toEqual(groups.flat());
});
