import { and, eq, isNull, lte, or, sql } from 'drizzle-orm';
import * as z from 'zod';
import { auditStatement, type Caller } from '#audit';
import { apiKeys, applicationDeletions, applications, type Database, hasRow, insertWhere } from '#db';
import { invalidRequest } from '#http';
import { DAY_MS } from '#lib/time';
import { applicationNotFound, findApplication, nameOf } from '#teams';
import { type Budget, clearApplication, type Deletion, firstTokens } from './clear-application.ts';

/** Body of `DELETE /v1/applications/:id`. */
export const DeletedApplication = z.object({ name: z.string({ error: 'is required' }) });

/** The answer of it. */
export const ApplicationDeleted = z.object({
  deleted: z.literal(true),
  id: z.string(),
  data: z
    .enum(['pending', 'done'])
    .meta({ description: '`pending` while data is still being deleted in the background.' }),
});

/** A message is delivered for up to 4 days, and for 4 more as a dead letter. After that, nothing can arrive. */
const ARRIVES_FOR_MS = 9 * DAY_MS;
/** Time limits for clearing: in a request, and in a cron run, which continues what requests leave. */
const REQUEST_MS = 10_000;
const CRON_MS = 30_000;
const MAX_STATEMENTS = 600;
/** Per cron run. */
const MAX_DELETIONS = 20;

const startBudget = (milliseconds: number): Budget => ({
  deadline: Date.now() + milliseconds,
  statements: MAX_STATEMENTS,
});

/**
 * Deletes an application and all its data. From the first transaction on it is unknown everywhere; its keys, links and tokens stop working
 * once isolates drop them from their caches, within 60 s. Its data in D1, in its counters and in R2 is then cleared, by this call or by the
 * cron. Idempotent: after a failure, or while data is left, another call continues where the last one stopped. Throws `not_found` for
 * another team's application too, and `invalid_request` if the name is wrong.
 */
export async function deleteApplication(
  env: Env,
  caller: Caller,
  id: string,
  name: string,
): Promise<z.input<typeof ApplicationDeleted>> {
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

/** The single transaction after which the application no longer exists for anyone. */
async function beginDeletion(caller: Caller, id: string, name: string): Promise<Deletion> {
  const { db, team, now } = caller;
  const application = await findApplication(db, team.id, id);
  if (!application) throw applicationNotFound();
  if (application.name !== name) throw wrongName();
  const own = eq(applications.id, id);
  const isThere = hasRow(applications, own);
  const row = {
    deletedId: id,
    teamId: team.id,
    name,
    // Read when the statement runs, because it grows automatically.
    shards: sql<number>`(SELECT ${applications.shards} FROM ${applications} WHERE ${own})`,
    deletedAt: now,
    tokensThrough: firstTokens(id),
  };
  await db.batch([
    auditStatement(caller, 'application.deleted', nameOf(application), isThere),
    insertWhere(db, applicationDeletions, row, isThere),
    db.delete(apiKeys).where(eq(apiKeys.applicationId, id)),
    db.delete(applications).where(own),
  ]);
  // Of two concurrent calls, both find the first one's row.
  const deletion = await findDeletion(caller, id);
  if (!deletion) throw applicationNotFound();
  return deletion;
}

/** Clears as far as the budget allows. Returns whether nothing is left. */
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
 * Continues deletions, from the cron: first those that are not cleared, then those for which nothing can arrive any more. The latter are
 * cleared once more, of data that was on its way when they were deleted, and then forgotten. A failure does not hold up the others; the
 * first error is thrown at the end.
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
