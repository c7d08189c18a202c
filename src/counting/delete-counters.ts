import type { Bindings, Sharded } from './questions/query-counters.ts';
import { retryCall } from './retry.ts';
import { counterName, counterOf } from './shards.ts';

/** The names of an application's counters. */
export const counterNames = ({ id, shards }: Sharded): string[] =>
  Array.from({ length: shards }, (_, shard) => counterName(id, shard));

/**
 * Deletes everything in an application's counters except its raw event files. An object without storage costs nothing and ceases to exist once
 * it is evicted. Idempotent. Throws if a counter does not respond.
 */
export async function deleteCounters(env: Bindings, application: Sharded): Promise<void> {
  const shards = Array.from({ length: application.shards }, (_, shard) => shard);
  await Promise.all(
    shards.map((shard) => retryCall(async () => await counterOf(env, application.id, shard).deleteAll())),
  );
}
