import { type SQL, sql } from 'drizzle-orm';
import { columnList, counterFlushes, named, toStatement } from '#db';

const { counter, sequence } = counterFlushes;

/** Setting a NOT NULL column to null is how a statement aborts a D1 transaction. */
const setSequence = (ofCounter: string, value: SQL, onConflict: SQL) => sql`
  INSERT INTO ${counterFlushes} (${columnList([counter, sequence])}) VALUES (${ofCounter}, ${value}) ${onConflict}`;

/**
 * Counters write to D1 in sequence: a transaction starts by advancing its counter to the next number, which aborts it if it is out of sequence.
 */
export function moveOn(db: D1Database, name: string, next: number): D1PreparedStatement {
  const isKnown = sql`EXISTS (SELECT 1 FROM ${counterFlushes} WHERE ${counter} = ${name})`;
  const first = next === 1 ? sql`${next}` : sql`CASE WHEN ${isKnown} THEN ${next} END`;
  const onConflict = sql`ON CONFLICT (${named(counter)})
    DO UPDATE SET ${named(sequence)} = CASE WHEN ${sequence} = ${next - 1} THEN ${next} END`;
  return toStatement(db, setSequence(name, first, onConflict));
}

/** Ends a transaction by aborting it, so that none of it is kept. */
export const abortTrial = (db: D1Database): D1PreparedStatement =>
  toStatement(db, setSequence('', sql`NULL`, sql``));

/** Whether one of these two statements aborted a transaction. */
export const wasAborted = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('NOT NULL constraint failed: counter_flushes.sequence');
