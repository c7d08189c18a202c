import { and, eq, getTableColumns, gt, inArray, is, lte, type SQL, sql } from 'drizzle-orm';
import { getTableConfig, type SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { counterNames, deleteCounters } from '#counting';
import * as schema from '#db';
import {
  type applicationDeletions,
  counterFlushes,
  creativeRequests,
  creatives,
  type Database,
  retryTransient,
  tokens,
} from '#db';
import { deleteFiles } from '#lake';
import { idTime } from '#lib/ids';
import { DAY_MS } from '#lib/time';

const ROWS_AT_ONCE = 1_000;
const TOKENS_AT_ONCE = 5_000;

type Deletion = typeof applicationDeletions.$inferSelect;
type Place = { table: SQLiteTable; applicationId: SQLiteColumn };

/** What one call may take: until a time (epoch milliseconds), and so many statements. An invocation has 1,000. */
export type Budget = { readonly deadline: number; statements: number };

/** Takes a portion's statements out of the budget; false once it is used up. */
function spend(budget: Budget): boolean {
  if (Date.now() >= budget.deadline || budget.statements <= 0) return false;
  budget.statements -= 2;
  return true;
}

/** Every table that has rows by application, whichever module owns it, but for the tokens. */
const PLACES: Place[] = Object.values(schema).flatMap((table) => {
  if (!is(table, SQLiteTable) || table === tokens) return [];
  const { applicationId }: Record<string, SQLiteColumn> = getTableColumns(table);
  return applicationId ? [{ table, applicationId }] : [];
});

/** Devices of an application, and so their tokens, are not older than itself; a day is for clocks that disagree. */
export const firstTokens = (applicationId: string): string =>
  `dev_${(idTime(applicationId) - DAY_MS).toString(16).padStart(12, '0')}`;

/**
 * Deletes what an application has in its counters, in R2 and in D1, as far as the budget goes; answers whether nothing is left. Each step may be repeated, and is of a bounded size. Its counters go first, so that they add no more to the rest.
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
  if (!(await deleteFiles(env.RAW_EVENTS, id, budget.deadline))) return false;
  await db.delete(counterFlushes).where(inArray(counterFlushes.counter, counterNames({ id, shards })));
  const own = db.select({ id: creatives.id }).from(creatives).where(eq(creatives.applicationId, id));
  const ofOwn = and(eq(creativeRequests.teamId, teamId), inArray(creativeRequests.creativeId, own));
  if (!(await deleteRows(db, creativeRequests, ofOwn, budget))) return false;
  for (const { table, applicationId } of PLACES) {
    if (!(await deleteRows(db, table, eq(applicationId, id), budget))) return false;
  }
  return deleteTokens(db, deletion, budget);
}

/** Deletes rows in portions; false where the budget was used up before all were gone. */
async function deleteRows(
  db: Database,
  table: SQLiteTable,
  which: SQL | undefined,
  budget: Budget,
): Promise<boolean> {
  const { columns, primaryKeys } = getTableConfig(table);
  const key = sql.join(primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary), sql`, `);
  const portion = sql`SELECT ${key} FROM ${table} WHERE ${which} LIMIT ${ROWS_AT_ONCE}`;
  while (spend(budget)) {
    const { meta } = await retryTransient(() => db.delete(table).where(sql`(${key}) IN (${portion})`).run());
    if (meta.changes < ROWS_AT_ONCE) return true;
  }
  return false;
}

/**
 * Looks through all tokens from the application's first possible one on, because an index by application would cost a row of every
 * `/fetch-token`. Remembers how far it came.
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
