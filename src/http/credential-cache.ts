/**
 * Remembers what a credential proved, for as long as the contract allows it to be out of date. One of these lives in each
 * isolate and spares the database: a known credential costs no wait while it is used, an unknown one at most one read in 10 s.
 */
export class CredentialCache<Value> {
  /** A revoked credential may go on working this long. */
  static readonly MAX_AGE_MS = 60_000;
  /** From this age on a hit is renewed in the background, so that no request has to wait for the renewal. */
  static readonly RENEW_AFTER_MS = 40_000;
  static readonly MISS_AGE_MS = 10_000;
  static readonly MAX_ENTRIES = 10_000;

  private readonly entries = new Map<string, { value: Value | null; at: number }>();
  private readonly loading = new Map<string, Promise<Value | null>>();

  /**
   * `load` answers null for a credential that proves nothing; a failed load is not remembered. `keepAlive` lets a load
   * finish that other requests are waiting for although the one that began it has gone.
   */
  async get(
    key: string,
    now: number,
    load: () => Promise<Value | null>,
    keepAlive: (work: Promise<unknown>) => void,
  ): Promise<Value | null> {
    const entry = this.entries.get(key);
    if (
      !entry ||
      now - entry.at >= (entry.value === null ? CredentialCache.MISS_AGE_MS : CredentialCache.MAX_AGE_MS)
    ) {
      return this.load(key, now, load, keepAlive);
    }
    const isDue = entry.value !== null && now - entry.at >= CredentialCache.RENEW_AFTER_MS;
    // The runtime cuts off what a finished request left hanging on another's promise, so nothing hangs on a running load.
    if (isDue && !this.loading.has(key)) {
      this.load(key, now, load, keepAlive).catch(() => undefined);
    }
    return entry.value;
  }

  clear(): void {
    this.entries.clear();
    this.loading.clear();
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
    this.entries.delete(key);
    this.entries.set(key, { value, at });
    if (this.entries.size <= CredentialCache.MAX_ENTRIES) return;
    const [oldest] = this.entries.keys();
    if (oldest !== undefined) this.entries.delete(oldest);
  }
}
