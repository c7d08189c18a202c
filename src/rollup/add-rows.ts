import { sql } from 'drizzle-orm';
import { isMoney, MEASURES, ROLLUP_KEYS, type RollupTable } from '#catalogue';
import { toStatement } from '#db';
import { hoursSql } from './hours.ts';
import { additionColumns, isTotalled, MICROS_PER_HIGH, TOTALS, type TotalledTable } from './tables.ts';

// The statements that add a run's sums to the rollup tables. Table and column names come from the catalogue, never from a caller.

/** The parameter with the rows. */
const ROWS = '?1';

/** Carries what exceeds 10^12 micros into the high part of an amount. */
function carried(table: RollupTable, sumOf: (column: string) => string): [column: string, sum: string][] {
  return MEASURES[table].flatMap((measure): [string, string][] => {
    const sum = sumOf(measure);
    if (!isMoney(measure)) return [[measure, sum]];
    const high = `${measure}_high`;
    return [
      [measure, `(${sum}) % ${MICROS_PER_HIGH}`],
      [high, `${sumOf(high)} + (${sum}) / ${MICROS_PER_HIGH}`],
    ];
  });
}

/** How an upsert adds to the sums of a row. */
const assigned = (table: RollupTable): string =>
  carried(table, (column) => `${column} + excluded.${column}`)
    .map(([column, sum]) => `${column} = ${sum}`)
    .join(', ');

/** Adds rows (`ROWS`, a JSON array as `Additions.rows` gives it) to a rollup table. */
function additionSql(table: RollupTable): string {
  const columns = additionColumns(table);
  const values = columns.map((_, index) => `value ->> ${index}`);
  return `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM json_each(${ROWS}) WHERE true
    ON CONFLICT (${ROLLUP_KEYS[table].join(', ')}) DO UPDATE SET ${assigned(table)}`;
}

/** The creative of the rows for all creatives together in a table of totals. Organic devices have empty text, as elsewhere. */
const PAID = 'paid';

/** Adds rows (`ROWS`, as above) to a table of totals, which does not distinguish creatives. */
function totalsSql(table: TotalledTable): string {
  const keys: readonly string[] = ROLLUP_KEYS[table];
  const at = (column: string) => `value ->> ${additionColumns(table).indexOf(column)}`;
  const ofKeys = keys.map((key) =>
    key === 'creative_id' ? `iif(${at(key)} = '', '', '${PAID}') AS creative_id` : `${at(key)} AS ${key}`,
  );
  const added = carried(table, (column) => `sum(${at(column)})`);
  return `INSERT INTO ${TOTALS[table]} (${[...keys, ...added.map(([column]) => column)].join(', ')})
    SELECT * FROM (SELECT ${[...ofKeys, ...added.map(([column, sum]) => `${sum} AS ${column}`)].join(', ')}
      FROM json_each(${ROWS}) GROUP BY ${keys.map((_, index) => index + 1).join(', ')}) WHERE true
    ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${assigned(table)}`;
}

/** The SQL that adds rows to a rollup table and to its totals. Kept, because putting it together takes longer than sending a part. */
const additionTexts = new Map<RollupTable, string[]>();

function textsOf(table: RollupTable): string[] {
  const known = additionTexts.get(table);
  if (known) return known;
  const own = table === 'rollup_hours' ? hoursSql(ROWS) : additionSql(table);
  const texts = [own, ...(isTotalled(table) ? [totalsSql(table)] : [])];
  additionTexts.set(table, texts);
  return texts;
}

/** The statements that add rows, as `Additions.rows` gives them, to a rollup table and to its totals. */
export function additionStatements(
  db: D1Database,
  table: RollupTable,
  rows: readonly unknown[],
): D1PreparedStatement[] {
  const json = JSON.stringify(rows);
  return textsOf(table).map((text) => {
    const [before = '', after = ''] = text.split(ROWS);
    return toStatement(db, sql`${sql.raw(before)}${json}${sql.raw(after)}`);
  });
}
