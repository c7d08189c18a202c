import type { Pending } from './log.ts';
import { FULL_RUN, type RunLimits } from './settle.ts';

/** A quiet counter is counted soon; in a busy one, the more events wait, the fewer rows each of them writes. Reports do not wait. */
export const QUIET_WAIT_MS = 10_000;
const QUIET_EVENTS = 500;
const BUSY_WAIT_MS = 600_000;
/** What a report waits for is counted in smaller runs, so that it notices when it has waited long enough. */
export const REPORT_RUN: RunLimits = { events: 20_000, weight: FULL_RUN.weight };
export const MAX_REPORT_WAIT_MS = 2_000;
/** An alarm may take 15 minutes; what is left goes to the next one. */
export const MAX_ALARM_MS = 60_000;
/** D1 gives a transaction 30 s; an answer that takes longer is lost, and the part is sent again. */
export const FLUSH_TIMEOUT_MS = 40_000;

/** When what waits is to be counted, epoch milliseconds; null when nothing waits. */
export function countDueAt(
  { events, oldestAt }: Pending,
  fullRun: RunLimits,
  quietWaitMs: number,
  now: number,
): number | null {
  if (events === 0 || oldestAt === null) return null;
  if (events >= fullRun.events) return now;
  return oldestAt + (events < QUIET_EVENTS ? quietWaitMs : BUSY_WAIT_MS);
}
