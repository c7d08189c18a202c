import { and, asc, between, eq } from 'drizzle-orm';
import { creatives, type Database } from '#db';

/** An application's creatives that were made within a time (epoch milliseconds, both included), the oldest first, at most `limit`. */
export async function findNewCreatives(
  db: Database,
  applicationId: string,
  { since, until, limit }: { since: number; until: number; limit: number },
): Promise<{ id: string; name: string; createdAt: number }[]> {
  return db
    .select({ id: creatives.id, name: creatives.name, createdAt: creatives.createdAt })
    .from(creatives)
    .where(and(eq(creatives.applicationId, applicationId), between(creatives.createdAt, since, until)))
    .orderBy(asc(creatives.id))
    .limit(limit);
}
