import type { RowGroup } from 'hyparquet';
import type { ParquetWriter } from 'hyparquet-writer';
import { deviceIdIn } from '#catalogue';
import { loadParquet } from '#lib/encoding/parquet';
import { formatMetadata } from '#lib/encoding/store-formats';
import { nextTurn } from '#lib/next-turn';
import { COLUMNS, type ParquetCell, type ParquetColumn, SCHEMA } from './columns.ts';
import { type Contents, ContentsBuilder } from './contents.ts';
import type { StoredEvent } from './entry.ts';
import { partitionOf } from './keys.ts';
import { putEvent } from './row.ts';

/** Reading one device's events reads one row group. Smaller groups would take up too much of the footer. */
const ROWS_PER_GROUP = 8_192;
const INITIAL_ROWS = 1_024;
/** Eight columns of a row group, about 30 ms. Yielding after each would be smoother, but collected garbage 2.6 times as often in a small heap. */
const CELLS_PER_TURN = 8 * ROWS_PER_GROUP;
/** The approximate memory of a value besides its text. */
const BYTES_PER_VALUE = 24;

/**
 * A column being filled. Each row refers to one of the values, the first of which means absence. If nearly every row has its own value,
 * values are kept as received until they are written, because a cell may take more memory: an id's 16 bytes more than its text.
 */
class ColumnBuilder {
  private readonly column: ParquetColumn;
  private readonly values: unknown[];
  private readonly known = new Map<unknown, number>();
  private indexes = new Uint32Array(INITIAL_ROWS);

  constructor(column: ParquetColumn) {
    this.column = column;
    this.values = [undefined];
  }

  /** Returns about how much new memory the value takes; undefined if the column cannot represent it exactly. */
  put(row: number, value: unknown): number | undefined {
    const { column, known } = this;
    let index = column.distinct ? undefined : known.get(value);
    let added = 0;
    if (index === undefined) {
      if (!column.accepts(value)) return undefined;
      index = this.values.push(column.distinct ? value : column.cellOf(value)) - 1;
      if (!column.distinct) known.set(value, index);
      added =
        BYTES_PER_VALUE +
        (typeof value === 'string' && column.element.type === 'BYTE_ARRAY' ? value.length : 0);
    }
    if (row >= this.indexes.length) this.grow(row);
    this.indexes[row] = index;
    return added;
  }

  /** The cells of some rows. Rows beyond the last one that was set are absent. */
  cellsOf(rows: Uint32Array): ParquetCell[] {
    const { absent, distinct, cellOf } = this.column;
    const cells = new Array<ParquetCell>(rows.length).fill(absent);
    const isEmpty = this.values.length === 1;
    if (isEmpty) return cells;
    for (let at = 0; at < rows.length; at++) {
      const index = this.indexes[rows[at] ?? 0] ?? 0;
      if (index === 0) continue;
      const value = this.values[index];
      cells[at] = distinct ? cellOf(value) : (value as ParquetCell);
    }
    return cells;
  }

  private grow(row: number): void {
    const larger = new Uint32Array(Math.max(row + 1, this.indexes.length * 2));
    larger.set(this.indexes);
    this.indexes = larger;
  }
}

type BuiltFile = { bytes: Uint8Array; footerBytes: number; contents: Contents };

/** The events of one file. */
type Partition = { rows: number[]; contents: ContentsBuilder };

/**
 * Collects events column by column, storing each text once, and writes a file for each day of the events, sorted by device, then time. It
 * needs about 600 bytes per event, including the file, however many days there are.
 */
export class FileBuilder {
  rows = 0;
  /** The approximate memory that the values take. */
  memoryBytes = 0;
  private readonly columns = COLUMNS.map((column) => new ColumnBuilder(column));
  private readonly deviceRanks = new Map<string, number>();
  private readonly deviceOfRow: number[] = [];
  private readonly occurredAt: number[] = [];
  private readonly partitions = new Map<string, Partition>();
  private readonly shard: number;
  private cellsSinceTurn = 0;

  constructor(shard: number) {
    this.shard = shard;
  }

  /** The number of files that `build` makes. */
  get files(): number {
    return this.partitions.size;
  }

