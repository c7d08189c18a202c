/**
 * Counters add to D1 in turns: a transaction begins with moving its counter on to the next number, which aborts one whose turn it
 * is not. Setting a NOT NULL column to null is how a statement aborts a transaction of D1.
 */
export function moveOn(db: D1Database, counter: string, sequence: number): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO counter_flushes (counter, sequence)
       VALUES (?1, CASE WHEN ?2 = 1 OR EXISTS (SELECT 1 FROM counter_flushes WHERE counter = ?1) THEN ?2 END)
       ON CONFLICT (counter) DO UPDATE SET sequence = CASE WHEN sequence = ?2 - 1 THEN ?2 END`,
    )
    .bind(counter, sequence);
}

/** Aborts the transaction that it ends, so that nothing of it is kept. */
export const abortTrial = (db: D1Database): D1PreparedStatement =>
  db.prepare("INSERT INTO counter_flushes (counter, sequence) VALUES ('', NULL)");

/** Whether it was one of these two that aborted a transaction. */
export const wasAborted = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('NOT NULL constraint failed: counter_flushes.sequence');
