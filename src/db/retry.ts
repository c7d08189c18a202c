import { retry } from '#lib/retry';

// Errors after which the same statements may succeed a moment later. The platform retries reads by itself, but never writes.
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

// Errors from work that is too large to run at once. Retrying the same work fails again; smaller portions succeed.
const TOO_MUCH = [
  'exceeded its memory limit',
  'exceeded its CPU time limit',
  'exceeded timeout',
  'Memory limit would be exceeded',
];

// SQLite errors when code and schema disagree, as between a deployment and its migration. No event is to blame: events have to wait
// until the two agree again.
const MISMATCH = [
  'no such table',
  'no such column',
  'has no column named',
  'ambiguous column',
  'syntax error',
];

// Errors of a database that is full or limited: it accepts nothing for now, whatever the data. Retrying within the same invocation does not
// help.
const EXHAUSTED = [
  'Exceeded maximum DB size',
  'Too many API requests by single Worker invocation',
  'SQLITE_FULL',
  'database or disk is full',
  'SQLITE_NOMEM',
  'out of memory',
  // A counter that a restore writes accepts nothing else.
  'is being restored',
  'SQLITE_IOERR',
  'disk I/O error',
];

/** Whether a D1 error says nothing about the data and may go away without changing it. */
export const isTransient = (error: unknown): boolean =>
  says(error, [...TRANSIENT, ...TOO_MUCH, ...MISMATCH, ...EXHAUSTED]);

/** Whether the same work may succeed within the same second. */
const isBrief = (error: unknown): boolean => isTransient(error) && !says(error, [...TOO_MUCH, ...EXHAUSTED]);

/** Drizzle hides D1's own error in `cause`. */
function says(error: unknown, phrases: readonly string[]): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { message } = at;
    if (phrases.some((phrase) => message.includes(phrase))) return true;
  }
  return false;
}

/**
 * Retries D1 work after a transient error: three attempts, 50 to 300 ms apart. Work that was too large, or for which the database has no room, is
 * not retried.
 * Safe only for work that may run again after it has actually succeeded.
 */
export const retryTransient = <Result>(work: () => Promise<Result>): Promise<Result> =>
  retry(work, { waitMs: 150, isPassing: isBrief });

/** Runs statements as one transaction, with the same retries. No statements are none, which D1 would refuse. */
export const batchWithRetry = <T = unknown>(
  db: D1Database,
  statements: () => D1PreparedStatement[],
): Promise<D1Result<T>[]> =>
  retryTransient(async () => {
    const own = statements();
    return own.length === 0 ? [] : db.batch<T>(own);
  });
