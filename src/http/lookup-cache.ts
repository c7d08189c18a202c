/**
 * Caches what a secret identifies (a credential, the token of a tracking link), for as long as the contract allows it to be out of
 * date. Each isolate has its own. It saves database lookups: a known key never waits for one while it is in use, and an unknown key
 * causes at most one in 10 s.
 */
export class LookupCache<Value> {
  /** A revoked credential may keep working this long. */
  static readonly MAX_AGE_MS = 60_000;
  /** From this age on, a hit is renewed in the background, so that no request waits for the renewal. */
  static readonly RENEW_AFTER_MS = 40_000;
  static readonly MISS_AGE_MS = 10_000;
  static readonly MAX_ENTRIES = 10_000;
  static readonly MAX_MISSES = 1_000;

  private readonly hits = new Map<string, { value: Value; at: number }>();
  /** Separate from the hits, so that a flood of invented keys cannot evict a valid one. */
  private readonly misses = new Map<string, number>();
  private readonly loading = new Map<string, Promise<Value | null>>();

  /** Whether `get` would return this key's value without waiting for a lookup. */
  holds(key: string, now: number): boolean {
    return this.hitOf(key, now) !== undefined;
  }

  /**
   * `load` returns null for an unknown key; a failed load is not cached. `keepAlive` lets a load that other requests wait for finish
   * even if the request that started it has ended. What needs no lookup is returned without a promise.
   */
  get(
    key: string,
    now: number,
    load: () => Promise<Value | null>,
    keepAlive: (work: Promise<unknown>) => void,
  ): Value | null | Promise<Value | null> {
    const hit = this.hitOf(key, now);
    if (!hit) return this.isMiss(key, now) ? null : this.load(key, now, load, keepAlive);
    // The runtime cancels work of a finished request that waits for another request's promise, so a hit never waits for a running load.
    if (now - hit.at >= LookupCache.RENEW_AFTER_MS && !this.loading.has(key)) {
      this.load(key, now, load, keepAlive).catch(() => undefined);
    }
    return hit.value;
  }

  clear(): void {
    this.hits.clear();
    this.misses.clear();
    this.loading.clear();
  }

  private hitOf(key: string, now: number) {
    const hit = this.hits.get(key);
    return hit && now - hit.at < LookupCache.MAX_AGE_MS ? hit : undefined;
  }

  private isMiss(key: string, now: number): boolean {
    const at = this.misses.get(key);
    return at !== undefined && now - at < LookupCache.MISS_AGE_MS;
  }

  private load(
    key: string,
    now: number,
    load: () => Promise<Value | null>,
    keepAlive: (work: Promise<unknown>) => void,
  ): Promise<Value | null> {
    const running = this.loading.get(key);
    if (running !== undefined) return running;
    const started = load()
      .then((value) => {
        this.remember(key, value, now);
        return value;
      })
      .finally(() => this.loading.delete(key));
    this.loading.set(key, started);
    keepAlive(started.catch(() => undefined));
    return started;
  }

  private remember(key: string, value: Value | null, at: number): void {
    this.hits.delete(key);
    this.misses.delete(key);
    if (value === null) {
      this.misses.set(key, at);
      dropOldest(this.misses, LookupCache.MAX_MISSES);
    } else {
      this.hits.set(key, { value, at });
      dropOldest(this.hits, LookupCache.MAX_ENTRIES);
    }
  }
}

function dropOldest(entries: Map<string, unknown>, max: number): void {
  if (entries.size <= max) return;
  const [oldest] = entries.keys();
  if (oldest !== undefined) entries.delete(oldest);
}
