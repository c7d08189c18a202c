import { exists, type SQL, sql } from 'drizzle-orm';
import { QueryBuilder, type SQLiteTable } from 'drizzle-orm/sqlite-core';

/** Whether a table has a row, or one for which a condition holds, when the statement runs. */
export const hasRow = (table: SQLiteTable, where?: SQL): SQL =>
  exists(new QueryBuilder().select({ one: sql`1` }).from(table).where(where));
