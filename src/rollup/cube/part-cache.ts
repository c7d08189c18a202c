import { LruCache } from '#lib/collections/lru-cache';
import { isText, type KeptPart } from './part-file.ts';

// Parts are added and deleted, never changed, so an isolate keeps the columns that it read last: most reports of a page read the same ones.

/** What an isolate keeps. */
const MAX_BYTES = 16_000_000;

export class PartCache {
  private readonly maxBytes: number;
  private readonly parts: LruCache<string, KeptPart>;

  constructor(maxBytes = MAX_BYTES) {
    this.maxBytes = maxBytes;
    this.parts = new LruCache(maxBytes);
  }

  get(key: string): KeptPart | undefined {
    return this.parts.get(key);
  }

  /** How a scan keeps what it reads: at most half of the cache, so that a long one does not displace everything else. */
  keeper(): (key: string, part: KeptPart) => void {
    let room = this.maxBytes / 2;
    return (key, part) => {
      // Another scan may have read other columns of it meanwhile.
      const known = this.parts.get(key);
      const whole = { size: part.size, columns: new Map([...(known?.columns ?? []), ...part.columns]) };
      const bytes = bytesOf(whole);
      room -= bytes - (known ? bytesOf(known) : 0);
      if (room >= 0) this.parts.set(key, whole, bytes);
    };
  }
}

/** Parts share the texts of their values. */
const VALUE_BYTES = 16;

const bytesOf = ({ columns }: KeptPart): number => {
  let total = 0;
  for (const column of columns.values()) {
    if (isText(column)) total += (column.numbers?.byteLength ?? 0) + column.values.length * VALUE_BYTES;
    else total += column?.byteLength ?? 0;
  }
  return total;
};
