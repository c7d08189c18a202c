import type { BatchItem } from 'drizzle-orm/batch';
import type { Database } from './client.ts';
import { retryTransient } from './retry.ts';

/**
 * Runs a list of statements as one transaction, with retries after transient errors. Returns their results in order; none for an empty
 * list. Safe only for transactions that may run again after they have actually succeeded.
 */
export async function runBatch(
  db: Database,
  statements: () => readonly BatchItem<'sqlite'>[],
): Promise<unknown[]> {
  return retryTransient(async () => {
    const [first, ...rest] = statements();
    return first ? db.batch([first, ...rest]) : [];
  });
}
