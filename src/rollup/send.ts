import { TimedOut, withTimeout } from '#lib/timeout';

const ATTEMPTS = 3;
/** Sends were seen to hang for a minute; a caller is told to try again long before. */
const TIME_LIMIT_MS = 5_000;

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Sends to the queue: up to three tries within 5 s. False when it took nothing, as far as is known by then. */
export async function sendWithRetry(send: () => Promise<unknown>): Promise<boolean> {
  const deadline = Date.now() + TIME_LIMIT_MS;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      await withTimeout(send(), deadline - Date.now());
      return true;
    } catch (error) {
      console.warn(
        JSON.stringify({ level: 'warn', message: 'queue send failed', attempt, error: String(error) }),
      );
      if (error instanceof TimedOut) return false;
      if (attempt < ATTEMPTS) await wait(40 * 4 ** (attempt - 1) * (0.5 + Math.random()));
    }
  }
  return false;
}
