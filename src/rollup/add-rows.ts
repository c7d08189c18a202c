import { sql } from 'drizzle-orm';
import { isMoney, MEASURES, ROLLUP_KEYS } from '#catalogue';
import { toStatement } from '#db';
import { additionColumns, NANOS_PER_HIGH, type StoredTable } from './tables.ts';

// The statements that add a run's sums to the rollup tables. Table and column names come from the catalogue, never from a caller.

/** The parameter with the rows. */
const ROWS = '?1';

/** How an upsert adds to the sums of a row. What exceeds 10^12 nanos is carried into the high part of an amount. */
const assigned = (table: StoredTable): string =>
  MEASURES[table]
    .flatMap((measure) => {
      const sum = `${measure} + excluded.${measure}`;
      if (!isMoney(measure)) return [`${measure} = ${sum}`];
      const high = `${measure}_high`;
      return [
        `${measure} = (${sum}) % ${NANOS_PER_HIGH}`,
        `${high} = ${high} + excluded.${high} + (${sum}) / ${NANOS_PER_HIGH}`,
      ];
    })
    .join(', ');

/** Adds rows (`ROWS`, a JSON array as `Additions.rows` gives it) to a rollup table. */
function additionSql(table: StoredTable): string {
  const columns = additionColumns(table);
  const keys = ROLLUP_KEYS[table].length;
  // Rows of an earlier release end before the measures that it did not have.
  const values = columns.map((_, index) =>
    index < keys ? `value ->> ${index}` : `coalesce(value ->> ${index}, 0)`,
  );
  return `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM json_each(${ROWS}) WHERE true
    ON CONFLICT (${ROLLUP_KEYS[table].join(', ')}) DO UPDATE SET ${assigned(table)}`;
}

/** The SQL of each table. Kept, because putting it together takes longer than sending a part. */
const additionTexts = new Map<StoredTable, string>();

function textOf(table: StoredTable): string {
  const known = additionTexts.get(table);
  if (known !== undefined) return known;
  const text = additionSql(table);
  additionTexts.set(table, text);
  return text;
}

/** The statement that adds rows, as `Additions.rows` gives them, to the table of a rollup. */
export function additionStatement(
  db: D1Database,
  table: StoredTable,
  rows: readonly unknown[],
): D1PreparedStatement {
  const [before = '', after = ''] = textOf(table).split(ROWS);
  return toStatement(db, sql`${sql.raw(before)}${JSON.stringify(rows)}${sql.raw(after)}`);
}
