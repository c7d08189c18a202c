import { type MeasureAmounts, ROLLUP_KEYS, type RollupTable, segmentId, UNKNOWN_SEGMENT } from '#catalogue';
import { compactParts, placesToCompact, replaceParts } from '../../src/rollup/cube/compact.ts';
import { Additions } from '../../src/rollup/tables.ts';
import { addRun } from './add-run.ts';

type KeyOf<Table extends RollupTable> = Exclude<(typeof ROLLUP_KEYS)[Table][number], 'application_id'>;

/** A row of a rollup: its key, where a missing value is empty, and what is added. Money is in nanos. */
export type Figures<Table extends RollupTable> = Partial<Record<KeyOf<Table>, string | number>> &
  MeasureAmounts<Table>;

const UNKNOWN = segmentId(UNKNOWN_SEGMENT);
/** No counter of a test has this shard, so that its parts and those of counters differ. */
const SHARD = 10_000;

let sequence = 0;

/** Adds figures to an application's rollups as one run of a counter would, without a counter. */
export async function addFigures<Table extends RollupTable>(
  db: D1Database,
  applicationId: string,
  table: Table,
  rows: readonly Figures<Table>[],
): Promise<void> {
  const additions = new Additions<RollupTable>(table);
  const keys: readonly string[] = ROLLUP_KEYS[table];
  for (const row of rows) {
    const values: Readonly<Record<string, string | number | undefined>> = row;
    const key = Object.fromEntries(keys.map((name) => [name, values[name] ?? '']));
    additions.add({ ...key, application_id: applicationId } as Record<string, string | number>, UNKNOWN, row);
  }
  await addRun(db, { applicationId, shard: SHARD, sequence: ++sequence }, additions);
}

/** Compacts what was added, as a counter does after its runs, until nothing is due. */
export async function compactFigures(db: D1Database, applicationId: string): Promise<void> {
  const owner = { applicationId, shard: SHARD };
  for (;;) {
    const due = await placesToCompact(db, owner);
    if (due.length === 0) return;
    for (const place of due) {
      const compacted = await compactParts(db, owner, place);
      await db.batch(replaceParts(db, { ...owner, sequence: ++sequence }, compacted, Date.now()));
    }
  }
}
