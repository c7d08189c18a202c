import type { LoggedEvent } from '#catalogue';
import { queueFor } from '#env';
import { unavailable } from '#http';
import { logWarning } from '#lib/log';
import { retry } from '#lib/retry';
import { TimedOut, withTimeout } from '#lib/timeout';
import type { EventMessage } from './message.ts';

/** Sends have been seen to hang for a minute. Callers are told to retry long before that. */
const TIME_LIMIT_MS = 5_000;

/** Sends to the queue, with up to three attempts within 5 s. Returns false if no attempt is known to have succeeded by then. */
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

/** Sends an event to the queue of its counter. `creditOpen`: that of its device is not settled yet. Throws `unavailable` if the queue does not accept it. */
export async function sendEvent(env: Env, event: LoggedEvent, creditOpen: boolean): Promise<void> {
  const message: EventMessage = { v: creditOpen ? 2 : 1, events: [event] };
  const queue = queueFor(env, event.application_id, ('shard' in event && event.shard) || 0);
  if (!(await sendWithRetry(() => queue.send(message)))) throw unavailable();
}
