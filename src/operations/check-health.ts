import { listParked, readTeamLog } from '#rollup';

/** The cron folds every minute: what waits longer than this is stuck. */
const STUCK_MS = 5 * 60_000;

/**
 * How a team's events get through: `degraded` when counting is stuck or something is parked. Throws where the database does not
 * answer, which the caller sees as a 500.
 */
export async function checkHealth(db: D1Database, teamId: string, now: number) {
  const startedAt = Date.now();
  const [log, parked] = await Promise.all([readTeamLog(db, teamId), listParked(db, teamId, { limit: 1 })]);
  const waitingMs = log.oldestPendingAt === null ? 0 : Math.max(0, now - log.oldestPendingAt);
  return {
    status: waitingMs > STUCK_MS || parked.total > 0 ? 'degraded' : 'ok',
    database_ms: Date.now() - startedAt,
    pending_events: log.pending,
    pending_for_ms: waitingMs,
    slowest_delivery_ms: log.slowestMs,
    folded_at: log.foldedAt === 0 ? null : new Date(log.foldedAt).toISOString(),
    parked_messages: parked.total,
  } as const;
}
