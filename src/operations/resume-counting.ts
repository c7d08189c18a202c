import { auditStatement, type Caller, newAuditEntry } from '#audit';
import { resumeCounting } from '#counting';
import { getApplication } from '#teams';

/**
 * Resumes an application's counters that stopped after a restore, and returns how many there were. Idempotent: it has no effect if none has
 * stopped. Throws `not_found` for an unknown application or another team's.
 */
export async function resumeApplication(
  env: Env,
  caller: Caller,
  applicationId: string,
): Promise<{ counters: number }> {
  const application = await getApplication(caller.db, caller.team.id, applicationId);
  // Recorded first, because the change itself is not in this database.
  await auditStatement(caller, newAuditEntry('counting.resumed', application.id));
  return { counters: await resumeCounting(env, application) };
}
