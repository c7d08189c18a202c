/**
 * Remembers what a secret stands for (a credential, the token of a tracking link), for as long as the contract allows it to be
 * out of date. One of these lives in each isolate and spares the database: a known key costs no wait while it is used, an
 * unknown one at most one lookup in 10 s.
 */
export class LookupCache<Value> {
  /** A revoked credential may go on working this long. */
  static readonly MAX_AGE_MS = 60_000;
  /** From this age on a hit is renewed in the background, so that no request has to wait for the renewal. */
  static readonly RENEW_AFTER_MS = 40_000;
  static readonly MISS_AGE_MS = 10_000;
  static readonly MAX_ENTRIES = 10_000;
  static readonly MAX_MISSES = 1_000;

  private readonly hits = new Map<string, { value: Value; at: number }>();
  /** Apart from the hits, so that no flood of invented keys can push a good one out. */
  private readonly misses = new Map<string, number>();
  private readonly loading = new Map<string, Promise<Value | null>>();

  /** Whether a value is remembered that `get` would answer without waiting for a lookup. */
  holds(key: string, now: number): boolean {
    return this.hitOf(key, now) !== undefined;
  }

  /**
   * `load` answers null for a key that stands for nothing; a failed load is not remembered. `keepAlive` lets a load
   * finish that other requests are waiting for although the one that began it has gone.
   */
  async get(
    key: string,
    now: number,
    load: () => Promise<Value | null>,
    keepAlive: (work: Promise<unknown>) => void,
  ): Promise<Value | null> {
    const hit = this.hitOf(key, now);
    if (!hit) return this.isMiss(key, now) ? null : this.load(key, now, load, keepAlive);
    // The runtime cuts off what a finished request left hanging on another's promise, so nothing hangs on a running load.
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
