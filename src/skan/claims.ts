import { and, asc, count, eq, gt, isNotNull, sql } from 'drizzle-orm';
import type { Caller } from '#audit';
import { applications, type Database, skanPostbacks, teams } from '#db';
import { AppError } from '#http';
import { type Claimant, isDeploymentOwner } from '#members';
import { assignAppStoreApp } from '#teams';
import { assignPostbacks } from './receive.ts';

/** Throws `forbidden` for anyone but an owner of the deployment's first team, or an access token that one created. */
export async function requireDeploymentOwner(db: Database, who: Claimant): Promise<void> {
  const [found] = await db.all<{ is: number }>(sql`SELECT ${isDeploymentOwner(who)} AS "is"`);
  if (found?.is !== 1) {
    throw new AppError(
      'forbidden',
      "Only an owner of the deployment's first team may do this, or an access token that one created",
    );
  }
}

/**
 * The App Store apps that applications of all teams have, and how many postbacks wait for each. One page, in the order of applications; `cursor` is the
 * previous page's last application. For the deployment's owner only.
 */
export async function listAppStoreClaims(db: Database, page: { limit: number; cursor: string }) {
  const rows = await db
    .select({
      ...{ id: applications.id, application: applications.name, appStoreId: applications.appStoreId },
      ...{ teamId: teams.id, team: teams.name },
      isConfirmed: sql<number>`${applications.confirmedAppStoreId} IS ${applications.appStoreId}`,
    })
    .from(applications)
    .innerJoin(teams, eq(teams.id, applications.teamId))
    .where(and(isNotNull(applications.appStoreId), gt(applications.id, page.cursor)))
    .orderBy(asc(applications.id))
    .limit(page.limit);
  const claims = rows.map((row) => ({
    ...row,
    appStoreId: row.appStoreId ?? '',
    isConfirmed: row.isConfirmed === 1,
  }));
  const { appId, applicationId, test } = skanPostbacks;
  const ids = claims.map((claim) => claim.appStoreId);
  const waiting = await db
    .select({ appId, postbacks: count() })
    .from(skanPostbacks)
    .where(
      and(
        eq(applicationId, ''),
        eq(test, false),
        sql`${appId} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`,
      ),
    )
    .groupBy(appId);
  const byApp = new Map(waiting.map((one) => [one.appId, one.postbacks]));
  return claims.map((claim) => ({ ...claim, waiting: byApp.get(claim.appStoreId) ?? 0 }));
}

/** `assignAppStoreApp`, on behalf of the deployment's owner, and gives the application the postbacks that it should have. Throws `forbidden`, too. */
export async function assignClaim(
  caller: Caller,
  who: Claimant,
  appStoreId: string,
  applicationId: string,
): Promise<void> {
  await requireDeploymentOwner(caller.db, who);
  await assignAppStoreApp(caller, appStoreId, applicationId, isDeploymentOwner(who));
  await assignPostbacks(caller.db);
}
