import { isMoney, MEASURES, ROLLUP_KEYS } from '#catalogue';
import { MAX_VALUE_BYTES } from '#db';
import type { KeyValues } from './key-values.ts';
import { Additions, additionColumns, NANOS_PER_HIGH, sumColumnsOf } from './tables.ts';

// Figures by hour: a row of `rollup_hours` has the hours of one row of `rollup_daily`, packed. Hours are not separate rows, because the cost of
// writing and deleting is by row.

const TABLE = 'rollup_hours';

/** The sums that a run of events adds by hour. `add` takes the id of an hour in place of a segment. */
export class HourAdditions extends Additions<typeof TABLE> {
  constructor(values?: KeyValues) {
    super(TABLE, values);
  }

  override *rows(): Generator<(string | number)[]> {
    for (const { key, segments } of this.segmentedRows()) yield [...key, packed(segments)];
  }
}

/** Packs consecutive hours as `[id, sum, …],…`, without trailing zeros in each. */
function packed(hours: readonly number[]): string {
  const step = sumColumnsOf(TABLE).length + 1;
  const parts: string[] = [];
  for (let at = 0; at < hours.length; at += step) {
    let end = at + step;
    while (hours[end - 1] === 0 && end > at + 1) end--;
    parts.push(`[${hours.slice(at, end).join(',')}]`);
  }
  return parts.join(',');
}

/** Merges a list so that each hour occurs once. Amounts carry what exceeds 10^12 nanos into their high part. */
function mergedHours(list: string): string {
  const sums = sumColumnsOf(TABLE).map(
    (column, index) => `coalesce(sum(value ->> ${index + 1}), 0) AS ${column}`,
  );
  const carried = MEASURES[TABLE].flatMap((measure) =>
    isMoney(measure)
      ? [`${measure} % ${NANOS_PER_HIGH}`, `${measure}_high + ${measure} / ${NANOS_PER_HIGH}`]
      : [measure],
  );
  return `(SELECT group_concat(part) FROM (SELECT json_array(id, ${carried.join(', ')}) AS part
    FROM (SELECT value ->> 0 AS id, ${sums.join(', ')} FROM json_each('[' || ${list} || ']') GROUP BY 1)))`;
}

/** New hours are appended to a row. Merging them takes longer, so that is done once per this many additions, or before the row is too long. */
const MAX_HOUR_PARTS = 16;

/** SQL that adds rows (`rows`: a JSON array in the form of `HourAdditions.rows`) to `rollup_hours`. */
export function hoursSql(rows: string): string {
  const columns = additionColumns(TABLE);
  const appended = `${TABLE}.hours || ',' || excluded.hours`;
  const hasRoom = `(hour_parts < ${MAX_HOUR_PARTS} AND length(${appended}) < ${MAX_VALUE_BYTES})`;
  return `INSERT INTO ${TABLE} (${columns.join(', ')})
    SELECT ${columns.map((_, index) => `value ->> ${index}`).join(', ')} FROM json_each(${rows}) WHERE true
    ON CONFLICT (${ROLLUP_KEYS[TABLE].join(', ')}) DO UPDATE SET
      hours = CASE WHEN ${hasRoom} THEN ${appended} ELSE ${mergedHours(appended)} END,
      hour_parts = CASE WHEN ${hasRoom} THEN hour_parts + 1 ELSE 1 END`;
}
