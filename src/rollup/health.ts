/** How the log of an application stands. Times are epoch milliseconds. */
export type LogState = {
  /** Events in the log that no report has counted yet. */
  pending: number;
  /** When the log of the whole deployment was last counted; 0 for never. */
  foldedAt: number;
  /** When the newest event was written to the log; null without any. */
  lastAppendedAt: number | null;
  /** The longest way from taking an event to the log, of the newest chunks; exact to a second. */
  slowestMs: number | null;
};

const NEWEST_CHUNKS = 50;

export async function readLogState(db: D1Database, applicationId: string): Promise<LogState> {
  const row = await db
    .prepare(
      `WITH newest AS (
         SELECT appended_at, second FROM event_chunks WHERE application_id = ?1 ORDER BY second DESC LIMIT ?2)
       SELECT folded_at AS foldedAt,
         (SELECT coalesce(sum(event_count), 0) FROM event_chunks AS chunk
          WHERE chunk.id > cursor.chunk_id AND chunk.application_id = ?1) AS pending,
         (SELECT max(appended_at) FROM newest) AS lastAppendedAt,
         (SELECT max(appended_at - second * 1000) FROM newest) AS slowestMs
       FROM fold_cursor AS cursor`,
    )
    .bind(applicationId, NEWEST_CHUNKS)
    .first<LogState>();
  return row ?? { pending: 0, foldedAt: 0, lastAppendedAt: null, slowestMs: null };
}

/** What of an application has arrived so far: any device, and any event of one beyond its acquisition. */
export type Arrivals = { device: boolean; event: boolean };

export async function readArrivals(db: D1Database, applicationId: string): Promise<Arrivals> {
  const row = await db
    .prepare(
      `SELECT EXISTS (SELECT 1 FROM devices WHERE application_id = ?1) AS device,
         EXISTS (SELECT 1 FROM rollup_daily WHERE application_id = ?1
           AND (sessions > 0 OR custom_events > 0 OR impressions > 0 OR purchases > 0 OR failed_purchases > 0))
         OR EXISTS (
           SELECT 1 FROM (SELECT events FROM event_chunks WHERE application_id = ?1 ORDER BY second DESC LIMIT ?2) AS newest,
             json_each(newest.events) AS event
           WHERE event.value ->> 'type' <> 'install') AS event`,
    )
    .bind(applicationId, NEWEST_CHUNKS)
    .first<{ device: number; event: number }>();
  return { device: row?.device === 1, event: row?.event === 1 };
}

/** How the log of a team's applications stands. Times are epoch milliseconds. */
export type TeamLog = {
  pending: number;
  /** When the oldest of the pending events was written to the log; null without any. */
  oldestPendingAt: number | null;
  foldedAt: number;
  /** As `LogState.slowestMs`, of the newest pending or counted chunks. */
  slowestMs: number | null;
};

export async function readTeamLog(db: D1Database, teamId: string): Promise<TeamLog> {
  const row = await db
    .prepare(
      `WITH own AS (SELECT id FROM applications WHERE team_id = ?1),
         waiting AS (SELECT event_count, appended_at FROM event_chunks
           WHERE id > (SELECT chunk_id FROM fold_cursor) AND application_id IN (SELECT id FROM own)),
         newest AS (SELECT application_id, appended_at, second FROM event_chunks ORDER BY id DESC LIMIT ?2)
       SELECT folded_at AS foldedAt,
         (SELECT coalesce(sum(event_count), 0) FROM waiting) AS pending,
         (SELECT min(appended_at) FROM waiting) AS oldestPendingAt,
         (SELECT max(appended_at - second * 1000) FROM newest WHERE application_id IN (SELECT id FROM own)) AS slowestMs
       FROM fold_cursor`,
    )
    .bind(teamId, NEWEST_CHUNKS)
    .first<TeamLog>();
  return row ?? { pending: 0, oldestPendingAt: null, foldedAt: 0, slowestMs: null };
}
