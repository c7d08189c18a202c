import { createMiddleware } from 'hono/factory';
import type { AppEnv } from './context.ts';
import { AppError } from './errors.ts';
import { givingWay } from './giving-way.ts';

// All requests of an isolate share one thread and 128 MB, so a team that asks for many reports at once would delay everybody's webhooks. Each
// isolate therefore computes only a few reports of a team at a time.

/** Reports of one team that an isolate computes at the same time. A page of the dashboard counts as one, whatever it shows. */
const MAX_REPORTS_AT_ONCE = 2;
const LONGEST_WAIT_MS = 10_000;
/** Whoever waits looks again after this time at first, then less and less often: many that look keep a thread busy, too. */
const FIRST_LOOK_MS = 20;
const LAST_LOOK_MS = 160;
/** The runtime drops a request whose client has left, without running its `finally`. Its slot is free again after this time. */
const LONGEST_REPORT_MS = 30_000;
/**
 * A slot rests after a report for as long as that took, and three times as long while others of the team wait, at most for this time. Whoever asks for one
 * report after the other notices nothing, because there are two slots, and many callers at once get half of what that one has of the thread.
 */
const LONGEST_REST_MS = 1_000;
const CONTESTED_REST = 3;

type Slot = { startedAt: number; restsUntil: number | null; isContested: boolean };

/** The reports that are running or rest, by team. */
const running = new Map<string, Set<Slot>>();

function isOver({ startedAt, restsUntil }: Slot, now: number): boolean {
  if (restsUntil === null) return now - startedAt >= LONGEST_REPORT_MS;
  // Neither if the clock was set back.
  return restsUntil <= now || restsUntil - now > LONGEST_REST_MS;
}

function takeSlot(owner: string, max: number): (() => void) | null {
  const slots = running.get(owner) ?? new Set();
  const startedAt = Date.now();
  for (const slot of slots) if (isOver(slot, startedAt)) slots.delete(slot);
  if (slots.size >= max) {
    for (const slot of slots) slot.isContested = true;
    return null;
  }
  const own: Slot = { startedAt, restsUntil: null, isContested: false };
  running.set(owner, slots.add(own));
  return () => {
    const now = Date.now();
    const took = Math.max(now - startedAt, 0) * (own.isContested ? CONTESTED_REST : 1);
    own.restsUntil = now + Math.min(took, LONGEST_REST_MS);
    if (own.restsUntil === now) slots.delete(own);
    if (slots.size === 0 && running.get(owner) === slots) running.delete(owner);
  };
}

/** Waits by polling: the runtime cancels a request that only waits for another request's promise. */
async function inSlot<Result>(
  owner: string,
  { max, what }: { max: number; what: string },
  work: () => Promise<Result>,
): Promise<Result> {
  const deadline = Date.now() + LONGEST_WAIT_MS;
  let release = takeSlot(owner, max);
  let wait = FIRST_LOOK_MS;
  while (!release) {
    if (Date.now() >= deadline) {
      throw new AppError(
        'rate_limited',
        `Too many ${what} at once: your team may run ${max} at the same time`,
        { headers: { 'Retry-After': '5' } },
      );
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(2 * wait, LAST_LOOK_MS);
    release = takeSlot(owner, max);
  }
  try {
    // Small reports, one right after the other, leave others no turn either.
    await givingWay()();
    return await work();
  } finally {
    release();
  }
}

/**
 * Runs `work` once fewer than `MAX_REPORTS_AT_ONCE` reports of the team are running in this isolate. Throws `rate_limited` after 10 s of
 * waiting.
 */
export const inReportSlot = <Result>(teamId: string, work: () => Promise<Result>): Promise<Result> =>
  inSlot(teamId, { max: MAX_REPORTS_AT_ONCE, what: 'reports' }, work);

/** The same for work that makes many reports: no other such work of the team runs beside it, and what waits for that leaves the slot to reports. */
export const inLongReportSlot = <Result>(teamId: string, work: () => Promise<Result>): Promise<Result> =>
  inSlot(`${teamId} long`, { max: 1, what: 'previews' }, () => inReportSlot(teamId, work));

/** Runs the route's handler in a report slot of the caller's team. */
export const requireReportSlot = createMiddleware<AppEnv>((c, next) => inReportSlot(c.get('team').id, next));

/** The same for a handler that makes many reports. */
export const requireLongReportSlot = createMiddleware<AppEnv>((c, next) =>
  inLongReportSlot(c.get('team').id, next),
);
