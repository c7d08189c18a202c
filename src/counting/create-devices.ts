import type { CreatedDevice, NewDevice } from './api.ts';
import { creditedClick, findByAlias, findById, insertDevice } from './devices.ts';
import { shardsIn } from './log.ts';
import { progress } from './schema.ts';
import { homeShard } from './shards.ts';
import type { Store } from './store.ts';

/** Stores the largest number of shards seen, and returns it. */
export function noteShards(store: Store, shards: number): number {
  const known = shardsIn(store);
  if (shards > known) store.update(progress).set({ shards }).run();
  return Math.max(known, shards);
}

/** `createOrFindDevices` for one device, in a shard's counter. `known` is the largest number of shards that the counter has seen. */
export function createOrFind(
  store: Store,
  { alias, device }: { alias: string | null; device: NewDevice },
  { shard, shards, known }: { shard: number; shards: number; known: number },
): CreatedDevice {
  const found = alias === null ? findById(store, device.id) : findByAlias(store, alias);
  if (found) return { outcome: 'found', device: found, clickId: creditedClick(store, found.id) };
  if (alias !== null && shards < known && homeShard(alias, known) !== shard) {
    return { outcome: 'moved', shards: known };
  }
  insertDevice(store, alias, device);
  const { id, acquiredDay, creativeId } = device;
  return { outcome: 'created', device: { id, acquiredDay, creativeId } };
}
