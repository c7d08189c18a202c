import { sql } from 'drizzle-orm';
import {
  ROLLUP_KEYS,
  type RollupTable,
  type SEGMENT_DIMENSIONS,
  SEGMENT_PARTS,
  type Segment,
} from '#catalogue';
import { columnList, cubeParts, MAX_VALUE_BYTES, toStatement } from '#db';
import { GRAINS, type Grain, keyColumns, PAID, segmentColumns } from './grains.ts';
import { writePart } from './part-file.ts';
import { type Additions, type SegmentedRow, sumColumnsOf } from './tables.ts';

// The cube: the rollups by creative and by segment. A run only adds parts and changes none: usually one for each rollup and grain that it counted
// something for, whatever days it touches.

/** The id in place of a segment's for the sums of all segments. */
const WHOLE_SEGMENT = 0;

/** The rows of a part. With its columns decoded, it takes a few megabytes. */
const MAX_PART_ROWS = 20_000;
/** The Base64 text of a part. Its rows are halved until it fits. */
const MAX_PART_CHARACTERS = MAX_VALUE_BYTES;

/** A row that a run adds to `cube_parts`. `number` distinguishes the parts of a run. */
export type PartRow = [
  rollup: RollupTable,
  grain: Grain,
  number: number,
  fromDay: string,
  toDay: string,
  rows: number,
  data: string,
];

/** The segment of an id that the rows have. */
export type SegmentOfId = (id: number) => Segment;

type FlatRow = { key: readonly string[]; segment: Segment | null; sums: readonly number[] };
export type PackedPart = { fromDay: string; toDay: string; rows: number; data: string };

/** Packs rows into parts, latest day first, so that each has as few days as it can. */
export function* packParts(
  table: RollupTable,
  grain: Grain,
  rows: Iterable<SegmentedRow>,
  segmentOf: SegmentOfId,
): Generator<PackedPart> {
  const flat = [...flatten(table, grain, rows, segmentOf)];
  flat.sort((left, right) => compare(right.key[0], left.key[0]));
  for (let from = 0; from < flat.length; from += MAX_PART_ROWS) {
    yield* packSlice(table, grain, flat.slice(from, from + MAX_PART_ROWS));
  }
}

const compare = (left = '', right = '') => (left < right ? -1 : left > right ? 1 : 0);

function* packSlice(table: RollupTable, grain: Grain, rows: readonly FlatRow[]): Generator<PackedPart> {
  const texts = new Map<string, string[]>();
  for (const [at, name] of keyColumns(table).entries())
    texts.set(
      name,
      rows.map(({ key }) => key[at] ?? ''),
    );
  for (const name of segmentColumns(grain) as typeof SEGMENT_DIMENSIONS) {
    texts.set(
      name,
      rows.map(({ segment }) => segment?.[SEGMENT_PARTS[name]] ?? ''),
    );
  }
  const sums = sumColumnsOf(table).map((_, at) => rows.map((row) => row.sums[at] ?? 0));
  const data = writePart(table, grain, { texts, sums });
  if (data.length > MAX_PART_CHARACTERS && rows.length > 1) {
    const half = Math.ceil(rows.length / 2);
    yield* packSlice(table, grain, rows.slice(0, half));
    yield* packSlice(table, grain, rows.slice(half));
    return;
  }
  yield { fromDay: rows.at(-1)?.key[0] ?? '', toDay: rows[0]?.key[0] ?? '', rows: rows.length, data };
}

function* flatten(
  table: RollupTable,
  grain: Grain,
  rows: Iterable<SegmentedRow>,
  segmentOf: SegmentOfId,
): Generator<FlatRow> {
  const width = sumColumnsOf(table).length;
  for (const { key, segments } of rows) {
    const own = key.slice(1).map(String);
    for (let at = 0; at < segments.length; at += width + 1) {
      const segment = grain === 'creative' ? null : segmentOf(segments[at] ?? WHOLE_SEGMENT);
      yield { key: own, segment, sums: segments.slice(at + 1, at + 1 + width) };
    }
  }
}

/**
 * What a run adds to D1 for a rollup: the rows of its table, which has all creatives together, and parts of the cube numbered from `first`.
 */
export function* sumRowsOf(
  additions: Additions<RollupTable>,
  first: number,
  segmentOf: SegmentOfId,
): Generator<[kind: RollupTable, row: (string | number)[]] | [kind: 'parts', row: PartRow]> {
  const { table } = additions;
  // Figures by hour have no segments, and their rows are by creative.
  if (table === 'rollup_hours') {
    for (const row of additions.rows()) yield [table, row];
    return;
  }
  const creativeAt = (ROLLUP_KEYS[table] as readonly string[]).indexOf('creative_id');
  const together = additions.emptied();
  const whole: SegmentedRow[] = [];
  const both: SegmentedRow[] = [...additions.segmentedRows()];
  for (const { key, segments } of both) {
    whole.push({ key, segments: [WHOLE_SEGMENT, ...additions.sumUp(segments)] });
    together.addSegments(key.with(creativeAt, key[creativeAt] === '' ? '' : PAID), segments);
  }
  for (const row of together.rows()) yield [table, row];
  const rowsIn: Record<Grain, Iterable<SegmentedRow>> = {
    segment: together.segmentedRows(),
    creative: whole,
    both,
  };
  let number = first;
  for (const grain of GRAINS) {
    for (const { fromDay, toDay, rows, data } of packParts(table, grain, rowsIn[grain], segmentOf)) {
      yield ['parts', [table, grain, number++, fromDay, toDay, rows, data]];
    }
  }
}

/** The origin of a run's parts: its counter, and the part of the outbox that contains them. */
export type PartSource = { applicationId: string; shard: number; sequence: number };

export const PART_COLUMNS = [
  cubeParts.applicationId,
  cubeParts.shard,
  cubeParts.sequence,
  cubeParts.level,
  cubeParts.rollup,
  cubeParts.grain,
  cubeParts.number,
  cubeParts.fromDay,
  cubeParts.toDay,
  cubeParts.rows,
  cubeParts.data,
  cubeParts.bytes,
];

/** The statement that adds parts. `rows` are `PartRow`s. */
export const addParts = (
  db: D1Database,
  { applicationId, shard, sequence }: PartSource,
  rows: readonly unknown[],
): D1PreparedStatement =>
  toStatement(
    db,
    sql`INSERT INTO ${cubeParts} (${columnList(PART_COLUMNS)})
      SELECT ${applicationId}, ${shard}, ${sequence}, 0, value ->> 0, value ->> 1, value ->> 2, value ->> 3,
        value ->> 4, value ->> 5, value ->> 6, length(value ->> 6)
      FROM json_each(${JSON.stringify(rows)})`,
  );
