import { and, asc, eq, gt, isNull, or } from 'drizzle-orm';
import type { Caller } from '#audit';
import { apiKeys, applications, type Database, database } from '#db';
import { type AppContext, AppError } from '#http';
import { sha256Hex } from '#lib/crypto';

declare const OWNED: unique symbol;

/** An application that was read as its team's own. Only this module creates the type, so a function that receives one may use it. */
export type ApplicationRow = typeof applications.$inferSelect & { readonly [OWNED]: true };

export const owned = (row: typeof applications.$inferSelect) => row as ApplicationRow;

/** How the audit log names an application. */
export const nameOf = ({ name, id }: Pick<ApplicationRow, 'name' | 'id'>) => `${name} (${id})`;

/** One page of a team's applications, oldest first; `cursor` is the previous page's last id. */
export async function listApplications(
  db: Database,
  teamId: string,
  page: { limit: number; cursor: string },
): Promise<ApplicationRow[]> {
  const rows = await db
    .select()
    .from(applications)
    .where(and(eq(applications.teamId, teamId), gt(applications.id, page.cursor)))
    .orderBy(asc(applications.id))
    .limit(page.limit);
  return rows.map(owned);
}

/** Returns null for another team's application too, which must be indistinguishable from one that does not exist. */
export async function findApplication(
  db: Database,
  teamId: string,
  id: string,
): Promise<ApplicationRow | null> {
  const [row] = await db
    .select()
    .from(applications)
    .where(and(eq(applications.id, id), eq(applications.teamId, teamId)));
  return row ? owned(row) : null;
}

/** Like `findApplication`, but throws `not_found` instead of returning null. */
export async function getApplication(db: Database, teamId: string, id: string): Promise<ApplicationRow> {
  const row = await findApplication(db, teamId, id);
  if (!row) throw applicationNotFound();
  return row;
}

/** The application that a request names, after checking that it is the team's. Throws `not_found`. */
export const ownApplication = (c: AppContext, id: string): Promise<ApplicationRow> =>
  getApplication(database(c.env.DB), c.get('team').id, id);

export const applicationNotFound = () => new AppError('not_found', 'Application not found');

/** The team's application that a currently valid API key belongs to; null for any other key. */
export async function findApplicationByKey(
  { db, team, now }: Caller,
  apiKey: string,
): Promise<ApplicationRow | null> {
  const [row] = await db
    .select({ application: applications })
    .from(apiKeys)
    .innerJoin(applications, eq(applications.id, apiKeys.applicationId))
    .where(
      and(
        eq(apiKeys.hash, await sha256Hex(apiKey)),
        eq(applications.teamId, team.id),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)),
      ),
    );
  return row ? owned(row.application) : null;
}
