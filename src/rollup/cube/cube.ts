import { sql } from 'drizzle-orm';
import { attributionOf, type RollupTable, type Segment } from '#catalogue';
import { columnList, cubeParts, MAX_VALUE_BYTES, toStatement } from '#db';
import { addDays } from '#lib/time';
import { type Additions, type Cell, hasTable, type StoredTable, sumColumnsOf } from '../tables.ts';
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

/** Packs cells into parts, each of one month, in their order: if the latest day comes first, each part has as few days as it can. */
export function* packParts(
  additions: Additions<RollupTable>,
  grain: Grain,
  segmentOf: SegmentOfId,
): Generator<PackedPart> {
  const { table } = additions;
  const monthOf = monthReader(table, grain);
  const months = new Map<string, Columns>();
  for (const cell of cellsOf(additions, grain, segmentOf)) {
    const month = monthOf(cell.key);
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
function monthReader(table: RollupTable, grain: Grain): (key: Cell['key']) => string {
  const columns = keyColumns(table, grain);
  const [dayAt, ageAt] = [columns.indexOf('day'), columns.indexOf('age')];
  const dayOf = (key: Cell['key']) =>
    dayAt < 0 ? addDays(String(key[0]), Number(key[ageAt])) : String(key[dayAt]);
  return (key) => dayOf(key).slice(0, 'YYYY-MM'.length);
}

/** A row of the cube: a cell with the values of its segment. */
export type CubeCell = Cell & { texts: readonly string[] };

/** The rows of the cube, those of the latest day first. Each is overwritten by the next. */
export function* cellsOf(
  additions: Additions<RollupTable>,
  grain: Grain,
  segmentOf: SegmentOfId,
): Generator<CubeCell> {
  const names = segmentColumns(grain);
  const known = new Map<number, string[]>();
  for (const cell of additions.latestFirst()) {
    let texts = known.get(cell.segment);
    if (!texts) {
      texts = names.map((name) => segmentOf(cell.segment)[name]);
      known.set(cell.segment, texts);
    }
    yield Object.assign(cell, { texts });
  }
}

/** Rows of the cube by column: as objects, they would take several times the memory. */
export class Columns {
  readonly texts: ReadonlyMap<string, string[]>;
  readonly sums: readonly number[][];
  /** Those of `texts`, first of the key and then of the segment. */
  private readonly lists: readonly string[][];

  constructor(table: RollupTable, grain: Grain, columns?: PartColumns) {
    const names = [...keyColumns(table, grain), ...segmentColumns(grain)];
    this.texts = new Map(names.map((name) => [name, [...(columns?.texts.get(name) ?? [])]]));
    this.sums = sumColumnsOf(table).map((_, at) => [...(columns?.sums[at] ?? [])]);
    this.lists = [...this.texts.values()];
  }

  get days(): readonly string[] {
    return this.lists[0] ?? [];
  }

  get size(): number {
    return this.days.length;
  }

  add({ key, texts, sums, from }: CubeCell): void {
    let at = 0;
    for (const value of key) this.lists[at++]?.push(String(value));
    for (const text of texts) this.lists[at++]?.push(text);
    let next = from;
    for (const column of this.sums) column.push(sums[next++] ?? 0);
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

const allTogether = () => WHOLE_SEGMENT;
const attributionOfCreative = (id: string | number) => attributionOf(String(id));

/** What the rows of each grain have together. */
const TOGETHER: Readonly<Record<Grain, Parameters<Additions<RollupTable>['together']>[0]>> = {
  total: { creative_id: attributionOfCreative, segment: allTogether },
  segment: { creative_id: attributionOfCreative },
  creative: { segment: allTogether },
  both: {},
};

/**
 * What a run adds to D1 for a rollup: the rows of its table if it has one, with all creatives together, and parts of the cube numbered from `first`.
 * The cells of one grain are in memory at a time.
 */
export function* sumRowsOf(
  additions: Additions<RollupTable>,
  first: number,
  segmentOf: SegmentOfId,
): Generator<[table: StoredTable, row: (string | number)[]] | [table: 'parts', row: PartRow]> {
  const { table } = additions;
  let number = first;
  for (const grain of grainsOf(table)) {
    const cells = grain === 'both' ? additions : additions.together(TOGETHER[grain]);
    // Its keys are those of `keysTogether`.
    if (grain === 'total' && hasTable(table)) for (const row of cells.rows()) yield [table, row];
    for (const part of packParts(cells, grain, segmentOf))
      yield ['parts', { rollup: table, grain, number: number++, ...part }];
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
