import { env } from 'cloudflare:workers';
import { columnsOf, MEASURES, ROLLUP_KEYS, type RollupTable } from '#catalogue';
import { type EntryFilter, type OpenBlock, openBlock, UNSEGMENTED } from '#rollup';

/** The entries of a block: the values of the key, the segment's id, and the sums. */
export function entriesOf(
  block: OpenBlock,
  filter?: EntryFilter,
): { key: string[]; segment: number; sums: number[] }[] {
  const found: ReturnType<typeof entriesOf> = [];
  block.read(({ size, keys, segments, sums }) => {
    for (let entry = 0; entry < size; entry++) {
      found.push({
        key: block.keys.map((values, at) => values[keys[at]?.[entry] ?? 0] ?? ''),
        segment: block.segments[segments[entry] ?? 0] ?? 0,
        sums: sums.map((column) => column?.[entry] ?? 0),
      });
    }
  }, filter);
  return found;
}

/** What blocks hold: by key and segment, the sums. */
export function unpack(table: RollupTable, blocks: Iterable<string>): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const text of blocks) {
    for (const { key, segment, sums } of entriesOf(openBlock(table, text))) {
      const name = `${JSON.stringify(key)}/${segment}`;
      const known = found.get(name) ?? [];
      found.set(
        name,
        sums.map((sum, at) => sum + (known[at] ?? 0)),
      );
    }
  }
  return found;
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
