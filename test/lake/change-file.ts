import { parquetMetadataAsync, parquetRead, type SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { FileEntry } from '#lake';
import { readDecimalsUnscaled } from '../../src/lake/codec.ts';
import { compressors, decompressors } from '../../src/lib/encoding/gzip.ts';
import { plainParsers as parsers } from '../../src/lib/encoding/parquet-codec.ts';
import type { MemoryBucket } from './memory-bucket.ts';

/** A column as a file stores it: `scale` and `converted_type` belong to `cells`, unscaled. */
export type StoredColumn = { element: SchemaElement; cells: unknown[] };

/** Writes a file again with other columns, as a release with another schema would have. Returns its new entry. */
export async function changeFile(
  bucket: MemoryBucket,
  entry: FileEntry,
  change: (columns: StoredColumn[]) => StoredColumn[],
): Promise<FileEntry> {
  const { buffer } = bucket.objects.get(entry.key)?.slice() ?? new Uint8Array();
  const metadata = await parquetMetadataAsync(buffer as ArrayBuffer, { parsers });
  const elements = structuredClone(metadata.schema.slice(1));
  readDecimalsUnscaled(metadata);
  const stored = new Map(elements.map((element) => [element.name, { element, cells: [] as unknown[] }]));
  await parquetRead({
    file: buffer as ArrayBuffer,
    metadata,
    compressors: decompressors,
    parsers,
    onChunk: ({ columnName, columnData }) => void stored.get(columnName)?.cells.push(...columnData),
  });
  const changed = change([...stored.values()]);
  const writer = new ByteWriter();
  const schema: SchemaElement[] = [
    { name: 'root', num_children: changed.length },
    ...changed.map(({ element }) => element),
  ];
  const parquet = new ParquetWriter({ writer, schema, codec: 'GZIP', compressors, statistics: false });
  const columnData = changed.map(({ element: { name }, cells }) => ({
    name,
    data: cells,
    statistics: name === 'device_id',
  }));
  void parquet.write({ columnData });
  void parquet.finish();
  const bytes = writer.getBytes();
  bucket.objects.set(entry.key, bytes);
  return { ...entry, bytes: bytes.length, footerBytes: 64 };
}
