import type { OutboundRule } from '#catalogue';
import type { Steps } from '#lib/steps';
import { createMissing } from '../files/restored-events.ts';
import { type Head, nextHeads, readBatch } from '../log.ts';
import { finishInterrupted } from '../outbox/outbox.ts';
import { type ObjectStore, openStore } from '../store.ts';
import { BrokenDevicesError, findPoison, PoisonError, UnknownDevicesError } from './poison.ts';
import { Run, type RunLimits } from './run.ts';

export const FULL_RUN: RunLimits = { events: 200_000, weight: 42_000_000 };

/**
 * Counts the next batches of the log. Other calls run between its steps, but no other run of the same counter may. Safe to repeat after a failure
 * at any point: without the commit nothing has happened, and after it the next call finishes what is left. Returns null if nothing waits.
 */
export function* nextRun(
  storage: DurableObjectStorage,
  applicationId: string,
  limits: RunLimits,
  now: number,
  { outbound = [], rebuilds = false }: { outbound?: readonly OutboundRule[]; rebuilds?: boolean } = {},
): Steps<{ events: number; lastBatch: number } | null> {
  const store = openStore(storage);
  const poison = { events: new Set<string>(), devices: new Set<string>() };
  for (;;) {
    yield* finishInterrupted(storage, store);
    const heads = yield* nextHeads(store, limits.events);
    if (heads.length === 0) return null;
    try {
      return yield* Run.count(storage, { applicationId, heads, poison, outbound, rebuilds }, limits, now);
    } catch (error) {
      // An event broke the run, so its state is discarded. The other events are counted again without any that break a run.
      if (error instanceof UnknownDevicesError) {
        yield* finishInterrupted(storage, store);
        yield* createDevicesOf(storage, applicationId, heads);
        continue;
      }
      if (error instanceof PoisonError) poison.events.add(error.event.id);
      else if (error instanceof BrokenDevicesError) for (const id of error.ids) poison.devices.add(id);
      else throw error;
    }
    yield* finishInterrupted(storage, store);
    yield* addPoison(store, applicationId, heads, poison.events);
  }
}

function* createDevicesOf(
  storage: DurableObjectStorage,
  applicationId: string,
  heads: readonly Head[],
): Steps {
  const store = openStore(storage);
  for (const { batch } of heads) {
    const events = readBatch(store, applicationId, batch).filter((event) => event !== null);
    storage.transactionSync(() => createMissing(store, events));
    yield;
  }
}

function* addPoison(
  store: ObjectStore,
  applicationId: string,
  heads: readonly Head[],
  poison: Set<string>,
): Steps {
  for (const { batch } of heads) {
    const events = readBatch(store, applicationId, batch).filter((event) => event !== null);
    for (const id of findPoison(store, applicationId, events)) poison.add(id);
    yield;
  }
}
