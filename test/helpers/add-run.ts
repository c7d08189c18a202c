import type { RollupTable } from '../../src/catalogue/index.ts';
import { chunksOf } from '../../src/lib/chunks.ts';
import { sumRowsOf, sumStatement } from '../../src/rollup/index.ts';
import type { Additions } from '../../src/rollup/tables.ts';

/** The counter and the part of its outbox that a run's blocks come from. */
type Source = { applicationId: string; shard: number; sequence: number };

const ROWS_PER_STATEMENT = 1_000;
/** A block has about 80 KB at most. */
const BLOCKS_PER_STATEMENT = 10;

/** Adds what a run counted for a rollup to D1 in one transaction, as the flush of its counter does. */
export async function addRun(
  db: D1Database,
  source: Source,
  additions: Additions<RollupTable>,
): Promise<void> {
  const statements: D1PreparedStatement[] = [];
  for (const [kind, rows] of Map.groupBy(sumRowsOf(additions, 0), ([kind]) => kind)) {
    const isBlocks = kind === 'blocks';
    for (const part of chunksOf(rows, isBlocks ? BLOCKS_PER_STATEMENT : ROWS_PER_STATEMENT)) {
      const added = part.map(([, row]) => row);
      const sums = isBlocks ? { blocks: source, rows: added } : { table: kind, rows: added };
      statements.push(sumStatement(db, sums));
    }
  }
  await db.batch(statements);
}
