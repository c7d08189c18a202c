// Loaded when a file is first read or written (`await import`), so that an isolate that only takes events starts without it.

export { parquetMetadataAsync, parquetRead } from 'hyparquet';
export { ByteWriter, ParquetWriter } from 'hyparquet-writer';
export { compressors, decompressors } from './gzip.ts';
