import { env } from 'cloudflare:workers';
import { countersOf } from '#counting';

const MAX_WAIT_MS = 20_000;

/** Lets each counter of an application count once; answers whether everything is counted and in D1. */
export async function settleOnce(applicationId: string, shards = 1): Promise<boolean> {
  const answers = await Promise.all(
    countersOf(env, applicationId, shards).map((counter) => counter.settle()),
  );
  return answers.every(({ settled }) => settled);
}

/** Counts everything that an application's counters hold and brings it to D1. For tests and for hooks. Throws after 20 s. */
export async function settleAll(applicationId: string, shards?: number): Promise<void> {
  const stored = await env.DB.prepare('SELECT shards FROM applications WHERE id = ?')
    .bind(applicationId)
    .first<number>('shards');
  // The clock of `Date` belongs to the test.
  const startedAt = performance.now();
  while (!(await settleOnce(applicationId, shards ?? stored ?? 1))) {
    if (performance.now() - startedAt > MAX_WAIT_MS) throw new Error(`${applicationId} is not settled`);
  }
}
