import { sql } from 'drizzle-orm';
import { attributionOf, ROLLUP_KEYS, type RollupTable, type Segment } from '#catalogue';
import { columnList, cubeParts, MAX_VALUE_BYTES, toStatement } from '#db';
import { addDays } from '#lib/time';
import { type Additions, hasTable, type SegmentedRow, type StoredTable, sumColumnsOf } from '../tables.ts';
import { type Grain, grainsOf, keyColumns, segmentColumns } from './grains.ts';
import { type PartColumns, writePart } from './part-file.ts';

// The cube: the rollups by creative and by segment. A run only adds parts and changes none: usually one for each rollup and grain that it counted
// something for, whatever days it touches.

/** The id in place of a segment's for the sums of all segments. */
const WHOLE_SEGMENT = 0;

/** The rows of a part. With its columns decoded, it takes a few megabytes. */
const MAX_PART_ROWS = 20_000;
/** The Base64 text of a part. Its rows are halved until it fits. */
const MAX_PART_CHARACTERS = MAX_VALUE_BYTES;

/** The segment of an id that the rows have. */
export type SegmentOfId = (id: number) => Segment;

/** `month`: see `monthReader`. */
export type PackedPart = { month: string; fromDay: string; toDay: string; rows: number; data: string };
/** A row that a run adds to `cube_parts`. `number` distinguishes the parts of a run. */
export type PartRow = PackedPart & { rollup: RollupTable; grain: Grain; number: number };

/** Packs rows into parts, each of one month, in their order: if the latest day comes first, each part has as few days as it can. */
export function* packParts(
  table: RollupTable,
  grain: Grain,
  rows: Iterable<SegmentedRow>,
  segmentOf: SegmentOfId,
): Generator<PackedPart> {
  const monthOf = monthReader(table, grain);
  const months = new Map<string, Columns>();
  for (const cell of cellsOf(table, grain, rows, segmentOf)) {
    const month = monthOf(cell.texts);
    let columns = months.get(month);
    if (!columns) {
      columns = new Columns(table, grain);
      months.set(month, columns);
    }
    columns.add(cell);
    if (columns.size < MAX_PART_ROWS) continue;
    yield* packColumns(table, grain, month, columns);
    months.delete(month);
  }
  for (const [month, columns] of months) yield* packColumns(table, grain, month, columns);
}

/**
 * Reads the month of a row, such as `2026-03`: that of its events, also where the first day of the key is an acquisition day. So a month gets
 * no rows once it is over, except of late events.
 */
function monthReader(table: RollupTable, grain: Grain): (texts: readonly string[]) => string {
  const columns = keyColumns(table, grain);
  const [dayAt, ageAt] = [columns.indexOf('day'), columns.indexOf('age')];
  const dayOf = (texts: readonly string[]) =>
    dayAt < 0 ? addDays(texts[0] ?? '', Number(texts[ageAt])) : (texts[dayAt] ?? '');
  return (texts) => dayOf(texts).slice(0, 'YYYY-MM'.length);
}

/** A row of the cube: the texts of its key and its segment, and its sums, which are in a list from an index on. */
export type CubeCell = { texts: readonly string[]; sums: readonly number[]; from: number };

/** Each segment of each row, as a row of the cube. */
export function* cellsOf(
  table: RollupTable,
  grain: Grain,
  rows: Iterable<SegmentedRow>,
  segmentOf: SegmentOfId,
): Generator<CubeCell> {
  const width = sumColumnsOf(table).length;
  const names = segmentColumns(grain);
  for (const { key, segments } of rows) {
    const own = key.slice(1).map(String);
    for (let at = 0; at < segments.length; at += width + 1) {
      const segment = names.length > 0 ? segmentOf(segments[at] ?? WHOLE_SEGMENT) : null;
      const texts = [...own, ...names.map((name) => segment?.[name] ?? '')];
      yield { texts, sums: segments, from: at + 1 };
    }
  }
}

/** Rows of the cube by column: as objects, they would take several times the memory. */
export class Columns {
  readonly texts: ReadonlyMap<string, string[]>;
  readonly sums: readonly number[][];

  constructor(table: RollupTable, grain: Grain, columns?: PartColumns) {
    const names = [...keyColumns(table, grain), ...segmentColumns(grain)];
    this.texts = new Map(names.map((name) => [name, [...(columns?.texts.get(name) ?? [])]]));
    this.sums = sumColumnsOf(table).map((_, at) => [...(columns?.sums[at] ?? [])]);
  }

  get days(): readonly string[] {
    const [days = []] = this.texts.values();
    return days;
  }

  get size(): number {
    return this.days.length;
  }

  add({ texts, sums, from }: CubeCell): void {
    let at = 0;
    for (const column of this.texts.values()) column.push(texts[at++] ?? '');
    for (const [at, column] of this.sums.entries()) column.push(sums[from + at] ?? 0);
  }

  slice(from: number, to: number): PartColumns {
    return {
      texts: new Map([...this.texts].map(([name, column]) => [name, column.slice(from, to)])),
      sums: this.sums.map((column) => column.slice(from, to)),
    };
  }

  /** The first and last day. */
  range(): { fromDay: string; toDay: string } {
    let [fromDay, toDay] = [this.days[0] ?? '', this.days[0] ?? ''];
    for (const day of new Set(this.days)) {
      if (day < fromDay) fromDay = day;
      if (day > toDay) toDay = day;
    }
    return { fromDay, toDay };
  }
}

function* packColumns(
  table: RollupTable,
  grain: Grain,
  month: string,
  columns: Columns,
): Generator<PackedPart> {
  const { size } = columns;
  const data = writePart(table, grain, columns);
  if (data.length > MAX_PART_CHARACTERS && size > 1) {
    const half = Math.ceil(size / 2);
    yield* packColumns(table, grain, month, new Columns(table, grain, columns.slice(0, half)));
    yield* packColumns(table, grain, month, new Columns(table, grain, columns.slice(half, size)));
    return;
  }
  yield { month, ...columns.range(), rows: size, data };
}

/**
 * What a run adds to D1 for a rollup: the rows of its table if it has one, with all creatives together, and parts of the cube numbered from `first`.
 */
export function* sumRowsOf(
  additions: Additions<RollupTable>,
  first: number,
  segmentOf: SegmentOfId,
): Generator<[table: StoredTable, row: (string | number)[]] | [table: 'parts', row: PartRow]> {
  const { table } = additions;
  const creativeAt = (ROLLUP_KEYS[table] as readonly string[]).indexOf('creative_id');
  // Its keys are those of `keysTogether`.
  const together = additions.emptied();
  for (const { key, segments } of additions.segmentedRows()) {
    together.addSegments(key.with(creativeAt, attributionOf(String(key[creativeAt]))), segments);
  }
  if (hasTable(table)) for (const row of together.rows()) yield [table, row];
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
  for (const grain of grainsOf(table)) {
    for (const part of packParts(table, grain, rowsIn[grain], segmentOf)) {
      yield ['parts', { rollup: table, grain, number: number++, ...part }];
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
  cubeParts.month,
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
      SELECT ${applicationId}, ${shard}, ${sequence}, 0, value ->> 'rollup', value ->> 'grain', value ->> 'number',
        value ->> 'month', value ->> 'fromDay', value ->> 'toDay', value ->> 'rows', value ->> 'data',
        length(value ->> 'data')
      FROM json_each(${JSON.stringify(rows)})`,
  );
