import { type Head, nextHeads, readBatch } from './log-heads.ts';
import { BrokenDevicesError, findPoison, PoisonError } from './poison.ts';
import { Run, type RunLimits } from './run.ts';
import { openStore, type Store } from './store.ts';

export type { RunLimits } from './run.ts';

export const FULL_RUN: RunLimits = { events: 200_000, weight: 32_000_000 };

/**
 * Counts the next batches of the log. Device state, keys, the sums for D1 and the position in the log are one local transaction, in which a run
 * may write the same device several times. Synchronous, so nothing runs in between. Safe to repeat at any point: without the commit, nothing has
 * happened. Returns null if nothing waits.
 */
export function settleRun(
  storage: DurableObjectStorage,
  applicationId: string,
  limits: RunLimits,
  now: number,
): { events: number; lastBatch: number } | null {
  const store = openStore(storage);
  const heads = nextHeads(store, limits.events);
  if (heads.length === 0) return null;
  const poison = { events: new Set<string>(), devices: new Set<string>() };
  for (;;) {
    try {
      return storage.transactionSync(() => {
        const run = new Run(store, applicationId, heads, poison);
        const counted = run.count(limits);
        run.save(now);
        return counted;
      });
    } catch (error) {
      // An event broke the run, so its state is discarded. The other events are counted again without any that break a run.
      if (error instanceof PoisonError) poison.events.add(error.event.id);
      else if (error instanceof BrokenDevicesError) for (const id of error.ids) poison.devices.add(id);
      else throw error;
      for (const id of poisonOf(store, applicationId, heads)) poison.events.add(id);
    }
  }
}

function* poisonOf(store: Store, applicationId: string, heads: readonly Head[]): Generator<string> {
  for (const { batch } of heads) {
    const events = readBatch(store, applicationId, batch).filter((event) => event !== null);
    yield* findPoison(store, applicationId, events);
  }
}
