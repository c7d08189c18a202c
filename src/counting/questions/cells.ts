/** Sums by a key of several numbers. */
export class Cells {
  private cells = new Map<string, { key: readonly number[]; sums: number[] }>();

  get size(): number {
    return this.cells.size;
  }

  add(key: readonly number[], sums: readonly number[]): void {
    const name = key.join('/');
    const known = this.cells.get(name);
    if (!known) this.cells.set(name, { key, sums: [...sums] });
    else for (const [index, sum] of sums.entries()) known.sums[index] = (known.sums[index] ?? 0) + sum;
  }

  /** Replaces the keys, and joins those that become equal. */
  rename(rename: (key: readonly number[]) => readonly number[]): void {
    const { cells } = this;
    this.cells = new Map();
    for (const { key, sums } of cells.values()) this.add(rename(key), sums);
  }

  /** The numbers of each key and its sums in these units, one after another, in the order of the keys. */
  toArray(units: readonly number[]): Float64Array {
    const ordered = [...this.cells.values()].sort(({ key: left }, { key: right }) => byNumbers(left, right));
    return Float64Array.from(
      ordered.flatMap(({ key, sums }) => [...key, ...sums.map((sum, index) => sum / (units[index] ?? 1))]),
    );
  }
}

function byNumbers(left: readonly number[], right: readonly number[]): number {
  for (const [index, number] of left.entries()) {
    const difference = number - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
