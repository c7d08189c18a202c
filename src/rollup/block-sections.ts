import { type SQL, sql } from 'drizzle-orm';
import { segmentBlocks } from '#db';
import { INDEX, idText } from './segment-blocks.ts';

const { data } = segmentBlocks;
const { idDigits, offsetDigits, entryCharacters } = INDEX;

/** The index of a block: the first text of its first line. */
const index = sql`substr(${data}, 3, instr(${data}, '",') - 3)`;
/** The offset in the entry of the index that starts at `place`, or so many characters after it. */
const offsetAt = (after: number): SQL =>
  sql`substr(${index}, place + ${1 + idDigits + after}, ${offsetDigits})`.inlineParams();
const [start, end] = [offsetAt(0), offsetAt(entryCharacters)];

/**
 * SQL for the data of a block with only the sections of some segments, so that a report on one country does not transfer the others. `openBlock`
 * opens it. Every id takes a search in the index of every block, so `ids` should be few.
 */
export function sectionsSql(ids: readonly number[]): SQL<string> {
  const wanted = JSON.stringify(ids.map((id) => `;${idText(id)}`));
  return sql<string>`substr(${data}, 1, instr(${data}, char(10))) || (
    SELECT coalesce(group_concat(substr(${data}, instr(${data}, char(10)) + 1 + ${start}, ${end} - ${start}), ''), '')
    FROM (SELECT instr(${index}, value) AS place FROM json_each(${wanted})) WHERE place > 0)`;
}
