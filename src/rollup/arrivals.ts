import { and, eq, gt, min, or, type SQL, sql } from 'drizzle-orm';
import { database, hasRow, rollupDaily } from '#db';

/** Whether an application's rollups have any device, and any event other than an acquisition. */
export async function readCountedArrivals(
  d1: D1Database,
  applicationId: string,
): Promise<{ device: boolean; event: boolean }> {
  const db = database(d1);
  const { installs, sessions, customEvents, impressions, purchases, failedPurchases } = rollupDaily;
  const any = (condition: SQL | undefined) =>
    hasRow(rollupDaily, and(eq(rollupDaily.applicationId, applicationId), condition));
  const ofEvents = [sessions, customEvents, impressions, purchases, failedPurchases].map((sum) => gt(sum, 0));
  const row = await db.get<{ device: number; event: number }>(
    sql`SELECT ${any(gt(installs, 0))} AS device, ${any(or(...ofEvents))} AS event`,
  );
  return { device: row.device === 1, event: row.event === 1 };
}

/** The day of an application's first event of any kind; null if nothing was counted yet. */
export async function readFirstDay(db: D1Database, applicationId: string): Promise<string | null> {
  const [row] = await database(db)
    .select({ day: min(rollupDaily.day) })
    .from(rollupDaily)
    .where(eq(rollupDaily.applicationId, applicationId));
  return row?.day ?? null;
}
