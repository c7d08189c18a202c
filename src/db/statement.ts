import type { SQL } from 'drizzle-orm';
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';

const dialect = new SQLiteAsyncDialect();

/** A template with the schema's columns as a statement of D1's own, for a batch of such. */
export function toStatement(d1: D1Database, template: SQL): D1PreparedStatement {
  const { sql, params } = dialect.sqlToQuery(template);
  return d1.prepare(sql).bind(...params);
}
