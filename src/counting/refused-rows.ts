import type { RollupTable } from '#catalogue';
import { isTransient } from '#db';
import { logError } from '#lib/log';
import { additionStatement, PARK_REASON, type Parked, parkedId, parkedSums } from '#rollup';
import { abortTrial, wasAborted } from './turn.ts';

/** Of one flush, because an invocation has 1,000 queries. What is not found by then is found by the next flush. */
const MAX_TRIALS = 200;

export type Refused = { table: RollupTable; row: unknown; error: unknown };

/**
 * Which rows D1 refuses to add, found by halving; nothing is added. Throws when D1 fails for another reason than the rows.
 * Rows that are only refused together are not found.
 */
export async function findRefused(
  db: D1Database,
  additions: readonly (readonly [RollupTable, readonly unknown[]])[],
): Promise<Refused[]> {
  let trials = 0;
  /** What D1 says to these rows; null where it would take them. */
  const tryRows = async (table: RollupTable, rows: readonly unknown[]): Promise<unknown> => {
    trials++;
    try {
      await db.batch([additionStatement(db, table, rows), abortTrial(db)]);
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

/** What is kept of refused rows; `part` names what they were to be added with. What D1 said stands in the log alone. */
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