  add(event: StoredEvent): void {
    const row = this.rows++;
    putEvent(event, this.shard, (index, value) => {
      const added = this.columns[index]?.put(row, value);
      this.memoryBytes += added ?? 0;
      return added !== undefined;
    });
    const deviceId = deviceIdIn(event);
    let device = this.deviceRanks.get(deviceId);
    if (device === undefined) {
      device = this.deviceRanks.size;
      this.deviceRanks.set(deviceId, device);
    }
    this.deviceOfRow.push(device);
    this.occurredAt.push(event.occurred_at);
    const partition = this.partitionFor(event.day);
    partition.rows.push(row);
    partition.contents.add(event);
  }

  /** The files with everything that was added, one at a time. The same events produce the same bytes. */
  async *build(): AsyncGenerator<BuiltFile> {
    const sorted = [...this.deviceRanks].sort(([left], [right]) => (left < right ? -1 : 1));
    const ranks = new Uint32Array(sorted.length);
    for (const [rank, [, device]] of sorted.entries()) ranks[device] = rank;
    const rankOfRow = Uint32Array.from(this.deviceOfRow, (device) => ranks[device] ?? 0);
    const deviceIds = [...this.deviceRanks.keys()];
    for (const { rows, contents } of this.partitions.values()) {
      const file = await this.buildFile(this.sortRows(rows, rankOfRow));
      const own = new Set(rows.map((row) => deviceIds[this.deviceOfRow[row] ?? 0] ?? ''));
      own.delete('');
      yield { ...file, contents: contents.contents(own) };
    }
  }

  private partitionFor(day: string): Partition {
    // A day of the calendar is the name of its partition.
    const known = this.partitions.get(day) ?? this.partitions.get(partitionOf(day));
    if (known) return known;
    const added = { rows: [], contents: new ContentsBuilder() };
    this.partitions.set(partitionOf(day), added);
    return added;
  }

  private async buildFile(order: Uint32Array): Promise<Pick<BuiltFile, 'bytes' | 'footerBytes'>> {
    const { ByteWriter, compressors, ParquetWriter } = await loadParquet();
    const writer = new ByteWriter();
    const parquet = new ParquetWriter({
      writer,
      schema: SCHEMA,
      codec: 'GZIP',
      compressors,
      statistics: false,
      createdBy: 'attribution',
      kvMetadata: formatMetadata('raw_file'),
    });
    for (let start = 0; start < order.length; start += ROWS_PER_GROUP) {
      await this.writeRowGroup(parquet, order.subarray(start, start + ROWS_PER_GROUP));
    }
    void parquet.finish();
    const bytes = writer.getBytes();
    const footerBytes = new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 8, true) + 8;
    return { bytes, footerBytes };
  }

  /** Gives way after some cells: in one call, the writer would block everything else for the whole row group. */
  private async writeRowGroup(parquet: ParquetWriter, rows: Uint32Array): Promise<void> {
    const rowsBefore = parquet.num_rows;
    const chunks: RowGroup[] = [];
    for (const [index, { name, statistics, encoding }] of COLUMNS.entries()) {
      const data = this.columns[index]?.cellsOf(rows) ?? [];
      const columnData = [{ name, data, statistics, ...(encoding ? { encoding } : {}) }];
      // With a writer that has no `flush`, this call is synchronous.
      void parquet.write({ columnData, rowGroupSize: ROWS_PER_GROUP });
      chunks.push(...parquet.row_groups.splice(-1));
      this.cellsSinceTurn += rows.length;
      if (this.cellsSinceTurn < CELLS_PER_TURN) continue;
      this.cellsSinceTurn = 0;
      await nextTurn();
    }
    parquet.row_groups.push(joinColumns(chunks));
    parquet.num_rows = rowsBefore + BigInt(rows.length);
  }

  private sortRows(rows: readonly number[], rankOfRow: Uint32Array): Uint32Array {
    const rankOf = (row: number) => rankOfRow[row] ?? 0;
    const timeOf = (row: number) => this.occurredAt[row] ?? 0;
    return Uint32Array.from(rows).sort(
      (left, right) => rankOf(left) - rankOf(right) || timeOf(left) - timeOf(right) || left - right,
    );
  }
}

/** Merges row groups that were written per column into one. */
function joinColumns(chunks: readonly RowGroup[]): RowGroup {
  const sum = (of: (chunk: RowGroup) => bigint | undefined) =>
    chunks.reduce((total, chunk) => total + (of(chunk) ?? 0n), 0n);
  return {
    columns: chunks.flatMap(({ columns }) => columns),
    total_byte_size: sum(({ total_byte_size }) => total_byte_size),
    num_rows: chunks[0]?.num_rows ?? 0n,
    total_compressed_size: sum(({ total_compressed_size }) => total_compressed_size),
  };
}
