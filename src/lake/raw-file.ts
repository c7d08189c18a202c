import type { FileMetaData } from 'hyparquet';
import { loadParquet } from '#lib/encoding/parquet';
import { formatOf, requireKnownFormat } from '#lib/encoding/store-formats';
import { idFromBytes } from '#lib/ids';
import { compareBytes } from './bytes.ts';
import { readDecimalsUnscaled, rescale } from './codec.ts';
import { COLUMNS, columnIndex, type ParquetCell } from './columns.ts';
import { type Bucket, type FileEntry, MissingFileError, type StoredEvent } from './entry.ts';
import { cellFilter, type EventFilter } from './filter.ts';
import { toEvent } from './row.ts';

/** A file's key, its length and that of its footer. */
export type FileLocation = Pick<FileEntry, 'key' | 'bytes' | 'footerBytes'>;

/** Rows of a file that are written and read together. */
export type RowGroup = { index: number; start: number; rows: number };

/**
 * Reads a raw event file by ranges: its footer first, then only the columns and row groups that are needed. The file's own schema says
 * what it has: a column that other releases added or dropped has no value in it, one that this release does not know is ignored, and
 * amounts have the file's number of decimal places.
 */
export class RawFile {
  private readonly location: FileLocation;
  readonly groups: RowGroup[];
  private readonly bucket: Bucket;
  private readonly metadata: FileMetaData;
  /** The decimal places of the file's columns, by name; undefined for those that are not decimals. */
  private readonly scales: ReadonlyMap<string, number | undefined>;

  private constructor(bucket: Bucket, location: FileLocation, metadata: FileMetaData) {
    this.bucket = bucket;
    this.location = location;
    this.metadata = metadata;
    this.scales = new Map(metadata.schema.map(({ name, scale }) => [name, scale]));
    let start = 0;
    this.groups = metadata.row_groups.map(({ num_rows }, index) => {
      const group = { index, start, rows: Number(num_rows) };
      start += group.rows;
      return group;
    });
  }

  /** Throws `MissingFileError` if the object is gone, `NewerFormatError` if a newer release wrote it. */
  static async open(bucket: Bucket, location: FileLocation): Promise<RawFile> {
    const { parquetMetadataAsync, plainParsers } = await loadParquet();
    const metadata = await parquetMetadataAsync(bufferOf(bucket, location), {
      parsers: plainParsers,
      initialFetchSize: location.footerBytes,
      geoparquet: false,
    });
    requireKnownFormat('raw_file', formatOf(metadata));
    readDecimalsUnscaled(metadata);
    return new RawFile(bucket, location, metadata);
  }

  /** The smallest and largest event id that may be in a row group. */
  eventIdsOf(group: RowGroup): [first: string, last: string] {
    const { min_value: least, max_value: greatest, null_count: nulls } = this.statisticsOf(group, 'event_id');
    const known = least instanceof Uint8Array && greatest instanceof Uint8Array && nulls === 0n;
    return known ? [idFromBytes('evt', least), idFromBytes('evt', greatest)] : ['', '~'];
  }

  private statisticsOf({ index }: RowGroup, column: string) {
    const chunks = this.metadata.row_groups[index]?.columns;
    const chunk = chunks?.find(({ meta_data }) => meta_data?.path_in_schema[0] === column);
    return chunk?.meta_data?.statistics ?? {};
  }

  /** The row groups that may contain a device. Rows are sorted by device, so it is usually one, rarely two. */
  groupsOf(deviceId: string): RowGroup[] {
    const id = COLUMNS[columnIndex('device_id')]?.encode(deviceId);
    return this.groups.filter((group) => {
      const {
        min_value: least,
        max_value: greatest,
        null_count: nulls,
      } = this.statisticsOf(group, 'device_id');
      // An id of another format is in `rest`, in rows whose column is null.
      if (!(id instanceof Uint8Array)) return nulls !== 0n;
      if (nulls === BigInt(group.rows)) return false;
      if (!(least instanceof Uint8Array) || !(greatest instanceof Uint8Array)) return true;
      return compareBytes(least, id) <= 0 && compareBytes(id, greatest) <= 0;
    });
  }

  /** The cells of some columns in a row group, by column. Those of a column that the file does not have are absent. */
  async readColumns(
    { start, rows }: RowGroup,
    names: readonly string[],
  ): Promise<Map<string, ParquetCell[]>> {
    const { decompressors, parquetRead, plainParsers } = await loadParquet();
    const columns = new Map(
      names.map((name) => [
        name,
        new Array<ParquetCell>(rows).fill(COLUMNS[columnIndex(name)]?.absent ?? null),
      ]),
    );
    await parquetRead({
      file: bufferOf(this.bucket, this.location),
      metadata: this.metadata,
      columns: names.filter((name) => this.scales.has(name)),
      rowStart: start,
      rowEnd: start + rows,
      compressors: decompressors,
      parsers: plainParsers,
      onChunk: ({ columnName, columnData, rowStart }) => {
        const cells = columns.get(columnName);
        const toOwnScale = rescale(
          this.scales.get(columnName),
          COLUMNS[columnIndex(columnName)]?.element.scale,
        );
        for (let row = 0; cells && row < columnData.length; row++) {
          cells[rowStart - start + row] = toOwnScale(columnData[row] ?? null);
        }
      },
    });
    return columns;
  }

  /**
   * The rows of a group that may match a filter, relative to the group's first, with their `event_id`: those of events before one id and
   * after another, either of which may be empty text.
   */
  async findRows(
    group: RowGroup,
    filter: EventFilter,
    { before, after } = { before: '', after: '' },
  ): Promise<{ row: number; eventId: string }[]> {
    const [least, greatest] = this.eventIdsOf(group);
    if ((before !== '' && least >= before) || greatest <= after) return [];
    const { columns: names, mayMatch } = cellFilter(filter);
    const columns = await this.readColumns(group, [...new Set([...names, 'event_id'])]);
    const ids = COLUMNS[columnIndex('event_id')];
    const found: { row: number; eventId: string }[] = [];
    for (let row = 0; row < group.rows; row++) {
      const cellOf = (column: string) => columns.get(column)?.[row] ?? null;
      if (!mayMatch(cellOf)) continue;
      const eventId = String(ids?.decode(cellOf('event_id')));
      if ((before === '' || eventId < before) && eventId > after) found.push({ row, eventId });
    }
    return found;
  }

  /** The events of some or all rows of a group. */
  async readEvents(group: RowGroup, rows?: readonly number[]): Promise<StoredEvent[]> {
    const columns = await this.readColumns(
      group,
      COLUMNS.map(({ name }) => name),
    );
    const cells = COLUMNS.map(({ name }) => columns.get(name) ?? []);
    const chosen = rows ?? Array.from({ length: group.rows }, (_, row) => row);
    return chosen.map((row) => toEvent((column) => cells[column]?.[row] ?? null));
  }
}

function bufferOf(bucket: Bucket, { key, bytes }: FileLocation) {
  return {
    byteLength: bytes,
    async slice(start: number, end: number = bytes): Promise<ArrayBuffer> {
      const object = await bucket.get(key, { range: { offset: start, length: end - start } });
      if (!object) throw new MissingFileError(key);
      return object.arrayBuffer();
    },
  };
}
