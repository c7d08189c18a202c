import { and, desc, eq, lt } from 'drizzle-orm';
import { auditLog, type Database, database } from '#db';
import type { AppContext, AuthenticatedTeam } from '#http';
import { newId } from '#lib/ids';

/** One change, as the audit log keeps it; `subject` is readable and never a secret. */
export type AuditEntry = { teamId: string; actor: string; action: string; subject: string };

/** The entry as a statement, for the transaction of the change that it records. */
export const auditStatement = (db: Database, entry: AuditEntry, now: number) =>
  db.insert(auditLog).values({ ...entry, id: newId('aud'), at: now });

/** Written before a secret is shown, so that nothing is revealed that is not in the log. */
export async function recordAudit(db: Database, entry: AuditEntry, now: number): Promise<void> {
  await db.insert(auditLog).values({ ...entry, id: newId('aud'), at: now });
}

/** How the log names an access token. */
export const teamActor = ({ accessTokenId }: AuthenticatedTeam) => `access token ${accessTokenId}`;

/** The same for a change through the team API, whose actor is an access token. */
export async function auditTeamAction(c: AppContext, action: string, subject: string): Promise<void> {
  const team = c.get('team');
  await recordAudit(
    database(c.env.DB),
    { teamId: team.id, actor: teamActor(team), action, subject },
    Date.now(),
  );
}

/** One page of a team's log, newest first; `before` is the last id of the page before. */
export async function listAudit(db: Database, teamId: string, page: { limit: number; before?: string }) {
  const older = page.before ? lt(auditLog.id, page.before) : undefined;
  return db
    .select()
    .from(auditLog)
    .where(and(eq(auditLog.teamId, teamId), older))
    .orderBy(desc(auditLog.id))
    .limit(page.limit);
}
