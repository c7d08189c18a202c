import type { CreatedDevice, NewDevice, OpenCredit } from './api.ts';
import { findByAlias, findById, insertDevice } from './devices/devices.ts';
import { shardsIn } from './log.ts';
import { progress } from './schema.ts';
import { homeShard } from './shards.ts';
import type { ObjectStore } from './store.ts';

/** The largest number of the application's shards that a counter has seen. In memory, because creating a device depends on it. */
export class SeenShards {
  private readonly store: () => ObjectStore;
  private seen: number | null = null;

  constructor(store: () => ObjectStore) {
    this.store = store;
  }

  /** Stores a number if it is the largest so far, and returns the largest. */
  note(shards: number): number {
    const store = this.store();
    const seen = this.seen ?? shardsIn(store);
    if (shards > seen) store.update(progress).set({ shards }).run();
    this.seen = Math.max(seen, shards);
    return this.seen;
  }

  /** Call it when another store was opened, and when a transaction that called `note` has failed. */
  forget(): void {
    this.seen = null;
  }
}

export type WantedInCounter = { alias: string | null; device: NewDevice; credit?: OpenCredit };

/** See `CounterApi.createOrFindDevices`. `seen` is the largest number of shards that the counter, which is number `shard`, has seen. */
export function createOrFindAll(
  store: ObjectStore,
  wanted: readonly WantedInCounter[],
  { shards, seen, shard }: { shards: number; seen: number; shard: number },
): CreatedDevice[] {
  return wanted.map(({ alias, device, credit }): CreatedDevice => {
    const isElsewhere = alias !== null && shards < seen && homeShard(alias, seen) !== shard;
    if (!isElsewhere && insertDevice(store, alias, device)) {
      const { id, acquiredDay, creativeId } = device;
      const identity = { id, acquiredDay, creativeId, ...(credit ? { creditOpen: true as const } : {}) };
      return { outcome: 'created', device: identity };
    }
    const found = alias === null ? findById(store, device.id) : findByAlias(store, alias);
    if (found) return { outcome: 'found', ...found };
    if (isElsewhere) return { outcome: 'moved', shards: seen };
    throw new Error('An alias has no device');
  });
}
