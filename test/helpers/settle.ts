import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import { counterOf } from '#counting';

/** Counts everything that an application's counters hold and brings it to D1. */
export async function settleAll(applicationId: string): Promise<void> {
  const shards = await env.DB.prepare('SELECT shards FROM applications WHERE id = ?')
    .bind(applicationId)
    .first<number>('shards');
  const settle = async () => {
    const answers = await Promise.all(
      Array.from({ length: shards ?? 1 }, (_, shard) => counterOf(env, applicationId, shard).settle()),
    );
    return answers.every(({ settled }) => settled);
  };
  await expect.poll(settle, { timeout: 20_000 }).toBe(true);
}
