import { and, eq, getTableColumns, gt, inArray, is, lte, type SQL, sql } from 'drizzle-orm';
import { type SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { counterNames, deleteCounters, deleteUndelivered } from '#counting';
import * as schema from '#db';
import {
  type applicationDeletions,
  counterFlushes,
  creativeRequests,
  creatives,
  type Database,
  deleteSome,
  destinations,
  retryTransient,
  tokens,
} from '#db';
import { deleteCopies, deletePrefix, filePrefix, namesPrefix } from '#lake';
import { firstIdAt, idTime } from '#lib/ids';
import { DAY_MS } from '#lib/time';
import { monthPrefixes } from '#rollup';

const ROWS_AT_ONCE = 1_000;
const TOKENS_AT_ONCE = 5_000;

export type Deletion = typeof applicationDeletions.$inferSelect;
type ApplicationTable = { table: SQLiteTable; applicationId: SQLiteColumn };

/** The limits of one call: a deadline (epoch milliseconds) and a number of statements, of which an invocation has 1,000. */
export type Budget = { readonly deadline: number; statements: number };

/** Deducts one portion's statements from the budget. Returns false once it is used up. */
function spend(budget: Budget): boolean {
  if (Date.now() >= budget.deadline || budget.statements <= 0) return false;
  budget.statements -= 2;
  return true;
}

/** Every table with rows by application, in whichever module, except the tokens. */
const PLACES: ApplicationTable[] = Object.values(schema).flatMap((table) => {
  if (!is(table, SQLiteTable) || table === tokens) return [];
  const { applicationId }: Record<string, SQLiteColumn> = getTableColumns(table);
  return applicationId ? [{ table, applicationId }] : [];
});

/** No device, and so no token, is older than its application. One day allows for clocks that disagree. */
export const firstTokens = (applicationId: string): string =>
  firstIdAt('dev', idTime(applicationId) - DAY_MS);

/**
 * Deletes an application's data in its counters, in R2 and in D1, as far as the budget allows. Returns whether nothing is left. Each step
 * is idempotent and of bounded size. Counters come first, so that they add nothing to the rest.
 */
export async function clearApplication(
  env: Env,
  db: Database,
  deletion: Deletion,
  budget: Budget,
): Promise<boolean> {
  const { deletedId: id, teamId, shards } = deletion;
  await deleteCounters(env, { id, shards });
  await env.CREATIVES.getByName(id).deleteAll();
  const sentTo = await db
    .select({ id: destinations.id })
    .from(destinations)
    .where(eq(destinations.applicationId, id));
  await Promise.all(sentTo.map((own) => env.DESTINATIONS.getByName(own.id).deleteAll()));
  for (const prefix of [filePrefix(id), ...monthPrefixes(id), namesPrefix(id)]) {
    if (!(await deletePrefix(env.RAW_EVENTS, prefix, budget.deadline))) return false;
  }
  if (!(await deleteCopies(env.RAW_EVENTS, id, budget.deadline))) return false;
  if (!(await deleteUndelivered(env.RAW_EVENTS, id, budget.deadline))) return false;
  await db.delete(counterFlushes).where(inArray(counterFlushes.counter, counterNames({ id, shards })));
  const own = db.select({ id: creatives.id }).from(creatives).where(eq(creatives.applicationId, id));
  const ofOwn = and(eq(creativeRequests.teamId, teamId), inArray(creativeRequests.creativeId, own));
  if (!(await deleteRows(db, creativeRequests, ofOwn, budget))) return false;
  for (const { table, applicationId } of PLACES) {
    if (!(await deleteRows(db, table, eq(applicationId, id), budget))) return false;
  }
  return deleteTokens(db, deletion, budget);
}

/** Deletes rows in portions. Returns false if the budget was used up before all were gone. */
async function deleteRows(
  db: Database,
  table: SQLiteTable,
  which: SQL | undefined,
  budget: Budget,
): Promise<boolean> {
  while (spend(budget)) {
    if ((await deleteSome(db, table, which, ROWS_AT_ONCE)) < ROWS_AT_ONCE) return true;
  }
  return false;
}

/**
 * Scans all tokens from the application's first possible one on, because an index by application would cost one more written row for every
 * `/fetch-token`. Remembers its position.
 */
async function deleteTokens(db: Database, deletion: Deletion, budget: Budget): Promise<boolean> {
  const { applicationDeletions } = schema;
  let through = deletion.tokensThrough;
  while (spend(budget)) {
    const portion = db
      .select({ deviceId: tokens.deviceId })
      .from(tokens)
      .where(gt(tokens.deviceId, through))
      .orderBy(tokens.deviceId)
      .limit(TOKENS_AT_ONCE)
      .as('portion');
    const [last] = await db.select({ id: sql<string | null>`max(${portion.deviceId})` }).from(portion);
    if (!last?.id) return true;
    const inPortion = and(gt(tokens.deviceId, through), lte(tokens.deviceId, last.id));
    through = last.id;
    await retryTransient(() =>
      db.batch([
        db.delete(tokens).where(and(inPortion, eq(tokens.applicationId, deletion.deletedId))),
        db
          .update(applicationDeletions)
          .set({ tokensThrough: through })
          .where(eq(applicationDeletions.deletedId, deletion.deletedId)),
      ]),
    );
  }
  return false;
}
