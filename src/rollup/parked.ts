import type { RollupTable } from '#catalogue';
import { isTransient } from '#db';
import { AppError, unavailable } from '#http';
import { readParkedSums } from './park.ts';
import { sendWithRetry } from './send.ts';
import { additionSql } from './tables.ts';

/** What could not be counted, as people see it. */
export type ParkedMessage = {
  id: string;
  applicationId: string;
  body: string;
  reason: string;
  parkedAt: number;
};

// A message too broken to tell its application belongs to no team: only a deployment's single team may see it.
const OF_TEAM = `(application_id IN (SELECT applications.id FROM applications WHERE team_id = ?1)
  OR (application_id = '' AND (SELECT count(*) FROM teams) = 1))`;

const COLUMNS = 'id, application_id AS applicationId, body, reason, parked_at AS parkedAt';

/** A page of a team's parked messages, newest first, with how many there are in all; `before` is the last one of the page before. */
export async function listParked(
  db: D1Database,
  teamId: string,
  page: { limit: number; before?: { parkedAt: number; id: string } | undefined },
) {
  const [rows, counted] = await db.batch<ParkedMessage | { total: number }>([
    db
      .prepare(
        `SELECT ${COLUMNS} FROM parked_messages WHERE ${OF_TEAM} AND (?3 IS NULL OR (parked_at, id) < (?3, ?4))
         ORDER BY parked_at DESC, id DESC LIMIT ?2`,
      )
      .bind(teamId, page.limit, page.before?.parkedAt ?? null, page.before?.id ?? null),
    db.prepare(`SELECT count(*) AS total FROM parked_messages WHERE ${OF_TEAM}`).bind(teamId),
  ]);
  const [count] = (counted?.results ?? []) as { total: number }[];
  return { messages: (rows?.results ?? []) as ParkedMessage[], total: count?.total ?? 0 };
}

async function getParked(db: D1Database, teamId: string, id: string): Promise<ParkedMessage> {
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM parked_messages WHERE ${OF_TEAM} AND id = ?2`)
    .bind(teamId, id)
    .first<ParkedMessage>();
  if (!row) throw new AppError('not_found', 'This message is not parked any more');
  return row;
}

/** Repeatable. Throws `not_found` for another team's message. */
export async function discardParked(db: D1Database, teamId: string, id: string): Promise<ParkedMessage> {
  const message = await getParked(db, teamId, id);
  await db.prepare('DELETE FROM parked_messages WHERE id = ?').bind(id).run();
  return message;
}

/**
 * Sends a parked message to the queue again and takes it from the list, in this order: what stops in between is sent twice,
 * and counted once, because its events keep their ids. What still cannot be counted is parked again. Parked sums are added to
 * their rollup and taken from the list in one transaction, which fails as a whole where the database still refuses them.
 */
export async function replayParked(env: Env, teamId: string, id: string): Promise<ParkedMessage> {
  const message = await getParked(env.DB, teamId, id);
  if (message.body === '') throw new AppError('conflict', 'This message was empty: it can only be discarded');
  const body: unknown = JSON.parse(message.body);
  const sums = readParkedSums(body);
  if (sums) {
    await addParkedSums(env.DB, id, sums.table, sums.rows);
    return message;
  }
  if (!(await sendWithRetry(() => env.EVENTS.send(body)))) throw unavailable();
  await env.DB.prepare('DELETE FROM parked_messages WHERE id = ?').bind(id).run();
  return message;
}

/** Once, however many do it at the same time. */
async function addParkedSums(
  db: D1Database,
  id: string,
  table: RollupTable,
  rows: readonly unknown[],
): Promise<void> {
  try {
    await db.batch([
      // Aborts where it is no longer parked: a column that is NOT NULL is given null.
      db
        .prepare(
          `INSERT INTO parked_messages (id, application_id, body, reason, parked_at) SELECT ?1, NULL, '', '', 0
           WHERE NOT EXISTS (SELECT 1 FROM parked_messages WHERE id = ?1)`,
        )
        .bind(id),
      db.prepare(additionSql(table)).bind(JSON.stringify(rows)),
      db.prepare('DELETE FROM parked_messages WHERE id = ?').bind(id),
    ]);
  } catch (error) {
    if (isTransient(error)) throw unavailable();
    console.error(
      JSON.stringify({ level: 'error', message: 'sums refused', parked_id: id, error: String(error) }),
    );
    throw new AppError('conflict', 'The database still refuses these sums');
  }
}
