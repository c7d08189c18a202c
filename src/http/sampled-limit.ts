/**
 * Asks a rate limit once for every 256 requests of a key, because asking costs more than all the rest of a request. The limit
 * of the binding is therefore a 256th of the one that is meant. A refusal holds for the limit's whole period.
 */
export class SampledLimit {
  static readonly SAMPLE = 256;
  static readonly PERIOD_MS = 10_000;
  private static readonly MAX_KEYS = 10_000;

  private readonly keys = new Map<string, { seen: number; refusedUntil: number }>();

  /** Whether a request may pass. Counts in this isolate only; the binding adds the isolates of a location up. */
  async allows(limiter: RateLimit, key: string, now: number): Promise<boolean> {
    let state = this.keys.get(key);
    if (!state) {
      if (this.keys.size >= SampledLimit.MAX_KEYS) this.keys.clear();
      state = { seen: 0, refusedUntil: 0 };
      this.keys.set(key, state);
    }
    if (now < state.refusedUntil) return false;
    if (state.seen++ % SampledLimit.SAMPLE !== 0) return true;
    const { success } = await limiter.limit({ key });
    if (!success) {
      state.refusedUntil = now + SampledLimit.PERIOD_MS;
      state.seen = 0;
    }
    return success;
  }

  clear(): void {
    this.keys.clear();
  }
}
