import { retryTransient } from './retry.ts';

/** How many rows a statement of `inRounds` may change, so that none holds up the database. */
export const PRUNED_AT_ONCE = 1_000;
const PRUNING_ROUNDS = 10;

/** Repeats a statement that changes at most `PRUNED_AT_ONCE` rows until it finds fewer, a bounded number of times. */
export async function inRounds(prune: () => Promise<D1Result>): Promise<void> {
  for (let round = 0; round < PRUNING_ROUNDS; round++) {
    const { meta } = await retryTransient(prune);
    if (meta.changes < PRUNED_AT_ONCE) return;
  }
}
