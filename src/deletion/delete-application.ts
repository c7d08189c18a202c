import { and, eq, exists, isNull, lte, or, sql } from 'drizzle-orm';
import * as z from 'zod';
import { auditStatement, type Caller, newAuditEntry } from '#audit';
import { apiKeys, applicationDeletions, applications, type Database, insertWhere } from '#db';
import { invalidRequest } from '#http';
import { DAY_MS } from '#lib/time';
import { applicationNotFound, findApplication, nameOf } from '#teams';
import { type Budget, clearApplication, firstTokens } from './clear-application.ts';
import type { ApplicationDeleted } from './operations.ts';

/** Body of `DELETE /v1/applications/:id`. */
export const DeletedApplication = z.object({ name: z.string({ error: 'is required' }) });

type Deletion = typeof applicationDeletions.$inferSelect;

/** A message is delivered for 4 days, and for 4 more from the dead letters; then nothing arrives any more. */
const ARRIVES_FOR_MS = 9 * DAY_MS;
/** How long a request clears, and how long a run of the cron, which goes on with what is left. */
const REQUEST_MS = 10_000;
const CRON_MS = 30_000;
const MAX_STATEMENTS = 600;
/** Of one run of the cron. */
const MAX_DELETIONS = 20;

const startBudget = (milliseconds: number): Budget => ({
  deadline: Date.now() + milliseconds,
  statements: MAX_STATEMENTS,
});

/**
 * Deletes an application with everything of it. From its first transaction on it is unknown everywhere: its keys, links and tokens
 * end as soon as isolates forget them, within 60 s. What it has in D1, in its counters and in R2 is then cleared, by this call or by
 * the cron. Repeatable: after a failure, and while there is something to clear, a further call goes on where the last one stopped.
 * Throws `not_found` also for another team's, and `invalid_request` where the name is not the application's.
 */
export async function deleteApplication(
  env: Env,
  caller: Caller,
  id: string,
  name: string,
): Promise<ApplicationDeleted> {
  const deletion = (await findDeletion(caller, id)) ?? (await beginDeletion(caller, id, name));
  if (deletion.name !== name) throw wrongName();
  const isClear =
    deletion.clearedAt !== null ||
    (await clear(env, caller.db, deletion, caller.now, startBudget(REQUEST_MS)));
  return { deleted: true, id, data: isClear ? 'done' : 'pending' };
}

const wrongName = () => invalidRequest([{ path: 'name', message: 'must be the name of the application' }]);

async function findDeletion({ db, team }: Caller, id: string): Promise<Deletion | null> {
  const { deletedId, teamId } = applicationDeletions;
  const [row] = await db
    .select()
    .from(applicationDeletions)
    .where(and(eq(deletedId, id), eq(teamId, team.id)));
  return row ?? null;
}

/** The one transaction after which the application is gone for everyone. */
async function beginDeletion(caller: Caller, id: string, name: string): Promise<Deletion> {
  const { db, team, now } = caller;
  const application = await findApplication(db, team.id, id);
  if (!application) throw applicationNotFound();
  if (application.name !== name) throw wrongName();
  const own = eq(applications.id, id);
  const isThere = exists(db.select({ id: applications.id }).from(applications).where(own));
  const row = {
    deletedId: id,
    teamId: team.id,
    name,
    // As it is when the statement runs: it grows by itself.
    shards: sql<number>`(SELECT ${applications.shards} FROM ${applications} WHERE ${own})`,
    deletedAt: now,
    tokensThrough: firstTokens(id),
  };
  await db.batch([
    auditStatement(caller, newAuditEntry('application.deleted', nameOf(application)), isThere),
    insertWhere(db, applicationDeletions, row, isThere),
    db.delete(apiKeys).where(eq(apiKeys.applicationId, id)),
    db.delete(applications).where(own),
  ]);
  // Of two calls at once both find the row of the first.
  const deletion = await findDeletion(caller, id);
  if (!deletion) throw applicationNotFound();
  return deletion;
}

/** Clears as far as the budget goes; answers whether nothing is left. */
async function clear(
  env: Env,
  db: Database,
  deletion: Deletion,
  now: number,
  budget: Budget,
): Promise<boolean> {
  if (!(await clearApplication(env, db, deletion, budget))) return false;
  await db
    .update(applicationDeletions)
    .set({ clearedAt: now, tokensThrough: firstTokens(deletion.deletedId) })
    .where(eq(applicationDeletions.deletedId, deletion.deletedId));
  return true;
}

/**
 * Goes on with deletions, from the cron: first with those that are not cleared, then with those for which nothing arrives any more.
 * The latter are cleared again, of what was on its way when they were deleted, and forgotten. One that fails holds no other up; the
 * first error is thrown in the end.
 */
export async function continueDeletions(env: Env, db: Database, now: number): Promise<void> {
  const { clearedAt, deletedAt, deletedId } = applicationDeletions;
  const due = await db
    .select()
    .from(applicationDeletions)
    .where(or(isNull(clearedAt), lte(deletedAt, now - ARRIVES_FOR_MS)))
    .orderBy(sql`${clearedAt} IS NOT NULL`, deletedAt)
    .limit(MAX_DELETIONS);
  const budget = startBudget(CRON_MS);
  const errors: unknown[] = [];
  for (const deletion of due) {
    try {
      const isClear = await clear(env, db, deletion, now, budget);
      if (isClear && deletion.deletedAt <= now - ARRIVES_FOR_MS) {
        await db.delete(applicationDeletions).where(eq(deletedId, deletion.deletedId));
      }
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
