import { getTableColumns, is, SQL, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Database } from './client.ts';

/** A row to insert; SQL in the place of a value is evaluated as the statement runs. */
type Row<Table extends SQLiteTable> = {
  [Key in keyof Table['$inferInsert']]: Table['$inferInsert'][Key] | SQL;
};

/** Inserts one row if a condition holds as the statement runs; absent columns get their default, else null. */
export function insertWhere<Table extends SQLiteTable>(
  db: Database,
  table: Table,
  row: Row<Table>,
  when: SQL,
) {
  const given: Record<string, unknown> = row;
  const values = Object.entries(getTableColumns(table)).map(([key, column]) => {
    const value = given[key] ?? column.default ?? null;
    return is(value, SQL) || value === null ? sql`${value}` : sql`${sql.param(value, column)}`;
  });
  return db.insert(table).select(sql`SELECT ${sql.join(values, sql`, `)} WHERE ${when}`);
}
