import type { DeliveryOutcome, OutboundRequest } from '#networks/outbound';
import type { Attempt } from './api.ts';
import type { AttemptEnding } from './breaker.ts';
import { waitAfter } from './retry-schedule.ts';
import type { SendAnswer } from './send-one.ts';
import type { Job, Result } from './store.ts';

const MAX_SHOWN_ANSWER = 1_000;
const MAX_SHOWN_BODY = 4_000;

/** What became of an event, and how the attempt to send it ended; null if there was none. `isOff`: the receiver wants nothing more. */
export type Finished = Result & { ending: AttemptEnding | null; isOff: boolean };

/** An attempt as it is stored. `at`: when it began. */
export function toAttempt(
  { method, shown }: OutboundRequest,
  answer: SendAnswer,
  outcome: DeliveryOutcome,
  at: number,
): Attempt {
  const { url, headers, body } = shown;
  return {
    ...{ at, tookMs: answer.tookMs, status: answer.status },
    reason: outcome.isDelivered ? null : outcome.reason,
    request: { method, url, headers: { ...headers }, body: body?.slice(0, MAX_SHOWN_BODY) ?? null },
    answer: answer.status === null ? '' : answer.body.slice(0, MAX_SHOWN_ANSWER),
  };
}

/** What an attempt makes of an event. `random`: see `waitAfter`. Pure. */
export function afterAttempt(
  before: Job,
  attempt: Attempt,
  outcome: DeliveryOutcome,
  { now, random }: { now: number; random: number },
): Finished {
  const tries = before.tries + 1;
  const job = { ...before, tries, attempts: [...before.attempts, attempt] };
  if (outcome.isDelivered) {
    return { job, status: 'delivered', reason: null, dueAt: null, ending: 'delivered', isOff: false };
  }
  const { reason, retry, retryAfterMs, off: isOff = false } = outcome;
  const waitMs = retry ? waitAfter(tries, retryAfterMs, random) : null;
  if (waitMs === null) return { job, status: 'failed', reason, dueAt: null, ending: 'failed', isOff };
  return { job, status: 'pending', reason, dueAt: now + waitMs, ending: 'again', isOff };
}
