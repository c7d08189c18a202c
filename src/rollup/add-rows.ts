import { sql } from 'drizzle-orm';
import { isMoney, MEASURES, ROLLUP_KEYS, type RollupTable } from '#catalogue';
import { toStatement } from '#db';
import { additionColumns, MICROS_PER_HIGH } from './tables.ts';

// The statement that adds what a run counted to a rollup table. Names are columns, so it is made from the catalogue and from
// nothing a caller sends.

/** Where the rows are bound. */
const ROWS = '?1';

/** Sums of amounts carry what passes 10^12 micros into their high part. */
function carried(table: RollupTable): string[] {
  return MEASURES[table].flatMap((measure) => {
    const sum = `${measure} + excluded.${measure}`;
    if (!isMoney(measure)) return [`${measure} = ${sum}`];
    const high = `${measure}_high`;
    return [
      `${measure} = (${sum}) % ${MICROS_PER_HIGH}`,
      `${high} = ${high} + excluded.${high} + (${sum}) / ${MICROS_PER_HIGH}`,
    ];
  });
}

/** The statement that adds rows, as `Additions.rows` gives them, to a rollup table. */
export function additionStatement(
  db: D1Database,
  table: RollupTable,
  rows: readonly unknown[],
): D1PreparedStatement {
  const columns = additionColumns(table);
  const values = columns.map((_, index) => `value ->> ${index}`);
  const text = `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM json_each(${ROWS}) WHERE true
    ON CONFLICT (${ROLLUP_KEYS[table].join(', ')}) DO UPDATE SET ${carried(table).join(', ')}`;
  const [before = '', after = ''] = text.split(ROWS);
  return toStatement(db, sql`${sql.raw(before)}${JSON.stringify(rows)}${sql.raw(after)}`);
}
