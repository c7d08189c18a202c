import type { Bindings, Sharded } from './ask-all.ts';
import { retried } from './retry.ts';
import { counterName, counterOf } from './shards.ts';

/** The names of an application's counters. */
export const counterNames = ({ id, shards }: Sharded): string[] =>
  Array.from({ length: shards }, (_, shard) => counterName(id, shard));

/**
 * Deletes all that an application's counters hold, but for its raw event files. An object without storage costs
 * nothing and, once it is evicted, is none any more. Repeatable; throws where a counter does not answer.
 */
export async function deleteCounters(env: Bindings, application: Sharded): Promise<void> {
  const shards = Array.from({ length: application.shards }, (_, shard) => shard);
  await Promise.all(
    shards.map((shard) => retried(async () => await counterOf(env, application.id, shard).deleteAll())),
  );
}
