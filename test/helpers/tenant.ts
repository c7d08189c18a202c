import { env } from 'cloudflare:workers';
import { and, eq, inArray } from 'drizzle-orm';
import { applications, auditLog, database } from '#db';
import { appStoreIdOf } from '#lib/store-urls';
import type { NewApplication } from '#teams';
import { createAccessToken, createApplication, createTeam } from '#teams';

/** Deletes the audit rows of a test's helpers, so that a test finds only its own. */
export const forgetAudit = (team: { id: string }, ...actors: string[]) =>
  database(env.DB)
    .delete(auditLog)
    .where(and(eq(auditLog.teamId, team.id), inArray(auditLog.actor, actors)));

/**
 * A team of its own with an application and both credentials, so that no test depends on another's. Tests share an App Store app, which only
 * one application of a deployment may have: the newest tenant takes it over.
 */
export async function createTenant({ ios_store_url, ...settings }: Partial<NewApplication> = {}) {
  const db = database(env.DB);
  const now = Date.now();
  const team = await createTeam(db, 'Test team', now);
  const caller = { db, team, actor: 'test', now };
  const { accessToken } = await createAccessToken(caller, 'test', null);
  const { application, apiKey } = await createApplication(
    caller,
    { name: 'Test game', ...settings },
    env.KEY_ENCRYPTION_SECRET,
  );
  if (ios_store_url) {
    const iosStoreUrl = ios_store_url;
    const appStoreId = appStoreIdOf(iosStoreUrl);
    const claim = { iosStoreUrl, appStoreId, confirmedAppStoreId: appStoreId };
    await db.batch([
      db
        .update(applications)
        .set({ appStoreId: null, confirmedAppStoreId: null })
        .where(eq(applications.appStoreId, appStoreId ?? '')),
      db.update(applications).set(claim).where(eq(applications.id, application.id)),
    ]);
    Object.assign(application, claim);
  }
  await forgetAudit(team, caller.actor);
  return { team, application, apiKey, teamToken: accessToken };
}

export type Tenant = Awaited<ReturnType<typeof createTenant>>;
