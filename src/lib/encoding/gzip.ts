import { gunzipSync, gzipSync } from 'node:zlib';
import type { Compressors as Decompressors } from 'hyparquet';

// Gzip, because every engine reads it and the platform has it built in. Compared with hyparquet-writer's own Snappy, it was measured at 60
// bytes per event instead of 69, for the same CPU time. Level 4 takes about half the time of the default, 6, for 1 % more bytes.

export const compressors = { GZIP: (bytes: Uint8Array): Uint8Array => gzipSync(bytes, { level: 4 }) };
export const decompressors: Decompressors = { GZIP: (bytes) => gunzipSync(bytes) };
