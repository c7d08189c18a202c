import { type RollupTable, segmentId, UNKNOWN_SEGMENT } from '../../src/catalogue/index.ts';
import { chunksOf } from '../../src/lib/chunks.ts';
import { loadPartCodec, type SegmentOfId, sumRowsOf, sumStatement } from '../../src/rollup/index.ts';
import type { Additions } from '../../src/rollup/tables.ts';

/** The counter and the part of its outbox that a run's rows come from. */
type Source = { applicationId: string; shard: number; sequence: number };

const ROWS_PER_STATEMENT = 1_000;
/** A part of the cube has up to 80 KB. */
const PARTS_PER_STATEMENT = 10;

const UNKNOWN = segmentId(UNKNOWN_SEGMENT);

/** Any id makes a segment of its own, with the id as its version. */
const byId: SegmentOfId = (id) =>
  id === UNKNOWN ? UNKNOWN_SEGMENT : { ...UNKNOWN_SEGMENT, appVersion: String(id) };

/** Adds what a run counted for a rollup to D1 in one transaction, as the flush of its counter does. */
export async function addRun(
  db: D1Database,
  source: Source,
  additions: Additions<RollupTable>,
  segmentOf = byId,
): Promise<void> {
  await loadPartCodec();
  const statements: D1PreparedStatement[] = [];
  for (const [kind, rows] of Map.groupBy(sumRowsOf(additions, 0, segmentOf), ([kind]) => kind)) {
    const isParts = kind === 'parts';
    for (const some of chunksOf(rows, isParts ? PARTS_PER_STATEMENT : ROWS_PER_STATEMENT)) {
      const added = some.map(([, row]) => row);
      const sums = isParts ? { parts: source, rows: added } : { table: kind, rows: added };
      statements.push(sumStatement(db, sums));
    }
  }
  await db.batch(statements);
}
