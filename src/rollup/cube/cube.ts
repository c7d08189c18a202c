import { sql } from 'drizzle-orm';
import {
  attributionOf,
  ROLLUP_KEYS,
  type RollupTable,
  type Segment,
  type SegmentDimension,
} from '#catalogue';
import { columnList, cubeParts, MAX_VALUE_BYTES, toStatement } from '#db';
import { chunksOf } from '#lib/collections/chunks';
import { addDays } from '#lib/time';
import { type Additions, hasTable, type StoredTable, sumColumnsOf } from '../tables.ts';
import { type Grain, grainsOf, keyColumns, segmentColumns } from './grains.ts';
import { writePart } from './part-file.ts';

// The cube: the rollups by creative and by segment. A run only adds parts and changes none: usually one for each rollup and grain that it counted
// something for, whatever days it touches.

/** The id in place of a segment's for the sums of all segments. */
const WHOLE_SEGMENT = 0;

/** The rows of a part: about as many as fit into its text if many creatives, segments and amounts differ. */
const MAX_PART_ROWS = 12_000;
/** The Base64 text of a part. Its rows are halved until it fits. */
const MAX_PART_CHARACTERS = MAX_VALUE_BYTES;

/** The place of the application in a cell's key. Parts have all columns after it. */
const APPLICATION_AT = 0;

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
  const months = Map.groupBy(additions.latestFirst(), monthReader(additions));
  for (const [month, cells] of months) {
    for (const own of chunksOf(cells, MAX_PART_ROWS))
      for (const packed of packCells(additions, grain, segmentOf, own)) yield { month, ...packed };
  }
}

/**
 * Reads the month of a cell, such as `2026-03`: that of its events, also where the first day of the key is an acquisition day. So a month gets
 * no rows once it is over, except of late events.
 */
function monthReader(additions: Additions<RollupTable>): (cell: number) => string {
  const columns: readonly string[] = ROLLUP_KEYS[additions.table];
  const [acquiredAt = 0, dayAt = 0, ageAt = 0] = ['acquired_day', 'day', 'age'].map((name) =>
    columns.indexOf(name),
  );
  const textAt = (cell: number, place: number) => String(additions.valueAt(cell, place));
  const dayOf = (cell: number) =>
    dayAt < 0 ? addDays(textAt(cell, acquiredAt), Number(textAt(cell, ageAt))) : textAt(cell, dayAt);
  return (cell) => dayOf(cell).slice(0, 'YYYY-MM'.length);
}

/** Rows of the cube by column, those of the latest day first: as objects, they would take several times the memory. */
export class CubeColumns {
  readonly texts: ReadonlyMap<string, string[]>;
  readonly sums: readonly number[][];
  private readonly keys: ReadonlyMap<string, string[]>;
  private readonly segments: ReadonlyMap<SegmentDimension, string[]>;

  constructor(table: RollupTable, grain: Grain) {
    this.keys = new Map(keyColumns(table, grain).map((name) => [name, []]));
    this.segments = new Map(segmentColumns(grain).map((name) => [name, []]));
    this.texts = new Map<string, string[]>([...this.keys, ...this.segments]);
    this.sums = sumColumnsOf(table).map(() => []);
  }

  get size(): number {
    return this.days.length;
  }

  get fromDay(): string {
    return this.days.at(-1) ?? '';
  }

  get toDay(): string {
    return this.days[0] ?? '';
  }

  private get days(): readonly string[] {
    const [days = []] = this.texts.values();
    return days;
  }

  /** Adds cells as rows. None is of a later day than the rows before. */
  add(additions: Additions<RollupTable>, cells: readonly number[], segmentOf: SegmentOfId): void {
    const { segmentAt } = additions;
    let place = APPLICATION_AT;
    for (const texts of this.keys.values()) additions.appendTexts(texts, cells, ++place, String);
    for (const [name, texts] of this.segments)
      additions.appendTexts(texts, cells, segmentAt, (id) => segmentOf(Number(id))[name]);
    for (const [column, sums] of this.sums.entries()) additions.appendSums(sums, cells, column);
  }
}

function* packCells(
  additions: Additions<RollupTable>,
  grain: Grain,
  segmentOf: SegmentOfId,
  cells: readonly number[],
): Generator<Omit<PackedPart, 'month'>> {
  const columns = new CubeColumns(additions.table, grain);
  columns.add(additions, cells, segmentOf);
  const data = writePart(additions.table, grain, columns);
  if (data.length > MAX_PART_CHARACTERS && cells.length > 1) {
    const half = Math.ceil(cells.length / 2);
    yield* packCells(additions, grain, segmentOf, cells.slice(0, half));
    yield* packCells(additions, grain, segmentOf, cells.slice(half));
    return;
  }
  const { fromDay, toDay, size } = columns;
  yield { fromDay, toDay, rows: size, data };
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
