import { FULL_RUN } from './next-run.ts';
import type { RunLimits } from './run.ts';

/** The longest wait before a counter counts. The more events wait, the fewer rows each of them writes. Reports do not wait for it. */
export const WAIT_MS = 45 * 60_000;
/** Counting for a report uses smaller runs, so that part of what waits is in the report if all of it takes too long. */
export const REPORT_RUN: RunLimits = { events: 20_000, weight: FULL_RUN.weight };
export const MAX_REPORT_WAIT_MS = 2_000;
/** An alarm may take 15 minutes. What is left is done by the next one. */
export const MAX_ALARM_MS = 60_000;
/** D1 gives a transaction 30 s. An answer that takes longer counts as lost, and the part is sent again. */
export const FLUSH_TIMEOUT_MS = 40_000;
