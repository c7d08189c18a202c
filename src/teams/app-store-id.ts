import { and, eq, isNotNull, ne, notExists, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { applications, type Database } from '#db';
import { appStoreIdOf } from '#lib/store-urls';

/** The application with an App Store id: at most one of a deployment. */
export async function findByAppStoreId(
  db: Database,
  id: string,
): Promise<{ id: string; timezone: string } | null> {
  const [found] = await db
    .select({ id: applications.id, timezone: applications.timezone })
    .from(applications)
    .where(eq(applications.appStoreId, id));
  return found ?? null;
}

/** Whether no other application has an App Store id. */
export function isFreeInAppStore(db: Database, id: string | null | undefined, except: string): SQL {
  if (!id) return sql`true`;
  const other = alias(applications, 'other');
  return notExists(
    db
      .select({ id: other.id })
      .from(other)
      .where(and(eq(other.appStoreId, id), ne(other.id, except))),
  );
}

/**
 * Stores the App Store ids of URLs that the previous release wrote, which does not know the column. An id that another application has stays with it.
 */
export async function refreshAppStoreIds(db: Database): Promise<void> {
  const { id, iosStoreUrl, appStoreId } = applications;
  const rows = await db
    .select({ id, iosStoreUrl, appStoreId })
    .from(applications)
    .where(sql`${isNotNull(iosStoreUrl)} OR ${isNotNull(appStoreId)}`)
    .orderBy(id);
  for (const row of rows) {
    const current = appStoreIdOf(row.iosStoreUrl);
    if (current === row.appStoreId) continue;
    await db
      .update(applications)
      .set({ appStoreId: current })
      .where(and(eq(id, row.id), isFreeInAppStore(db, current, row.id)));
  }
}
