import { type Column, type SQL, type SQLWrapper, sql } from 'drizzle-orm';

// Parts of templates that Drizzle's builder has no words for. A column stands in them as the schema has it.

/** A column's bare name, as SQL wants it in the list of an INSERT, in ON CONFLICT and on the left of an assignment. */
export const named = (column: Column): SQL => sql`${sql.identifier(column.name)}`;

/** What an upsert would have inserted into a column. */
export const excluded = (column: Column): SQL => sql`excluded.${sql.identifier(column.name)}`;

export const commaList = (parts: readonly SQLWrapper[]): SQL => sql.join([...parts], sql`, `);

/** The bare names of columns, separated by commas. */
export const columnList = (columns: readonly Column[]): SQL => commaList(columns.map(named));

/** Whether a value is one of a list's. The list is one parameter, because a statement of D1 takes 100. */
export const isAmong = (value: SQLWrapper, list: readonly (string | number)[]): SQL =>
  sql`${value} IN (SELECT value FROM json_each(${JSON.stringify(list)}))`;
