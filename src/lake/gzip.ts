import { gunzipSync, gzipSync } from 'node:zlib';
import type { Compressors as Decompressors } from 'hyparquet';

// Because every engine reads it and the platform has it built in. Measured against hyparquet-writer's own Snappy: 60 bytes an event
// instead of 69, for the same CPU.

export const compressors = { GZIP: (bytes: Uint8Array): Uint8Array => gzipSync(bytes) };
export const decompressors: Decompressors = { GZIP: (bytes) => gunzipSync(bytes) };
