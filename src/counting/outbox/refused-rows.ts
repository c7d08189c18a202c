import { isTransient } from '#db';
import { logError } from '#lib/log';
import { neutralSums, PARK_REASON, type Parked, parkSums, type SumRows, sumStatement } from '#rollup';
import type { StatementLimit } from './statement-limit.ts';
import { abortTrial, wasAborted } from './turn.ts';

/** How often a row must be refused, and a neutral one accepted, after its first error. */
const CONFIRMATIONS = 2;

/** A single row that D1 refuses, and its error. */
export type RefusedSums = { sums: SumRows; error: unknown };

/**
 * Finds the rows that D1 refuses to add, by bisection. Adds nothing. A row is only refused if D1 accepts a neutral one at the same moment.
 * Otherwise the database is to blame, for instance because it is full, and this throws its error. Rows that are only refused together are not
 * found. Those that the limit leaves no room for are found by later flushes.
 */
export async function findRefused(
  db: D1Database,
  added: readonly SumRows[],
  limit: StatementLimit,
): Promise<RefusedSums[]> {
  /** D1's error for these rows; null if it would accept them. */
  const tryRows = async (sums: SumRows): Promise<unknown> => {
    try {
      await db.batch(limit.spend([sumStatement(db, sums), abortTrial(db)]));
    } catch (error) {
      if (wasAborted(error)) return null;
      if (isTransient(error)) throw error;
      return error;
    }
    throw new Error('A trial was kept');
  };
  const expectTaken = async (sums: SumRows): Promise<void> => {
    const error = await tryRows(sums);
    if (error !== null) throw error;
  };
  const refusedAmong = async (sums: SumRows): Promise<RefusedSums[]> => {
    if (!limit.hasRoom) return [];
    const error = await tryRows(sums);
    if (error === null) return [];
    const { rows } = sums;
    if (rows.length === 1) {
      for (let confirmations = 0; confirmations < CONFIRMATIONS; confirmations++) {
        if ((await tryRows(sums)) === null) return [];
        await expectTaken(neutralSums(sums));
      }
      return [{ sums, error }];
    }
    const middle = Math.ceil(rows.length / 2);
    const slice = (from: number, to?: number) => ({ ...sums, rows: rows.slice(from, to) }) as SumRows;
    const first = await refusedAmong(slice(0, middle));
    return [...first, ...(await refusedAmong(slice(middle)))];
  };
  const found: RefusedSums[] = [];
  for (const sums of added) found.push(...(await refusedAmong(sums)));
  return found;
}

/** Refused rows as parked messages. `part` identifies the part of the outbox that they were in. D1's error is only in the log. */
export const parkRefused = (
  applicationId: string,
  part: string,
  refused: readonly RefusedSums[],
): Promise<Parked[]> =>
  Promise.all(
    refused.map(async ({ sums, error }) => {
      const parked = await parkSums(applicationId, part, sums, PARK_REASON.refused);
      const table = 'table' in sums ? sums.table : 'cube_parts';
      logError('sums parked', error, { message_id: parked.id, application_id: applicationId, table });
      return parked;
    }),
  );
