import { AppError } from '#http';
import { idSecond } from '#lib/ids';
import { foldLog, sessionKeyPrefixes } from '#rollup';

/** Chunks whose events are rewritten in one statement. */
const CHUNKS_A_STATEMENT = 200;

type Device = { applicationId: string; acquiredDay: string; id: string };
export type Erased = { tokens: number; events: number };

/**
 * Erases a device: its row with what the backend sent about it, its tokens, the name its backend knew it by, the clicks
 * credited to it with their raw events, its session keys, what is parked of it, and its raw events within the packed log. The totals stay, and its ids in the log, which are random,
 * stay too, so that a redelivered event is still recognised and does not come back. Events that arrive later are not counted.
 *
 * Repeatable: after a failure the next call goes on. Throws `not_found` where nothing is left to erase.
 */
export async function eraseDevice(db: D1Database, device: Device, now: number): Promise<Erased> {
  // What arrived before is counted first: totals stay.
  await foldLog(db, now);
  const { applicationId, acquiredDay, id } = device;
  // Before the rows that tell which clicks they are, so that a call after a failure still finds them.
  const clicks = await blankClicks(db, device);
  const results = await db.batch([
    db
      .prepare('DELETE FROM devices WHERE application_id = ? AND acquired_day = ? AND id = ?')
      .bind(applicationId, acquiredDay, id),
    // Ids sort by the time they were made, and a device is made before its tokens.
    db
      .prepare('DELETE FROM tokens WHERE id >= ? AND application_id = ? AND device_id = ?')
      .bind(`tok_${id.slice(4, 16)}`, applicationId, id),
    db
      .prepare('DELETE FROM device_aliases WHERE application_id = ? AND device_id = ?')
      .bind(applicationId, id),
    db.prepare('DELETE FROM clicks WHERE application_id = ? AND device_id = ?').bind(applicationId, id),
    ...sessionKeyPrefixes(id).map((prefix) =>
      db
        .prepare('DELETE FROM idempotency_keys WHERE application_id = ? AND day = 0 AND key >= ? AND key < ?')
        .bind(applicationId, prefix, `${prefix.slice(0, -1)};`),
    ),
    db
      .prepare('DELETE FROM parked_messages WHERE application_id = ? AND instr(body, ?) > 0')
      .bind(applicationId, id),
  ]);
  // What was appended meanwhile finds no device any more; only what the fold has left behind is rewritten.
  await foldLog(db, now);
  const events = clicks + (await blankEvents(db, device));
  const rows = results.reduce((total, { meta }) => total + meta.changes, 0);
  if (rows + events === 0) throw new AppError('not_found', 'Device not found');
  return { tokens: results[1]?.meta.changes ?? 0, events };
}

/**
 * Replaces the raw events of the clicks that brought a device by null; answers how many. A click that another device named
 * first stays: it is the other one's.
 */
async function blankClicks(db: D1Database, { applicationId, acquiredDay, id }: Device): Promise<number> {
  const { results } = await db
    .prepare(
      `SELECT id FROM clicks WHERE application_id = ?1 AND device_id = ?3
       UNION SELECT attribution ->> 'click_id' FROM devices
       WHERE application_id = ?1 AND acquired_day = ?2 AND id = ?3 AND attribution ->> 'click_id' IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM clicks WHERE clicks.application_id = ?1
           AND clicks.id = devices.attribution ->> 'click_id' AND clicks.device_id <> ?3)`,
    )
    .bind(applicationId, acquiredDay, id)
    .all<{ id: string }>();
  // A click's raw event has the click's own id, under another prefix.
  const events = results.map((click) => click.id.replace('clk_', 'evt_'));
  let blanked = 0;
  for (const event of events) {
    const { meta } = await db
      .prepare(
        `UPDATE event_chunks SET events = json_replace(events, (
           SELECT '$[' || logged.key || ']' FROM json_each(event_ids) AS logged WHERE logged.value = ?3), NULL)
         WHERE application_id = ?1 AND second = ?2 AND id <= (SELECT chunk_id FROM fold_cursor)
           AND json_type(events, (SELECT '$[' || logged.key || ']' FROM json_each(event_ids) AS logged
             WHERE logged.value = ?3)) = 'object'`,
      )
      .bind(applicationId, idSecond(event), event)
      .run();
    blanked += meta.changes;
  }
  return blanked;
}

/** Replaces a device's events in the log by null, chunk by chunk; answers how many. */
async function blankEvents(db: D1Database, { applicationId, id }: Device): Promise<number> {
  const { results } = await db
    .prepare(
      `SELECT id FROM event_chunks WHERE application_id = ? AND second >= ? AND id <= (SELECT chunk_id FROM fold_cursor)`,
    )
    .bind(applicationId, idSecond(id))
    .all<{ id: number }>();
  let blanked = 0;
  for (let start = 0; start < results.length; start += CHUNKS_A_STATEMENT) {
    const chunks = JSON.stringify(results.slice(start, start + CHUNKS_A_STATEMENT).map((row) => row.id));
    const [counted] = await db.batch<{ events: number }>([
      db
        .prepare(
          `SELECT count(*) AS events FROM json_each(?1) AS chosen CROSS JOIN event_chunks AS chunk ON chunk.id = chosen.value
           CROSS JOIN json_each(chunk.events) AS event
           WHERE instr(chunk.events, ?2) > 0 AND event.value ->> 'device_id' = ?2`,
        )
        .bind(chunks, id),
      db
        .prepare(
          `UPDATE event_chunks SET events = (
             SELECT json_group_array(json(iif(event.value ->> 'device_id' = ?2, 'null', coalesce(event.value, 'null'))))
             FROM json_each(event_chunks.events) AS event)
           WHERE event_chunks.id IN (SELECT value FROM json_each(?1)) AND instr(events, ?2) > 0`,
        )
        .bind(chunks, id),
    ]);
    blanked += counted?.results[0]?.events ?? 0;
  }
  return blanked;
}
