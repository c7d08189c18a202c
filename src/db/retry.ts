import { retry } from '#lib/retry';

// What D1 says when the same statements may succeed a moment later. The platform retries reads by itself, writes never.
// Source: Cloudflare's D1 documentation, "Error list" and "Retry queries".
const TRANSIENT = [
  'Network connection lost',
  'storage caused object to be reset',
  'reset because its code was updated',
  'Cannot resolve D1 DB due to transient issue',
  'overloaded',
  'internal error',
  'SQLITE_BUSY',
  'database is locked',
  'client disconnected',
];

// What D1 says when statements were more than it may do at once. The same again fails again; fewer of them succeed.
const TOO_MUCH = [
  'exceeded its memory limit',
  'exceeded its CPU time limit',
  'exceeded timeout',
  'Memory limit would be exceeded',
];

// What SQLite says when the code and the database disagree, as between a deployment and its migration. No event is to blame:
// it has to wait until they agree again.
const MISMATCH = [
  'no such table',
  'no such column',
  'has no column named',
  'ambiguous column',
  'syntax error',
];

/** Whether an error of D1 says nothing about the data, so that it may go away without a change of it. */
export const isTransient = (error: unknown): boolean => says(error, [...TRANSIENT, ...TOO_MUCH, ...MISMATCH]);

/** Whether the same work succeeds in smaller portions. Such an error is transient too: no portion of one is to blame. */
const needsLessData = (error: unknown): boolean => says(error, TOO_MUCH);

/** Drizzle hides D1's own error in `cause`. */
function says(error: unknown, phrases: readonly string[]): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { message } = at;
    if (phrases.some((phrase) => message.includes(phrase))) return true;
  }
  return false;
}

/**
 * Does work on D1 again after a transient error: three tries, 50 to 300 ms apart; what was too much is not tried again.
 * Safe only for work that may be repeated after it has in fact succeeded.
 */
export const retryTransient = <Result>(work: () => Promise<Result>): Promise<Result> =>
  retry(work, { waitMs: 150, isPassing: (error) => isTransient(error) && !needsLessData(error) });

/** Runs statements as one transaction, in the same way. */
export const batchWithRetry = <T = unknown>(
  db: D1Database,
  statements: () => D1PreparedStatement[],
): Promise<D1Result<T>[]> => retryTransient(() => db.batch<T>(statements()));
