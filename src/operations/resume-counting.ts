import { auditStatement, type Caller } from '#audit';
import { forgetMissingFiles, resumeCounting } from '#counting';
import { getApplication } from '#teams';
import type { CountingResumed } from './answers.ts';
import { readLosses, resolveLosses } from './store-losses.ts';

/**
 * Brings back what the database or the bucket has lost of an application since a restore, as far as its counters and its registry of creatives
 * still have it, and continues without the rest. Idempotent: it has no effect if nothing was lost. Throws `not_found` for an unknown
 * application or another team's.
 */
export async function resumeApplication(
  env: Env,
  caller: Caller,
  applicationId: string,
): Promise<CountingResumed> {
  const { db } = caller;
  const application = await getApplication(db, caller.team.id, applicationId);
  const { id } = application;
  // Recorded first, because the change itself is not in this database.
  await auditStatement(caller, 'counting.resumed', id);
  const losses = (await readLosses(db, [id])).get(id) ?? [];
  const lost = new Set(losses.map(({ store }) => store));
  const creatives = await recreateCreatives(env, id);
  const { counters, missingParts } = await resumeCounting(env, application, {
    isRestored: lost.has('database'),
  });
  const files = lost.has('bucket') ? await forgetMissingFiles(env, application) : 0;
  await resolveLosses(db, losses);
  return { counters, missing_parts: missingParts, creatives, missing_files: files };
}

async function recreateCreatives(env: Pick<Env, 'CREATIVES'>, applicationId: string): Promise<number> {
  let all = 0;
  for (;;) {
    const created = await env.CREATIVES.getByName(applicationId).recreate();
    if (created === 0) return all;
    all += created;
  }
}
