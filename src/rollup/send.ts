import { logWarning } from '#lib/log';
import { retry } from '#lib/retry';
import { TimedOut, withTimeout } from '#lib/timeout';

/** Sends were seen to hang for a minute; a caller is told to try again long before. */
const TIME_LIMIT_MS = 5_000;

/** Sends to the queue: up to three tries within 5 s. False when it took nothing, as far as is known by then. */
export async function sendWithRetry(send: () => Promise<unknown>): Promise<boolean> {
  const deadline = Date.now() + TIME_LIMIT_MS;
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
