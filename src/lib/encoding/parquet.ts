// Reading and writing Parquet takes a library that is loaded on first use, which keeps it out of the startup of isolates that only receive
// events. It is imported once: objects that share an isolate must not wait for each other's promises, as two that import a module at the same
// time may do.

export type { ColumnPages } from './column-pages.ts';

type ParquetCodec = typeof import('./parquet-codec.ts');
let codec: ParquetCodec | null = null;

/** Loads the library; waits for nothing if it is loaded. */
export async function loadParquet(): Promise<ParquetCodec> {
  codec ??= await import('./parquet-codec.ts');
  return codec;
}

export const isParquetLoaded = () => codec !== null;

/** For code that must not wait. Throws before `loadParquet` has been awaited in this isolate. */
export function loadedParquet(): ParquetCodec {
  if (!codec) throw new Error('loadParquet was not awaited');
  return codec;
}
