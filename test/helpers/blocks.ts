import { env } from 'cloudflare:workers';
import { columnsOf, MEASURES, ROLLUP_KEYS, type RollupTable } from '#catalogue';
import { openBlock, UNSEGMENTED } from '#rollup';

/** What blocks hold: by key and segment, the sums. */
export function unpack(table: RollupTable, blocks: Iterable<string>): Map<string, number[]> {
  const sums = new Map<string, number[]>();
  for (const text of blocks) {
    const block = openBlock(table, text);
    let key = '';
    block.read({
      row: (indexes) => {
        key = JSON.stringify(block.keys.map((values, at) => values[indexes[at] ?? 0]));
        return true;
      },
      segment: (index, own) => {
        const name = `${key}/${block.segments[index]}`;
        const known = sums.get(name) ?? own.map(() => 0);
        sums.set(
          name,
          [...own].map((sum, at) => sum + (known[at] ?? 0)),
        );
      },
    });
  }
  return sums;
}

/** The sums of an application's rollup by creative, of all rows together, by the name of their column. */
export async function creativeSumsOf(
  applicationId: string,
  rollup: RollupTable,
): Promise<Record<string, Record<string, number>>> {
  const { results } = await env.DB.prepare(
    'SELECT data FROM segment_blocks WHERE application_id = ? AND rollup = ? AND bucket = ?',
  )
    .bind(applicationId, rollup, UNSEGMENTED)
    .all<{ data: string }>();
  const columns = MEASURES[rollup].flatMap(columnsOf);
  const creativeAt = (ROLLUP_KEYS[rollup] as readonly string[]).indexOf('creative_id') - 1;
  const sums: Record<string, Record<string, number>> = {};
  for (const { data } of results) {
    for (const [name, own] of unpack(rollup, [data])) {
      const creative = JSON.parse(name.slice(0, name.lastIndexOf('/')))[creativeAt];
      const known = sums[creative] ?? Object.fromEntries(columns.map((column) => [column, 0]));
      for (const [at, column] of columns.entries()) known[column] = (known[column] ?? 0) + (own[at] ?? 0);
      sums[creative] = known;
    }
  }
  return sums;
}
