import type { RowGroup } from 'hyparquet';
import type { ParquetWriter } from 'hyparquet-writer';
import { DEVICE_DIMENSIONS, ofDimensions, SEGMENT } from '#catalogue';
import { nextTurn } from '#lib/next-turn';
import { loadParquet } from '#lib/parquet';
import { type Cell, COLUMNS, type Column, SCHEMA } from './columns.ts';
import { makeDeviceFilter } from './device-filter.ts';
import type { FileEntry, Source, StoredEvent } from './entry.ts';
import { putEvent } from './row.ts';

/** Reading one device's events reads one row group. Smaller groups would take up too much of the footer. */
const ROWS_PER_GROUP = 8_192;
const INITIAL_ROWS = 1_024;
/** About 30 ms. Yielding after each column would be smoother, but collected garbage 2.6 times as often in a small heap. */
const COLUMNS_PER_TURN = 8;
/** The approximate memory of a value besides its text. */
const BYTES_PER_VALUE = 24;

/**
 * A column being filled. Each row refers to one of the values, the first of which means absence. If nearly every row has its own value,
 * values are kept as received until they are written, because an id's 16 bytes take more memory than its text.
 */
class ColumnBuilder {
  private readonly column: Column;
  private readonly values: unknown[];
  private readonly known = new Map<unknown, number>();
  private indexes = new Uint32Array(INITIAL_ROWS);

  constructor(column: Column) {
    this.column = column;
    this.values = [column.absent];
  }

