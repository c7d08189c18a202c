import { type SQL, sql } from 'drizzle-orm';
import { segmentBlocks } from '#db';
import { INDEX, idText } from './segment-blocks.ts';

const { data } = segmentBlocks;
const { idDigits, offsetDigits, entryCharacters } = INDEX;

/** The offset in the entry of the index that starts at `place`, or so many characters after it. */
const offsetAt = (after: number): SQL =>
  sql`substr(entries, place + ${1 + idDigits + after}, ${offsetDigits})`.inlineParams();
const [start, end] = [offsetAt(0), offsetAt(entryCharacters)];

/**
 * SQL for the data of a block with only the sections of some segments, so that a report on one country does not transfer the others. `openBlock`
 * opens it. Searches the index of every block for every id, so `ids` should be few.
 */
export function sectionsSql(ids: readonly number[]): SQL<string> {
  const wanted = JSON.stringify(ids.map((id) => `;${idText(id)}`));
  // The index is the first text of the first line. SQLite computes a subquery without a table once per block.
  return sql<string>`substr(${data}, 1, instr(${data}, char(10))) || (
    SELECT coalesce(group_concat(substr(${data}, body + ${start}, ${end} - ${start}), ''), '')
    FROM (SELECT entries, body, instr(entries, value) AS place
      FROM (SELECT substr(${data}, 3, instr(${data}, '",') - 3) AS entries, instr(${data}, char(10)) + 1 AS body)
        CROSS JOIN json_each(${wanted}))
    WHERE place > 0)`;
}
