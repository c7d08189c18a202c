import { sql } from 'drizzle-orm';
import { ROLLUP_KEYS, type RollupTable, SEGMENT_PARTS, type Segment } from '#catalogue';
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

export type PackedPart = { fromDay: string; toDay: string; rows: number; data: string };

/** Packs rows into parts, in their order: if the latest day comes first, each part has as few days as it can. */
export function* packParts(
  table: RollupTable,
  grain: Grain,
  rows: Iterable<SegmentedRow>,
  segmentOf: SegmentOfId,
): Generator<PackedPart> {
  const width = sumColumnsOf(table).length;
  const names = segmentColumns(grain);
  let columns = new Columns(keyColumns(table).length + names.length, width);
  for (const { key, segments } of rows) {
    const own = key.slice(1).map(String);
    for (let at = 0; at < segments.length; at += width + 1) {
      const segment = names.length > 0 ? segmentOf(segments[at] ?? WHOLE_SEGMENT) : null;
      columns.add([...own, ...names.map((name) => segment?.[SEGMENT_PARTS[name]] ?? '')], segments, at + 1);
      if (columns.size < MAX_PART_ROWS) continue;
      yield* packColumns(table, grain, columns);
      columns = new Columns(columns.texts.length, width);
    }
  }
  if (columns.size > 0) yield* packColumns(table, grain, columns);
}

/** Rows by column: as objects, they would take several times the memory. */
class Columns {
  readonly texts: string[][];
  readonly sums: number[][];

  constructor(texts: number, sums: number) {
    this.texts = Array.from({ length: texts }, () => []);
    this.sums = Array.from({ length: sums }, () => []);
  }

  get size(): number {
    return this.texts[0]?.length ?? 0;
  }

  add(texts: readonly string[], sums: readonly number[], from: number): void {
    for (const [at, text] of texts.entries()) this.texts[at]?.push(text);
    for (const [at, column] of this.sums.entries()) column.push(sums[from + at] ?? 0);
  }

  slice(from: number, to: number): Columns {
    const part = new Columns(0, 0);
    part.texts.push(...this.texts.map((column) => column.slice(from, to)));
    part.sums.push(...this.sums.map((column) => column.slice(from, to)));
    return part;
  }
}

function* packColumns(table: RollupTable, grain: Grain, columns: Columns): Generator<PackedPart> {
  const { size, sums } = columns;
  const names = [...keyColumns(table), ...segmentColumns(grain)];
  const texts = new Map(names.map((name, at) => [name, columns.texts[at] ?? []]));
  const data = writePart(table, grain, { texts, sums });
  if (data.length > MAX_PART_CHARACTERS && size > 1) {
    const half = Math.ceil(size / 2);
    yield* packColumns(table, grain, columns.slice(0, half));
    yield* packColumns(table, grain, columns.slice(half, size));
    return;
  }
  const [days = []] = columns.texts;
  let [fromDay, toDay] = [days[0] ?? '', days[0] ?? ''];
  for (const day of new Set(days)) {
    if (day < fromDay) fromDay = day;
    if (day > toDay) toDay = day;
  }
  yield { fromDay, toDay, rows: size, data };
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
  for (const { key, segments } of additions.segmentedRows()) {
    together.addSegments(key.with(creativeAt, key[creativeAt] === '' ? '' : PAID), segments);
  }
  for (const row of together.rows()) yield [table, row];
  // Rows are not kept: a run may have hundreds of thousands.
  const summedUp = function* (rows: Iterable<SegmentedRow>): Generator<SegmentedRow> {
    for (const { key, segments } of rows) {
      yield { key, segments: [WHOLE_SEGMENT, ...additions.sumUp(segments)] };
    }
  };
  const rowsIn: Record<Grain, Iterable<SegmentedRow>> = {
    total: summedUp(together.latestFirst()),
    segment: together.latestFirst(),
    creative: summedUp(additions.latestFirst()),
    both: additions.latestFirst(),
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
