/**
 * Remembers at most `max` values: at least the half that was set or read last. Constant time, because the older half is dropped as a whole.
 * (A Map whose oldest entry is deleted for each new one takes eight times as long: V8 skips deleted entries to find the oldest.)
 */
export class RecentMap<Key, Value> {
  private readonly half: number;
  private recent = new Map<Key, Value>();
  private older = new Map<Key, Value>();

  constructor(max: number) {
    this.half = Math.floor(max / 2);
  }

  get(key: Key): Value | undefined {
    const value = this.recent.get(key);
    if (value !== undefined) return value;
    const earlier = this.older.get(key);
    if (earlier !== undefined) this.set(key, earlier);
    return earlier;
  }

  set(key: Key, value: Value): void {
    if (this.recent.size >= this.half && !this.recent.has(key)) {
      this.older = this.recent;
      this.recent = new Map();
    }
    this.recent.set(key, value);
  }
}
