import { asc, eq, min } from 'drizzle-orm';
import type { RollupTable } from '#catalogue';
import { batchWithRetry } from '#db';
import { type Additions, additionSql, type Parked, parkStatements } from '#rollup';
import { outbox } from './schema.ts';
import type { Store } from './store.ts';

/** What one transaction of D1 adds: some thousand rows, so that other queries get in between. */
const MAX_PART_CHARACTERS = 500_000;

type Kind = RollupTable | 'segments' | 'parked';
type Part = [kind: Kind, rows: unknown[]][];

const INSERT_SEGMENTS = `
  INSERT INTO segments (application_id, segment_id, country, os, app_version)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?1) WHERE true ON CONFLICT DO NOTHING`;

/** As the table `segments` has its columns. */
export type SegmentRow = [applicationId: string, id: number, country: string, os: string, appVersion: string];

/** What a run adds to D1, in parts of a bounded size. */
export function* toParts(
  additions: readonly Additions<RollupTable>[],
  segments: readonly SegmentRow[],
  parked: readonly Parked[],
): Generator<string> {
  let [part, size]: [Part, number] = [[], 0];
  const rowsOf = function* (): Generator<[Kind, unknown]> {
    for (const row of segments) yield ['segments', row];
    for (const own of additions) for (const row of own.rows()) yield [own.table, row];
    for (const message of parked) yield ['parked', message];
  };
  for (const [kind, row] of rowsOf()) {
    const length = JSON.stringify(row).length;
    if (size > 0 && size + length > MAX_PART_CHARACTERS) {
      yield JSON.stringify(part);
      [part, size] = [[], 0];
    }
    const last = part.at(-1);
    if (last?.[0] === kind) last[1].push(row);
    else part.push([kind, [row]]);
    size += length + 1;
  }
  if (size > 0) yield JSON.stringify(part);
}

const isRollup = (kind: Kind): kind is RollupTable => kind !== 'segments' && kind !== 'parked';

/** Setting a NOT NULL column to null is how a statement aborts a D1 transaction: here one whose turn it is not. */
function moveOn(db: D1Database, counter: string, sequence: number): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO counter_flushes (counter, sequence)
       VALUES (?1, CASE WHEN ?2 = 1 OR EXISTS (SELECT 1 FROM counter_flushes WHERE counter = ?1) THEN ?2 END)
       ON CONFLICT (counter) DO UPDATE SET sequence = CASE WHEN sequence = ?2 - 1 THEN ?2 END`,
    )
    .bind(counter, sequence);
}

const wasOutOfTurn = (error: unknown) =>
  error instanceof Error && error.message.includes('NOT NULL constraint failed: counter_flushes.sequence');

/**
 * Adds the next part of the outbox to D1, exactly once however often it is sent: the part and its number are one transaction.
 * False when the outbox is empty. Throws when D1 does not take it; then it stays the next one.
 */
export async function flushNext(
  store: Store,
  db: D1Database,
  counter: string,
  now: number,
): Promise<boolean> {
  const next = store.select().from(outbox).orderBy(asc(outbox.sequence)).limit(1).get();
  if (!next) return false;
  const part: Part = JSON.parse(next.payload);
  try {
    await batchWithRetry(db, () => [
      moveOn(db, counter, next.sequence),
      ...part.flatMap(([kind, rows]) => {
        if (kind === 'parked') return parkStatements(db, rows as Parked[], now);
        const sql = isRollup(kind) ? additionSql(kind) : INSERT_SEGMENTS;
        return [db.prepare(sql).bind(JSON.stringify(rows))];
      }),
    ]);
  } catch (error) {
    if (!wasOutOfTurn(error) || !(await wasApplied(db, counter, next.sequence))) throw error;
  }
  store.delete(outbox).where(eq(outbox.sequence, next.sequence)).run();
  return true;
}

/** A part that was kept although its answer was lost. */
async function wasApplied(db: D1Database, counter: string, sequence: number): Promise<boolean> {
  const row = await db
    .prepare('SELECT sequence FROM counter_flushes WHERE counter = ?')
    .bind(counter)
    .first<{ sequence: number }>();
  return (row?.sequence ?? 0) >= sequence;
}

/** When the oldest event that waits here was appended; null for an empty outbox. */
export function oldestInOutbox(store: Store): number | null {
  return (
    store
      .select({ at: min(outbox.oldestAt) })
      .from(outbox)
      .get()?.at ?? null
  );
}
