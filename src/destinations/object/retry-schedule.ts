import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/time';

/** The waits after each failed attempt: 76 hours in all. Source: the specification of Standard Webhooks, "Deliverability and reliability". */
const WAITS_MS = [
  5_000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];

/** Of a wait, in either direction, so that what failed together is not tried again together. */
const JITTER = 0.1;

/**
 * How long to wait after a number of failed attempts, in milliseconds; null if there is no further one. A receiver may ask for a longer wait
 * (`retryAfterMs`), of a day at most, but not for a shorter one, with which a day's outage would use up all attempts. `random`: 0 to 1.
 */
export function waitAfter(tries: number, retryAfterMs: number | undefined, random: number): number | null {
  const wait = WAITS_MS[tries - 1];
  if (wait === undefined) return null;
  const scheduled = wait * (1 - JITTER + 2 * JITTER * random);
  return Math.round(Math.max(scheduled, Math.min(retryAfterMs ?? 0, DAY_MS)));
}
