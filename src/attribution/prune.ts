import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { applications, type clicks, type impressions, retryTransient } from '#db';
import { HOUR_MS } from '#lib/time';

const PRUNED_AT_ONCE = 1_000;
const PRUNING_ROUNDS = 10;

/** A table whose ids begin with their time, and its alias `old`. */
type Pruned = {
  table: typeof clicks | typeof impressions;
  old: { applicationId: SQLWrapper; id: SQLWrapper };
  idPrefix: string;
};

/**
 * The keys of rows that are older than a window of their application; `hours` is an expression over the application's row. The hint makes
 * SQLite start at the applications.
 */
export const olderThan = (
  { table, old, idPrefix }: Pruned,
  hours: SQLWrapper,
  now: number,
  { index = sql``, condition = sql`true` }: { index?: SQL; condition?: SQL } = {},
) => sql`(
  SELECT ${old.applicationId}, ${old.id} FROM ${applications} CROSS JOIN ${table} AS old ${index}
    ON ${old.applicationId} = ${applications.id}
      AND ${old.id} < ${idPrefix} || printf('%012x', ${now} - ${HOUR_MS} * ${hours})
  WHERE ${condition} LIMIT ${PRUNED_AT_ONCE})`;

/** Repeats a statement that changes as many rows as `olderThan` finds, a bounded number of times. */
export async function inRounds(prune: () => Promise<D1Result>): Promise<void> {
  for (let round = 0; round < PRUNING_ROUNDS; round++) {
    const { meta } = await retryTransient(prune);
    if (meta.changes < PRUNED_AT_ONCE) return;
  }
}
