import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import { countersOf } from '#counting';

/** Lets each counter of an application count once; answers whether everything is counted and in D1. */
export async function settleOnce(applicationId: string, shards = 1): Promise<boolean> {
  const answers = await Promise.all(
    countersOf(env, applicationId, shards).map((counter) => counter.settle()),
  );
  return answers.every(({ settled }) => settled);
}

/** Counts everything that an application's counters hold and brings it to D1. */
export async function settleAll(applicationId: string, shards?: number): Promise<void> {
  const stored = await env.DB.prepare('SELECT shards FROM applications WHERE id = ?')
    .bind(applicationId)
    .first<number>('shards');
  await expect.poll(() => settleOnce(applicationId, shards ?? stored ?? 1), { timeout: 20_000 }).toBe(true);
}
