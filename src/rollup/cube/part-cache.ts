import { isText, type KeptPart } from './part-file.ts';

// Parts are added and deleted, never changed, so an isolate keeps the columns that it read last: most reports of a page read the same ones.

/** What an isolate keeps. */
const MAX_BYTES = 16_000_000;

export class PartCache {
  private readonly maxBytes: number;
  private bytes = 0;
  /** In the order of use, the one unused for longest first. */
  private readonly entries = new Map<string, { part: KeptPart; bytes: number }>();

  constructor(maxBytes = MAX_BYTES) {
    this.maxBytes = maxBytes;
  }

  get(key: string): KeptPart | undefined {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.part;
  }

  /** How a scan keeps what it reads: at most half of the cache, so that a long one does not displace everything else. */
  keeper(): (key: string, part: KeptPart) => void {
    let room = this.maxBytes / 2;
    return (key, part) => {
      // Another scan may have read other columns of it meanwhile.
      const known = this.entries.get(key);
      const whole = { size: part.size, columns: new Map([...(known?.part.columns ?? []), ...part.columns]) };
      const bytes = bytesOf(whole);
      room -= bytes - (known?.bytes ?? 0);
      if (room >= 0) this.set(key, whole, bytes);
    };
  }

  private set(key: string, part: KeptPart, bytes: number): void {
    this.bytes += bytes - (this.entries.get(key)?.bytes ?? 0);
    this.entries.delete(key);
    this.entries.set(key, { part, bytes });
    for (const [oldest, entry] of this.entries) {
      if (this.bytes <= this.maxBytes) return;
      this.entries.delete(oldest);
      this.bytes -= entry.bytes;
    }
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
