import { and, eq, gt, min } from 'drizzle-orm';
import { costs, type Database } from '#db';

/** The first day with any ad spend of an application; null if there is none. */
export async function findFirstSpendDay(db: Database, applicationId: string): Promise<string | null> {
  const [row] = await db
    .select({ day: min(costs.day) })
    .from(costs)
    .where(and(eq(costs.applicationId, applicationId), gt(costs.amount, 0)));
  return row?.day ?? null;
}
