import { batchWithRetry, isTransient, needsLessData } from '#db';
import type { Backlog } from './append.ts';
import type { LoggedEvent } from './event.ts';
import { readKnown } from './known.ts';
import {
  cursorWasElsewhere,
  moveCursorStatement,
  nextRun,
  type Run,
  undoStatement,
  wasUndone,
} from './log.ts';
import { parkEventStatements } from './park.ts';
import { findPoison } from './poison.ts';
import { countStatements } from './statements.ts';
import { type Known, tally } from './tally.ts';

/** Events counted in one transaction: the more there are, the fewer rows are written for each. */
export const FOLD_EVENTS = 20_000;
/** How many times smaller a run becomes that was too much. */
const SHRINK = 10;
/** Longest wait before folding a quiet log, and a busy one. Fewer events in a fold are more rows for each; reports fold what waits first. */
const QUIET_WAIT_MS = 10_000;
const BUSY_WAIT_MS = 60_000;
const BUSY_EVENTS = 1_000;

/** Whether the log is to be folded after a batch has been appended to it. */
export function foldIsDue({ pending, folded_at }: Backlog, now: number): boolean {
  const wait = pending < BUSY_EVENTS ? QUIET_WAIT_MS : BUSY_WAIT_MS;
  return pending >= FOLD_EVENTS || (pending > 0 && now - folded_at >= wait);
}

/**
 * Counts what the log holds beyond the cursor into the rollups, until nothing is left.
 *
 * Each run of events is one transaction whose first statement moves the cursor on from where the run began: were it moved
 * meanwhile by another fold, the whole transaction fails and counts nothing. So any number of folds may run at once, die
 * and be repeated, and every event is counted exactly once. Events that cannot be counted are parked in that transaction, not
 * waited for. A run that is too much for the database, or cannot even be read, is repeated with fewer events.
 *
 * Throws only what may go away by itself; the log keeps everything until a later fold.
 */
export async function foldLog(db: D1Database, now: number): Promise<void> {
  let limit = FOLD_EVENTS;
  for (;;) {
    let [size, isRead] = [limit, false];
    try {
      const run = await nextRun(db, limit);
      if (!run) return;
      size = run.events.length;
      const known = await readKnown(db, run.events);
      isRead = true;
      await countRun(db, run, known, now);
      limit = Math.min(FOLD_EVENTS, limit * 2);
    } catch (error) {
      if (cursorWasElsewhere(error)) continue;
      // Whatever makes a read fail, its size may be why; a write says so, or it fails for what is in it.
      const mayBeTooMuch = !isRead || needsLessData(error) || !isTransient(error);
      if (!mayBeTooMuch || size <= 1) throw error;
      limit = Math.ceil(size / SHRINK);
    }
  }
}

/** Counts a run in one transaction; events that make it fail are found first and parked in it. */
async function countRun(db: D1Database, run: Run, known: Known, now: number): Promise<void> {
  try {
    await commit(db, run, run.events, known, [], now);
    return;
  } catch (error) {
    if (cursorWasElsewhere(error) || isTransient(error)) throw error;
  }
  const reasons = new Map<string, unknown>();
  const poison = await findPoison(run.events, async (part) => {
    try {
      await batchWithRetry(db, () => [...countStatements(db, tally(part, known)), undoStatement(db)]);
    } catch (error) {
      if (wasUndone(error)) return false;
      if (isTransient(error)) throw error;
      for (const event of part) reasons.set(event.id, error);
    }
    return true;
  });
  const parked = new Set(poison.map(({ id }) => id));
  for (const id of parked) {
    const line = { level: 'error', message: 'event parked', event_id: id, error: String(reasons.get(id)) };
    console.error(JSON.stringify(line));
  }
  const good = run.events.filter(({ id }) => !parked.has(id));
  await commit(db, run, good, known, poison, now);
}

async function commit(
  db: D1Database,
  run: Run,
  good: readonly LoggedEvent[],
  known: Known,
  poison: readonly LoggedEvent[],
  now: number,
): Promise<void> {
  const counted = tally(good, known);
  await batchWithRetry(db, () => [
    moveCursorStatement(db, run, now),
    ...countStatements(db, counted),
    ...parkEventStatements(db, poison, now),
  ]);
}
