import type { Pending } from '../log.ts';
import { FULL_RUN, type RunLimits } from './next-run.ts';

/** The longest wait before a counter counts. The more events wait, the fewer rows each of them writes. Reports do not wait for it. */
export const WAIT_MS = 45 * 60_000;
/** Counting for a report uses smaller runs, so that part of what waits is in the report if all of it takes too long. */
export const REPORT_RUN: RunLimits = { events: 20_000, weight: FULL_RUN.weight };
export const MAX_REPORT_WAIT_MS = 2_000;
/** An alarm may take 15 minutes. What is left is done by the next one. */
export const MAX_ALARM_MS = 60_000;
/** D1 gives a transaction 30 s. An answer that takes longer counts as lost, and the part is sent again. */
export const FLUSH_TIMEOUT_MS = 40_000;

/** When waiting events are due to be counted, in epoch milliseconds; null if nothing waits. */
export function countDueAt(
  { events, oldestAt }: Pending,
  fullRun: RunLimits,
  waitMs: number,
  now: number,
): number | null {
  if (events === 0 || oldestAt === null) return null;
  if (events >= fullRun.events) return now;
  return oldestAt + waitMs;
}
