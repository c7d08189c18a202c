// Imported when a file is first read or written (`await import`), which keeps it out of the startup of isolates that only receive events.

export { parquetMetadataAsync, parquetRead } from 'hyparquet';
export { ByteWriter, ParquetWriter } from 'hyparquet-writer';
export { compressors, decompressors } from './gzip.ts';
