import type { BatchItem } from 'drizzle-orm/batch';
import type { Database } from './client.ts';
import { retryTransient } from './retry.ts';

/**
 * Runs a list of statements as one transaction, again after a transient error; answers their results in order, none for an empty
 * list. Safe only for transactions that may be repeated after they have in fact succeeded.
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
