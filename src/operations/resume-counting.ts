import { auditStatement, type Caller, newAuditEntry } from '#audit';
import { resumeCounting } from '#counting';
import { getApplication } from '#teams';

/**
 * Resumes the counters of an application that stopped after a restore, and answers how many had stopped. Repeatable: it changes
 * nothing where none has. Throws `not_found` for an unknown application or another team's.
 */
export async function resumeApplication(
  env: Env,
  caller: Caller,
  applicationId: string,
): Promise<{ counters: number }> {
  const application = await getApplication(caller.db, caller.team.id, applicationId);
  // Recorded before: what changes is not in this database.
  await auditStatement(caller, newAuditEntry('counting.resumed', application.id));
  return { counters: await resumeCounting(env, application) };
}
