// What D1 says when the same statements may succeed a moment later. The platform retries reads by itself, writes never.
// Source: Cloudflare's D1 documentation, "Error list" and "Retry queries".
const TRANSIENT = [
  'Network connection lost',
  'storage caused object to be reset',
  'reset because its code was updated',
  'Cannot resolve D1 DB due to transient issue',
  'overloaded',
  'internal error',
  'exceeded timeout',
  'SQLITE_BUSY',
  'database is locked',
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

/** Whether an error of D1 may go away without a change of the data. Drizzle hides D1's own error in `cause`. */
export function isTransient(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { message } = at;
    if ([...TRANSIENT, ...MISMATCH].some((phrase) => message.includes(phrase))) return true;
  }
  return false;
}

/**
 * Runs statements as one transaction, again after a transient error: three tries, 50 to 400 ms apart with jitter.
 * Safe only for transactions that may be repeated after they have in fact succeeded.
 */
export async function batchWithRetry<T = unknown>(
  db: D1Database,
  statements: () => D1PreparedStatement[],
): Promise<D1Result<T>[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.batch<T>(statements());
    } catch (error) {
      if (attempt === 3 || !isTransient(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50 * 2 ** attempt * (0.5 + Math.random())));
    }
  }
}
