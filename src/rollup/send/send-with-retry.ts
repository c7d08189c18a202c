import { logWarning } from '#lib/log';
import { retry } from '#lib/retry';
import { TimedOut, withTimeout } from '#lib/timeout';

/** Sends have been seen to hang for a minute. Callers are told to retry long before that. */
export const TIME_LIMIT_MS = 5_000;

/** Sends to the queue, with up to three attempts within 5 s, or until `deadline`. Returns false if no attempt is known to have succeeded by then. */
export async function sendWithRetry(
  send: () => Promise<unknown>,
  deadline = Date.now() + TIME_LIMIT_MS,
): Promise<boolean> {
  const attempt = async (number: number) => {
    try {
      await withTimeout(send(), deadline - Date.now());
    } catch (error) {
      logWarning('queue send failed', error, { attempt: number });
      throw error;
    }
  };
  try {
    await retry(attempt, { waitMs: 60, isPassing: (error) => !(error instanceof TimedOut) });
    return true;
  } catch {
    return false;
  }
}
