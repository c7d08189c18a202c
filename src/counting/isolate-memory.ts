// Several counters may share an isolate, which has 128 MB for all of them. What takes much memory takes a share of this budget first.

/**
 * In bytes as runs weigh them (`RunLimits.weight`): a full run and a seventh of another, which then need about 100 MB of heap.
 */
const ISOLATE_BYTES = 48_000_000;

/** With less than this, work waits instead. */
const MIN_SHARE = 2_000_000;
/** Another counter's promise must not be waited for: the platform takes that for a call that hangs. */
const POLL_MS = 20;
/** The share of work that was killed is never returned. It is free again after this time, unless the work renews it. */
const LEASE_MS = 15_000;

type Share = { bytes: number; until: number };

/** A share of the memory. `renew` keeps it for longer. */
export type Granted = { bytes: number; renew: () => void };

/** A budget that pieces of work share. */
export class MemoryBudget {
  private readonly total: number;
  private shares: Share[] = [];

  constructor(total: number) {
    this.total = total;
  }

  /** Does work with up to `wanted` bytes, or with what is left of the budget, and waits while that is too little. */
  async use<Result>(wanted: number, work: (granted: Granted) => Promise<Result>): Promise<Result> {
    for (;;) {
      const share = this.take(wanted);
      if (share === null) {
        await scheduler.wait(POLL_MS);
        continue;
      }
      const renew = () => {
        share.until = Date.now() + LEASE_MS;
      };
      try {
        return await work({ bytes: share.bytes, renew });
      } finally {
        this.shares = this.shares.filter((own) => own !== share);
      }
    }
  }

  private take(wanted: number): Share | null {
    const now = Date.now();
    this.shares = this.shares.filter(({ until }) => until > now);
    const free = this.shares.reduce((left, { bytes }) => left - bytes, this.total);
    const bytes = Math.min(wanted, free);
    if (bytes < Math.min(wanted, MIN_SHARE)) return null;
    const share = { bytes, until: now + LEASE_MS };
    this.shares.push(share);
    return share;
  }
}

/** The budget of this isolate. */
export const isolateMemory = new MemoryBudget(ISOLATE_BYTES);
