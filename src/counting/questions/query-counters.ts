import { retryCall } from '../retry.ts';
import { type Bindings, type CounterStub, counterOf, type Sharded, shardNumbers } from '../shards.ts';

/** Asks all counters of an application at once. Fails if one of them does. */
export function queryCounters<Answer>(
  env: Bindings,
  { id, shards }: Sharded,
  ask: (counter: CounterStub, shard: number) => Promise<Answer>,
): Promise<Answer[]> {
  return Promise.all(
    shardNumbers(shards).map((shard) => retryCall(() => ask(counterOf(env, id, shard), shard))),
  );
}
