/** Keeps the values that were used last, as many as a total weight allows. */
export class LruCache<Key, Value> {
  private readonly max: number;
  private total = 0;
  /** Least recently used first. */
  private readonly entries = new Map<Key, { value: Value; weight: number }>();

  constructor(max: number) {
    this.max = max;
  }

  get(key: Key): Value | undefined {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  /** Sets a value, also one that is known and has another weight now. */
  set(key: Key, value: Value, weight: number): void {
    this.total += weight - (this.entries.get(key)?.weight ?? 0);
    this.entries.delete(key);
    this.entries.set(key, { value, weight });
    for (const [oldest, entry] of this.entries) {
      if (this.total <= this.max) return;
      this.entries.delete(oldest);
      this.total -= entry.weight;
    }
  }

  clear(): void {
    this.entries.clear();
    this.total = 0;
  }
}
