import type { SQL } from 'drizzle-orm';
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';

const dialect = new SQLiteAsyncDialect();

/** Converts a template with the schema's columns into a D1 prepared statement, for use in a D1 batch. */
export function toStatement(d1: D1Database, template: SQL): D1PreparedStatement {
  const { sql, params } = dialect.sqlToQuery(template);
  return d1.prepare(sql).bind(...params);
}
