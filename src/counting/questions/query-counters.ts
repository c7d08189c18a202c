import { retryCall } from '../retry.ts';
import { type CounterStub, counterOf } from '../shards.ts';

export type Bindings = Pick<Env, 'COUNTERS'>;

/** An application and the number of its counters, as stored in its row. */
export type Sharded = { id: string; shards: number };

/** Asks all counters of an application at once. Fails if one of them does. */
export function queryCounters<Answer>(
  env: Bindings,
  { id, shards }: Sharded,
  ask: (counter: CounterStub) => Promise<Answer>,
): Promise<Answer[]> {
  return Promise.all(
    Array.from({ length: shards }, (_, shard) => retryCall(() => ask(counterOf(env, id, shard)))),
  );
}
