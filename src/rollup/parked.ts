import { AppError } from '#http';

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

/** The newest parked messages of a team, with how many there are in all. */
export async function listParked(db: D1Database, teamId: string, limit: number) {
  const [rows, counted] = await db.batch<ParkedMessage | { total: number }>([
    db
      .prepare(
        `SELECT ${COLUMNS} FROM parked_messages WHERE ${OF_TEAM} ORDER BY parked_at DESC, id DESC LIMIT ?2`,
      )
      .bind(teamId, limit),
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
 * and counted once, because its events keep their ids. What still cannot be counted is parked again.
 */
export async function replayParked(env: Env, teamId: string, id: string): Promise<ParkedMessage> {
  const message = await getParked(env.DB, teamId, id);
  if (message.body === '') throw new AppError('conflict', 'This message was empty: it can only be discarded');
  await env.EVENTS.send(JSON.parse(message.body));
  await env.DB.prepare('DELETE FROM parked_messages WHERE id = ?').bind(id).run();
  return message;
}
