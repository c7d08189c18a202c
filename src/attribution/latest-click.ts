import { and, desc, eq, gt } from 'drizzle-orm';
import { clicks, type Database } from '#db';
import { firstIdAt } from '#lib/ids';

/**
 * The latest click on a creative since `since` (epoch milliseconds), or null. Reads the application's clicks since then; ids begin with
 * their time, so these are a range of the primary key. The caller has checked that the application belongs to the team.
 */
export async function findLatestClick(
  db: Database,
  applicationId: string,
  creativeId: string,
  since: number,
): Promise<{ id: string; clickedAt: number; osFamily: string; country: string | null } | null> {
  const [click] = await db
    .select({
      id: clicks.id,
      clickedAt: clicks.clickedAt,
      osFamily: clicks.osFamily,
      country: clicks.country,
    })
    .from(clicks)
    .where(
      and(
        eq(clicks.applicationId, applicationId),
        gt(clicks.id, firstIdAt('clk', since)),
        eq(clicks.creativeId, creativeId),
      ),
    )
    .orderBy(desc(clicks.id))
    .limit(1);
  return click ?? null;
}
