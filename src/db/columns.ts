import { type Column, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { nameForms } from '#lib/input/name-forms';
import { foldCase, lettersFoldedTo } from '#lib/search';

// SQL fragments that Drizzle's builder does not offer. They use the schema's columns.

/** A column's bare name, as required in the column list of an INSERT, in ON CONFLICT and on the left side of an assignment. */
export const named = (column: Column): SQL => sql`${sql.identifier(column.name)}`;

/** The value that an upsert tried to insert into a column. */
export const excluded = (column: Column): SQL => sql`excluded.${sql.identifier(column.name)}`;

export const commaList = (parts: readonly SQLWrapper[]): SQL => sql.join([...parts], sql`, `);

/** The bare names of columns, separated by commas. */
export const columnList = (columns: readonly Column[]): SQL => commaList(columns.map(named));

/** The values of columns in an object of `json_each` that has them under the columns' names. */
export const jsonValues = (columns: readonly Column[]): SQL =>
  commaList(columns.map(({ name }) => sql.raw(`value ->> '${name}'`)));

/** Whether a value is in a list. The list is a single parameter, because D1 allows 100 per statement. */
export const isAmong = (value: SQLWrapper, list: readonly (string | number)[]): SQL =>
  sql`${value} IN (SELECT value FROM json_each(${JSON.stringify(list)}))`;

/**
 * Whether a text contains another, in any case: `containsText` in SQL, which looks for each form of Unicode in which the text may be stored. `q` has at
 * most `MAX_FOLDED_LETTERS`.
 */
export function containsSql(text: SQLWrapper, q: string): SQL {
  const forms = nameForms(q).map((form) => containsForm(text, form));
  return sql`(${sql.join(forms, sql` OR `)})`;
}

function containsForm(text: SQLWrapper, q: string): SQL {
  // Letters are not quotes, so they can be part of the statement. As parameters they would be too many.
  const folded = lettersFoldedTo(q).reduce(
    (inner, [letter, to]) => sql`replace(${inner}, ${sql.raw(`'${letter}', '${to}'`)})`,
    sql`lower(${text})`,
  );
  return sql`instr(${folded}, ${foldCase(q)}) > 0`;
}
