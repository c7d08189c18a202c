import { loadParquet } from '#lib/encoding/parquet';
import { type RollupTable, segmentId, UNKNOWN_SEGMENT } from '../../src/catalogue/index.ts';
import { type PartSource, partStatements, type SegmentOfId, toParts } from '../../src/rollup/index.ts';
import type { Additions } from '../../src/rollup/tables.ts';

const UNKNOWN = segmentId(UNKNOWN_SEGMENT);

/** Any id makes a segment of its own, with the id as its version. */
const byId: SegmentOfId = (id) =>
  id === UNKNOWN ? UNKNOWN_SEGMENT : { ...UNKNOWN_SEGMENT, app_version: String(id) };

/** Adds what a run counted for a rollup to D1 in one transaction, as the flush of its counter does. */
export async function addRun(
  db: D1Database,
  source: PartSource,
  additions: Additions<RollupTable>,
  segmentOf = byId,
): Promise<void> {
  await loadParquet();
  const parts = [...toParts([additions], segmentOf, [])];
  await db.batch(parts.flatMap((part) => partStatements(db, source, part, 0)));
}
