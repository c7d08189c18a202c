import { and, desc, eq, inArray, lt, max, sql } from 'drizzle-orm';
import { alertChanges, type Database } from '#db';

/** So many changes of an alert are kept. */
const MAX_CHANGES = 100;

export type AlertChange = typeof alertChanges.$inferSelect;

/** When an alert fired and resolved, the latest first: the last 100 changes. */
export const listChanges = (db: Database, alertId: string): Promise<AlertChange[]> =>
  db
    .select()
    .from(alertChanges)
    .where(eq(alertChanges.alertId, alertId))
    .orderBy(desc(alertChanges.at), desc(alertChanges.state))
    .limit(MAX_CHANGES);

/** When alerts last fired, by id (epoch milliseconds). Those that have not are absent. */
export async function findLastFired(db: Database, ids: readonly string[]): Promise<Map<string, number>> {
  const rows = await db
    .select({ id: alertChanges.alertId, at: max(alertChanges.at) })
    .from(alertChanges)
    .where(and(inArray(alertChanges.alertId, [...ids]), eq(alertChanges.state, 'fired')))
    .groupBy(alertChanges.alertId);
  return new Map(rows.flatMap(({ id, at }) => (at === null ? [] : [[id, at] as const])));
}

/** Stores a change if the SQL condition `guard` holds, and deletes what is beyond the changes that are kept. */
export const changeStatements = (db: Database, change: AlertChange, guard: ReturnType<typeof sql>) => {
  const oldest = db
    .select({ at: alertChanges.at })
    .from(alertChanges)
    .where(eq(alertChanges.alertId, change.alertId))
    .orderBy(desc(alertChanges.at))
    .limit(1)
    .offset(MAX_CHANGES - 1);
  return [
    db
      .insert(alertChanges)
      .select(
        sql`SELECT ${change.alertId}, ${change.at}, ${change.state}, ${change.applicationId}, ${change.text} WHERE ${guard}`,
      )
      .onConflictDoNothing(),
    db
      .delete(alertChanges)
      .where(and(eq(alertChanges.alertId, change.alertId), lt(alertChanges.at, sql`(${oldest})`))),
  ] as const;
};
