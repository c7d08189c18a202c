import { asc, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { applications, type Database } from '#db';
import { appStoreIdOf } from '#lib/store-urls';

/** Whether an application's store URL is that of an App Store id: `appStoreIdOf` in SQL. */
export function hasAppStoreId(id: SQLWrapper): SQL {
  const ends = ['', '/%', '?%', '#%'].map(
    (end) => sql`${applications.iosStoreUrl} LIKE 'https://%.apple.com/%/id' || ${id} || ${end}`,
  );
  return sql`(${sql.join(ends, sql` OR `)})`;
}

/** The application with an App Store id. Of several with the same one, which earlier releases allowed, the oldest. */
export async function findByAppStoreId(
  db: Database,
  id: string,
): Promise<{ id: string; timezone: string } | null> {
  const [found] = await db
    .select({ id: applications.id, timezone: applications.timezone })
    .from(applications)
    .where(hasAppStoreId(sql`${id}`))
    .orderBy(asc(applications.id))
    .limit(1);
  return found ?? null;
}

/** Whether no other application has the App Store id of a store URL. */
export function isFreeInAppStore(storeUrl: string | null | undefined, ownId: string): SQL {
  const id = appStoreIdOf(storeUrl);
  if (id === null) return sql`true`;
  return sql`NOT EXISTS (SELECT 1 FROM ${applications} WHERE ${applications.id} <> ${ownId} AND ${hasAppStoreId(sql`${id}`)})`;
}
