import { idSecond } from '#lib/ids';
import type { LoggedEvent } from './event.ts';

/** D1 takes 2 MB a value; a transaction of this many bytes of events stays far below it. */
export const MAX_APPEND_BYTES = 800_000;
export const MAX_APPEND_EVENTS = 1_000;

/**
 * A statement that appends events to the log, each at most once: an id holds the second it was minted in, and all ids of that
 * second in the log are looked through, so a redelivered event is found without a row or an index entry of its own.
 * The ids within `events` must differ. Appended is of each `item` (`application_id`, `event`) what the SQL `condition` holds for.
 */
export function appendStatement(
  db: D1Database,
  events: LoggedEvent[],
  now: number,
  condition = 'true',
): D1PreparedStatement {
  const items = events.map(({ id, application_id, ...event }) => [application_id, idSecond(id), id, event]);
  return db
    .prepare(
      `INSERT INTO event_chunks (application_id, second, event_ids, events, event_count, appended_at)
       SELECT application_id, second, json_group_array(id), json_group_array(json(event)), count(*), ?2
       FROM (SELECT value ->> 0 AS application_id, value ->> 1 AS second, value ->> 2 AS id, value -> 3 AS event
             FROM json_each(?1)) AS item
       WHERE (${condition}) AND id NOT IN (
         SELECT logged.value
         FROM (SELECT DISTINCT value ->> 0 AS application_id, value ->> 1 AS second FROM json_each(?1)) AS incoming
         CROSS JOIN event_chunks AS chunk
           ON chunk.application_id = incoming.application_id AND chunk.second = incoming.second
         CROSS JOIN json_each(chunk.event_ids) AS logged)
       GROUP BY application_id, second`,
    )
    .bind(JSON.stringify(items), now);
}

/** How much of the log waits to be folded, and when the last fold was. */
export type Backlog = { pending: number; folded_at: number };

export function backlogStatement(db: D1Database): D1PreparedStatement {
  return db.prepare(
    `SELECT folded_at, (SELECT coalesce(sum(event_count), 0) FROM event_chunks WHERE id > cursor.chunk_id) AS pending
     FROM fold_cursor AS cursor`,
  );
}
