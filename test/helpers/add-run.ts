import { loadParquet } from '#lib/encoding/parquet';
import { type RollupTable, segmentId, UNKNOWN_SEGMENT } from '../../src/catalogue/index.ts';
import { chunksOf } from '../../src/lib/collections/chunks.ts';
import {
  additionColumns,
  type PartRow,
  type SegmentOfId,
  type StoredTable,
  sumRowsOf,
  sumStatement,
} from '../../src/rollup/index.ts';
import type { Additions } from '../../src/rollup/tables.ts';

/** The counter and the part of its outbox that a run's rows come from. */
type Source = { applicationId: string; shard: number; sequence: number };

const ROWS_PER_STATEMENT = 1_000;
/** A part of the cube has up to 80 KB. */
const PARTS_PER_STATEMENT = 10;

const UNKNOWN = segmentId(UNKNOWN_SEGMENT);

/** Any id makes a segment of its own, with the id as its version. */
const byId: SegmentOfId = (id) =>
  id === UNKNOWN ? UNKNOWN_SEGMENT : { ...UNKNOWN_SEGMENT, app_version: String(id) };

/** Adds what a run counted for a rollup to D1 in one transaction, as the flush of its counter does. */
export async function addRun(
  db: D1Database,
  source: Source,
  additions: Additions<RollupTable>,
  segmentOf = byId,
): Promise<void> {
  await loadParquet();
  const statements: D1PreparedStatement[] = [];
  const parts: PartRow[] = [];
  const tables = new Map<StoredTable, (string | number)[][]>();
  for (const [table, row] of sumRowsOf(additions, 0, segmentOf)) {
    if (table === 'parts') parts.push(row);
    else tables.set(table, [...(tables.get(table) ?? []), row]);
  }
  for (const [table, own] of tables) {
    for (const rows of chunksOf(own, ROWS_PER_STATEMENT)) {
      statements.push(sumStatement(db, { table, columns: additionColumns(table), rows }));
    }
  }
  for (const rows of chunksOf(parts, PARTS_PER_STATEMENT)) {
    statements.push(sumStatement(db, { parts: source, rows }));
  }
  await db.batch(statements);
}
