// What is read from the cube, and from anything else that reports add up, in columns: a report then goes through one column after another,
// which takes a fraction of the time of going through rows.

/** Sums by key and segment: each entry is one segment of one row. The arrays may be longer than `size`. */
export type Entries = {
  size: number;
  /** For each column of the key, the index of the entry's value among the column's values. */
  keys: readonly Int32Array[];
  /** The index of the entry's segment among the segments. */
  segments: Int32Array;
  /** For each column of sums, in the order of `sumColumnsOf`, the entries' sums; null if all of them are 0. */
  sums: readonly (Float64Array | null)[];
};

export type TakeEntries = (entries: Entries) => void;
