import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { applications, type clicks, type impressions, PRUNED_AT_ONCE } from '#db';
import { HOUR_MS } from '#lib/time';

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
