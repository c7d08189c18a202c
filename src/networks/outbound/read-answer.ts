import { readRetryAfter } from '#lib/input/retry-after';
import type { DeliveryOutcome } from '../outbound.ts';

/** The longest wait that a receiver can ask for: that before the last attempt. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/** `readRetryAfter`, at most a day, so that no delivery is lost to a typing error; undefined without one. */
export function retryAfterOf(headers: Headers, now: number): number | undefined {
  const waitMs = readRetryAfter(headers, now);
  return waitMs === null ? undefined : Math.min(waitMs, MAX_RETRY_AFTER_MS);
}

type ReceiverAnswer = { status: number; headers: Headers };

/** Statuses of a request that will be refused again. 410 and those from 429 on are not among them. */
const isFinal = (status: number) => status >= 400 && status <= 428;

/** What an answer means by its status alone. A redirect is a failure, because only the URL that was set up has been checked. */
export function readStatus({ status, headers }: ReceiverAnswer, now: number): DeliveryOutcome {
  if (status >= 200 && status < 300) return { isDelivered: true };
  const reason = status < 400 ? `Answered ${status}; redirects are not followed` : `Answered ${status}`;
  if (status === 410) return { isDelivered: false, reason, retry: false, off: true };
  const retryAfterMs = retryAfterOf(headers, now);
  if (retryAfterMs === undefined) return { isDelivered: false, reason, retry: !isFinal(status) };
  return { isDelivered: false, reason, retry: true, retryAfterMs };
}
