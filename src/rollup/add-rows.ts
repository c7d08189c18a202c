import { sql } from 'drizzle-orm';
import { isMoney, MEASURES, OTHER_SEGMENT, ROLLUP_KEYS, type RollupTable, segmentId } from '#catalogue';
import { toStatement } from '#db';
import { hoursSql } from './hours.ts';
import {
  additionColumns,
  isTotalled,
  MICROS_PER_HIGH,
  sumColumnsOf,
  TOTALS,
  type TotalledTable,
} from './tables.ts';

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

/** What is added to a row's segments is put at their end; so often, and so long, until they are added up. */
const MAX_SEGMENT_PARTS = 16;
const MAX_SEGMENT_CHARACTERS = 600_000;
/** A row tells this many segments apart, the smallest of more are one: its value stays within the 2 MB that D1 takes. */
const MAX_ROW_SEGMENTS = 2_000;

const OTHER_ID = segmentId(OTHER_SEGMENT);

/** The segments of a list, each once: a list again. `list` is SQL for a packed list that measures as `table` does. */
function mergedSegments(table: RollupTable, list: string): string {
  const columns = sumColumnsOf(table);
  const sums = columns.map((column, index) => `coalesce(sum(value ->> ${index + 1}), 0) AS ${column}`);
  const outer = carried(table, (column) => `sum(${column})`).map(([, sum]) => sum);
  return `(SELECT group_concat(part) FROM (
      SELECT json_array(kept, ${outer.join(', ')}) AS part FROM (
        SELECT iif(row_number() OVER (ORDER BY id = ${OTHER_ID} DESC, ${columns.join(' + ')} DESC, id) <= ${MAX_ROW_SEGMENTS},
            id, ${OTHER_ID}) AS kept, *
        FROM (SELECT value ->> 0 AS id, ${sums.join(', ')}
          FROM json_each('[' || ${list} || ']') GROUP BY 1))
      GROUP BY kept))`;
}

/** How an upsert adds to a row's segments. To add them up takes longer than to append, so that is done once for several additions. */
function addedSegments(target: string, measuredAs: RollupTable, maxParts: number): string {
  const appended = `${target}.segments || ',' || excluded.segments`;
  const hasRoom = `segment_parts < ${maxParts}
      AND length(${target}.segments) + length(excluded.segments) < ${MAX_SEGMENT_CHARACTERS}`;
  return `segments = CASE WHEN ${hasRoom} THEN ${appended} ELSE ${mergedSegments(measuredAs, appended)} END,
      segment_parts = CASE WHEN ${hasRoom} THEN segment_parts + 1 ELSE 1 END`;
}

/** Adds rows (`ROWS`, a JSON array as `Additions.rows` gives it) to a rollup table. */
function additionSql(table: RollupTable): string {
  const keys = ROLLUP_KEYS[table];
  const columns = additionColumns(table);
  const values = columns.map((_, index) => `value ->> ${index}`);
  const sums = carried(table, (column) => `${column} + excluded.${column}`).map(
    ([column, sum]) => `${column} = ${sum}`,
  );
  return `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM json_each(${ROWS}) WHERE true
    ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${sums.join(', ')},
      ${addedSegments(table, table, MAX_SEGMENT_PARTS)}`;
}

/** What all creatives together are called in a table of totals; organic devices have empty text there too. */
const PAID = 'paid';

/** Adds rows (`ROWS`, as above) to the table of totals, which does not tell creatives apart. */
function totalsSql(table: TotalledTable): string {
  const keys: readonly string[] = ROLLUP_KEYS[table];
  const at = (column: string) => `value ->> ${additionColumns(table).indexOf(column)}`;
  const ofKeys = keys.map((key) =>
    key === 'creative_id' ? `iif(${at(key)} = '', '', '${PAID}') AS creative_id` : `${at(key)} AS ${key}`,
  );
  const added = carried(table, (column) => `sum(${at(column)})`);
  const sums = carried(table, (column) => `${column} + excluded.${column}`);
  return `INSERT INTO ${TOTALS[table]} (${[...keys, ...added.map(([column]) => column)].join(', ')})
    SELECT * FROM (SELECT ${[...ofKeys, ...added.map(([column, sum]) => `${sum} AS ${column}`)].join(', ')}
      FROM json_each(${ROWS}) GROUP BY ${keys.map((_, index) => index + 1).join(', ')}) WHERE true
    ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${sums.map(([column, sum]) => `${column} = ${sum}`).join(', ')}`;
}

/** These rows are few, and read by every report by country: they are kept shorter than the others. */
const MAX_DAY_SEGMENT_PARTS = 4;

/** Adds rows of `rollup_daily` (`ROWS`, as above) to `rollup_segments`. */
function segmentsOfDaySql(): string {
  const at = (column: string) => additionColumns('rollup_daily').indexOf(column);
  const rows = `SELECT value ->> ${at('application_id')} AS application_id, value ->> ${at('day')} AS day,
      value ->> ${at('creative_id')} <> '' AS paid, value ->> ${at('currency')} AS currency,
      group_concat(value ->> ${at('segments')}) AS list
    FROM json_each(${ROWS}) GROUP BY 1, 2, 3, 4`;
  return `INSERT INTO rollup_segments (application_id, day, paid, currency, segments)
    SELECT application_id, day, paid, currency, ${mergedSegments('rollup_daily', 'list')} FROM (${rows}) WHERE true
    ON CONFLICT (application_id, day, paid, currency) DO UPDATE SET
      ${addedSegments('rollup_segments', 'rollup_daily', MAX_DAY_SEGMENT_PARTS)}`;
}

/** The statements that add rows, as `Additions.rows` gives them, to a rollup table, to its totals, and to what is kept by segment. */
export function additionStatements(
  db: D1Database,
  table: RollupTable,
  rows: readonly unknown[],
): D1PreparedStatement[] {
  const json = JSON.stringify(rows);
  const statements = [
    table === 'rollup_hours' ? hoursSql(ROWS) : additionSql(table),
    ...(isTotalled(table) ? [totalsSql(table)] : []),
    ...(table === 'rollup_daily' ? [segmentsOfDaySql()] : []),
  ];
  return statements.map((text) => {
    const [before = '', after = ''] = text.split(ROWS);
    return toStatement(db, sql`${sql.raw(before)}${json}${sql.raw(after)}`);
  });
}