  /** Returns about how much new memory the value takes; undefined if the column cannot represent it exactly. */
  put(row: number, value: unknown): number | undefined {
    const { column, known } = this;
    let index = column.distinct ? undefined : known.get(value);
    let added = 0;
    if (index === undefined) {
      if (!column.accepts(value)) return undefined;
      index = this.values.push(column.distinct ? value : column.encode(value)) - 1;
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
  cellsOf(rows: Uint32Array): Cell[] {
    const { absent, distinct, encode } = this.column;
    const cells = new Array<Cell>(rows.length).fill(absent);
    const isEmpty = this.values.length === 1;
    if (isEmpty) return cells;
    for (let at = 0; at < rows.length; at++) {
      const index = this.indexes[rows[at] ?? 0] ?? 0;
      if (index === 0) continue;
      const value = this.values[index];
      cells[at] = (distinct ? encode(value) : (value as Cell)) ?? null;
    }
    return cells;
  }

  private grow(row: number): void {
    const larger = new Uint32Array(Math.max(row + 1, this.indexes.length * 2));
    larger.set(this.indexes);
    this.indexes = larger;
  }
}

type Contents = Omit<FileEntry, keyof Source | 'key' | 'revision' | 'bytes' | 'footerBytes' | 'replaces'>;
type Span = Omit<Contents, 'rows' | 'deviceFilter' | 'values'>;
type BuiltFile = { bytes: Uint8Array; footerBytes: number; contents: Contents };

function widen(span: Span, { id, day, received_at, type }: StoredEvent): void {
  span.firstReceivedAt = Math.min(span.firstReceivedAt, received_at);
  span.lastReceivedAt = Math.max(span.lastReceivedAt, received_at);
  if (day < span.firstDay) span.firstDay = day;
  if (day > span.lastDay) span.lastDay = day;
  if (id < span.firstEventId) span.firstEventId = id;
  if (id > span.lastEventId) span.lastEventId = id;
  span.types[type] = (span.types[type] ?? 0) + 1;
}

/**
 * Collects the events of a file column by column, storing each text once, and writes them sorted by device, then time. It needs about
 * 600 bytes per event, including the file.
 */
export class FileBuilder {
  rows = 0;
  /** The approximate memory that the values take. */
  memoryBytes = 0;
  private readonly columns = COLUMNS.map((column) => new ColumnBuilder(column));
  private readonly deviceRanks = new Map<string, number>();
  private readonly deviceOfRow: number[] = [];
  private readonly occurredAt: number[] = [];
  private readonly span: Span = {
    firstReceivedAt: Number.POSITIVE_INFINITY,
    lastReceivedAt: Number.NEGATIVE_INFINITY,
    firstDay: '9999-99-99',
    lastDay: '',
    firstEventId: '~',
    lastEventId: '',
    types: {},
  };
  private readonly values = ofDimensions(DEVICE_DIMENSIONS, () => new Set<string>());
  private readonly shard: number;

  constructor(shard: number) {
    this.shard = shard;
  }

  add(event: StoredEvent): void {
    const row = this.rows++;
    putEvent(event, this.shard, (index, value) => {
      const added = this.columns[index]?.put(row, value);
      this.memoryBytes += added ?? 0;
      return added !== undefined;
    });
    const deviceId = 'device_id' in event ? event.device_id : '';
    let device = this.deviceRanks.get(deviceId);
    if (device === undefined) {
      device = this.deviceRanks.size;
      this.deviceRanks.set(deviceId, device);
    }
    this.deviceOfRow.push(device);
    this.occurredAt.push(event.occurred_at);
    for (const name of DEVICE_DIMENSIONS) this.values[name].add(event[SEGMENT[name].field] ?? '');
    widen(this.span, event);
  }

  /** The file with everything that was added. The same events produce the same bytes. */
  async build(): Promise<BuiltFile> {
    const { ByteWriter, compressors, ParquetWriter } = await loadParquet();
    const writer = new ByteWriter();
    const parquet = new ParquetWriter({
      writer,
      schema: SCHEMA,
      codec: 'GZIP',
      compressors,
      statistics: false,
      createdBy: 'attribution',
    });
    const order = this.sortRows();
    for (let start = 0; start < order.length; start += ROWS_PER_GROUP) {
      await this.writeRowGroup(parquet, order.subarray(start, start + ROWS_PER_GROUP));
    }
    void parquet.finish();
    const bytes = writer.getBytes();
    const footerBytes = new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 8, true) + 8;
    return { bytes, footerBytes, contents: this.contents() };
  }

  /** Yields after a few columns: in one call, the writer would block everything else for the whole row group. */
  private async writeRowGroup(parquet: ParquetWriter, rows: Uint32Array): Promise<void> {
    const rowsBefore = parquet.num_rows;
    const chunks: RowGroup[] = [];
    for (const [index, { name, statistics, encoding }] of COLUMNS.entries()) {
      const data = this.columns[index]?.cellsOf(rows) ?? [];
      const columnData = [{ name, data, statistics, ...(encoding ? { encoding } : {}) }];
      // With a writer that has no `flush`, this call is synchronous.
      void parquet.write({ columnData, rowGroupSize: ROWS_PER_GROUP });
      chunks.push(...parquet.row_groups.splice(-1));
      if (index % COLUMNS_PER_TURN === COLUMNS_PER_TURN - 1) await nextTurn();
    }
    parquet.row_groups.push(joinColumns(chunks));
    parquet.num_rows = rowsBefore + BigInt(rows.length);
  }

  /** What an index knows about what was added. */
  contents(): Contents {
    const devices = new Set(this.deviceRanks.keys());
    devices.delete('');
    return {
      rows: this.rows,
      ...this.span,
      values: ofDimensions(DEVICE_DIMENSIONS, (name) => [...this.values[name]].sort()),
      deviceFilter: makeDeviceFilter(devices),
    };
  }

  private sortRows(): Uint32Array {
    const sorted = [...this.deviceRanks.entries()].sort(([left], [right]) => (left < right ? -1 : 1));
    const ranks = new Uint32Array(sorted.length);
    for (const [rank, [, device]] of sorted.entries()) ranks[device] = rank;
    const rankOf = (row: number) => ranks[this.deviceOfRow[row] ?? 0] ?? 0;
    const timeOf = (row: number) => this.occurredAt[row] ?? 0;
    return Uint32Array.from({ length: this.rows }, (_, row) => row).sort(
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
