import { getTableColumns, is, SQL, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Database } from './client.ts';

/** A row to insert. SQL in place of a value is evaluated when the statement runs. */
type Row<Table extends SQLiteTable> = {
  [Key in keyof Table['$inferInsert']]: Table['$inferInsert'][Key] | SQL;
};

/** Inserts a row if a condition holds when the statement runs. Absent columns get their default, or null. */
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
