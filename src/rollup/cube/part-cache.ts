import type { OpenPart } from './part-file.ts';

// Parts are added and deleted, never changed, so an isolate keeps those that it opened last: most reports of a page read the same ones.

/** What an isolate keeps. */
const MAX_BYTES = 16_000_000;

export class PartCache {
  private readonly maxBytes: number;
  private bytes = 0;
  /** In the order of use, the one unused for longest first. */
  private readonly entries = new Map<string, { part: OpenPart; bytes: number }>();

  constructor(maxBytes = MAX_BYTES) {
    this.maxBytes = maxBytes;
  }

  get(key: string): OpenPart | undefined {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.part;
  }

  /** How a scan keeps what it opens: at most half of the cache, so that a long one does not displace everything else. */
  keeper(): (key: string, part: OpenPart) => void {
    let room = this.maxBytes / 2;
    return (key, part) => {
      const bytes = bytesOf(part);
      room -= bytes;
      if (room >= 0) this.set(key, part, bytes);
    };
  }

  private set(key: string, part: OpenPart, bytes: number): void {
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

const bytesOf = ({ keys, segments, sums }: OpenPart): number => {
  const columns = [...keys, ...segments];
  const arrays = new Set([...columns.map(({ numbers }) => numbers), ...sums.filter((sum) => sum !== null)]);
  return (
    [...arrays].reduce((total, { byteLength }) => total + byteLength, 0) +
    columns.reduce((total, { values }) => total + values.length * VALUE_BYTES, 0)
  );
};
