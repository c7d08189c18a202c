import { and, asc, between, eq } from 'drizzle-orm';
import { creatives, type Database } from '#db';

/** Up to `limit` of an application's creatives that were created in a period (epoch milliseconds, both ends included), oldest first. */
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
