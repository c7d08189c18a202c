import type { RollupTable } from '#catalogue';
import { isTransient } from '#db';
import { logError } from '#lib/log';
import { additionStatements, PARK_REASON, type Parked, parkedId, parkedSums } from '#rollup';
import { abortTrial, wasAborted } from './turn.ts';

/** The limit per flush, because an invocation has 1,000 queries. The next flush finds the remaining rows. */
const MAX_TRIALS = 200;

export type Refused = { table: RollupTable; row: unknown; error: unknown };

/**
 * Finds the rows that D1 refuses to add, by bisection. Adds nothing. Throws if D1 fails for any other reason. Rows that are only refused
 * together are not found.
 */
export async function findRefused(
  db: D1Database,
  additions: readonly (readonly [RollupTable, readonly unknown[]])[],
): Promise<Refused[]> {
  let trials = 0;
  /** D1's error for these rows; null if it would accept them. */
  const tryRows = async (table: RollupTable, rows: readonly unknown[]): Promise<unknown> => {
    trials++;
    try {
      await db.batch([...additionStatements(db, table, rows), abortTrial(db)]);
    } catch (error) {
      if (wasAborted(error)) return null;
      if (isTransient(error)) throw error;
      return error;
    }
    throw new Error('A trial was kept');
  };
  const refusedAmong = async (table: RollupTable, rows: readonly unknown[]): Promise<Refused[]> => {
    if (trials === MAX_TRIALS) return [];
    const error = await tryRows(table, rows);
    if (error === null) return [];
    if (rows.length === 1) return [{ table, row: rows[0], error }];
    const middle = Math.ceil(rows.length / 2);
    const first = await refusedAmong(table, rows.slice(0, middle));
    return [...first, ...(await refusedAmong(table, rows.slice(middle)))];
  };
  const found: Refused[] = [];
  for (const [table, rows] of additions) found.push(...(await refusedAmong(table, rows)));
  return found;
}

/** Refused rows as parked messages. `part` identifies the part of the outbox that they were in. D1's error is only in the log. */
export async function parkRefused(
  applicationId: string,
  part: string,
  refused: readonly Refused[],
): Promise<Parked[]> {
  return Promise.all(
    refused.map(async ({ table, row, error }) => {
      const body = parkedSums(table, [row]);
      const id = await parkedId(`${part}/${body}`, 'whole');
      logError('sums parked', error, { message_id: id, application_id: applicationId, table });
      return { id, applicationId, body, reason: PARK_REASON.refused };
    }),
  );
}
