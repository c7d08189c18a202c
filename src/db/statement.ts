import { fillPlaceholders, type SQL } from 'drizzle-orm';
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';

const dialect = new SQLiteAsyncDialect();

/** Converts a template with the schema's columns into a D1 prepared statement, for use in a D1 batch. */
export function toStatement(d1: D1Database, template: SQL): D1PreparedStatement {
  const { sql, params } = dialect.sqlToQuery(template);
  return d1.prepare(sql).bind(...params);
}

/** As `toStatement`, for a template that is used often: its text is built once. `values` are those of its placeholders, by name. */
export function prepareTemplate(
  template: SQL,
): (d1: D1Database, values: Record<string, unknown>) => D1PreparedStatement {
  let query: ReturnType<typeof dialect.sqlToQuery> | undefined;
  return (d1, values) => {
    query ??= dialect.sqlToQuery(template);
    return d1.prepare(query.sql).bind(...fillPlaceholders(query.params, values));
  };
}
