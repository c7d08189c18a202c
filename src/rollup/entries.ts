// What is read from blocks, and from anything else that reports add up, in columns: a report then goes through one column after another,
// which takes a fraction of the time of going through rows.

/**
 * Sums by key and segment: each entry is one segment of one row. The arrays may be longer than `size`. They are reused, so they are only
 * valid until the function that receives them returns.
 */
export type Entries = {
  size: number;
  /** For each column of the key, the index of the entry's value among the column's values. */
  keys: readonly Int32Array[];
  /** The index of the entry's segment among the segments. */
  segments: Int32Array;
  /** For each column of sums, in the order of `sumColumnsOf`, the entries' sums; null if all of them are 0. */
  sums: readonly (Float64Array | null)[];
};

/** Which entries to read: those that every list marks with 1, by the index of their value or segment. Without a list, all. */
export type EntryFilter = {
  /** By column of the key. */
  keys: readonly (Uint8Array | null)[];
  segments: Uint8Array | null;
};

export type TakeEntries = (entries: Entries) => void;

/** The most entries that a reader receives at once, so that reading takes bounded memory however many entries a block has. */
export const MAX_ENTRIES = 4_096;

/** Collects entries in arrays, which it reuses after each `flush`. Sums that an entry does not set are 0. */
export class EntryBuffer {
  readonly keys: Int32Array[] = [];
  readonly segments = new Int32Array(MAX_ENTRIES);
  readonly sums: Float64Array[] = [];

  /** Provides arrays for so many columns. */
  widen(keys: number, sums: number): void {
    while (this.keys.length < keys) this.keys.push(new Int32Array(MAX_ENTRIES));
    while (this.sums.length < sums) this.sums.push(new Float64Array(MAX_ENTRIES));
  }

  /** Moves the sums of an entry to another index. The bits of `used` say which columns have any. */
  move(from: number, to: number, used: number): void {
    for (let at = 0, bits = used; bits !== 0; at++, bits >>>= 1) {
      const column = this.sums[at];
      if (column && (bits & 1) !== 0) column[to] = column[from] ?? 0;
    }
  }

  /** Removes the sums of the entries from `from` to before `to`. Without `used`, of all columns. */
  clear(from: number, to: number, used = ~0): void {
    for (let at = 0, bits = used; bits !== 0; at++, bits >>>= 1) {
      if ((bits & 1) !== 0) this.sums[at]?.fill(0, from, to);
    }
  }

  /** Passes the first `size` entries on. The bits of `used` say which columns of sums have any. */
  flush(take: TakeEntries, { size, used, width }: { size: number; used: number; width: number }): void {
    if (size === 0) return;
    const isUsed = (at: number) => (used & (1 << at)) !== 0;
    const sums = Array.from({ length: width }, (_, at) => (isUsed(at) ? (this.sums[at] ?? null) : null));
    try {
      take({ size, keys: this.keys, segments: this.segments, sums });
    } finally {
      for (const column of sums) column?.fill(0, 0, size);
    }
  }
}
