import type { LoggedEvent, PackedEvent } from './event.ts';

/** A place in the log: all of chunk `chunkId` and before, and `eventOffset` events of the chunk after it. */
type Position = { chunkId: number; eventOffset: number };
/** Events that follow one another in the log, and the places before and after them. */
export type Run = { from: Position; to: Position; events: LoggedEvent[] };

type ChunkRow = {
  id: number;
  application_id: string;
  event_ids: string;
  events: string;
  cursor_chunk: number;
  cursor_offset: number;
};

/** The next events of the log: whole chunks as far as `limit` goes, or the first `limit` events of a larger chunk. */
export async function nextRun(db: D1Database, limit: number): Promise<Run | null> {
  const { results } = await db
    .prepare(
      `SELECT chunk.id, application_id, event_ids, events, cursor.chunk_id AS cursor_chunk, cursor.event_offset AS cursor_offset
       FROM fold_cursor AS cursor CROSS JOIN event_chunks AS chunk ON chunk.id > cursor.chunk_id
       WHERE chunk.id <= (
         SELECT max(id) FROM (
           SELECT id, sum(event_count) OVER (ORDER BY id) - event_count AS before
           FROM (SELECT id, event_count FROM event_chunks WHERE id > (SELECT chunk_id FROM fold_cursor) ORDER BY id LIMIT ?1))
         WHERE before < ?1)
       ORDER BY chunk.id`,
    )
    .bind(limit)
    .all<ChunkRow>();
  const [first] = results;
  if (!first) return null;
  const from = { chunkId: first.cursor_chunk, eventOffset: first.cursor_offset };
  const to = { ...from };
  const events: LoggedEvent[] = [];
  for (const chunk of results) {
    const unpacked = unpack(chunk).slice(to.eventOffset);
    const room = limit - events.length;
    if (unpacked.length > room) {
      // Too large for the rest of the run: begin the next one with it, unless it is all there is.
      if (events.length === 0) {
        events.push(...unpacked.slice(0, room));
        to.eventOffset += room;
      }
      break;
    }
    events.push(...unpacked);
    to.chunkId = chunk.id;
    to.eventOffset = 0;
  }
  return { from, to, events };
}

/** The events of a chunk with what stands beside them put back in. Those of an erased device are null, and folded long ago. */
export function unpack(chunk: { application_id: string; event_ids: string; events: string }): LoggedEvent[] {
  const ids: string[] = JSON.parse(chunk.event_ids);
  const events: (PackedEvent | null)[] = JSON.parse(chunk.events);
  return events.flatMap((event, index) =>
    event ? [{ ...event, id: ids[index] ?? '', application_id: chunk.application_id }] : [],
  );
}

/**
 * Moves the cursor over a run, or fails the transaction with `cursorWasElsewhere` where it does not stand where the run begins.
 * Setting a NOT NULL column to null is how a statement aborts a D1 transaction.
 */
export function moveCursorStatement(db: D1Database, { from, to }: Run, now: number): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE fold_cursor SET chunk_id = CASE WHEN chunk_id = ?1 AND event_offset = ?2 THEN ?3 END,
         event_offset = ?4, folded_at = ?5`,
    )
    .bind(from.chunkId, from.eventOffset, to.chunkId, to.eventOffset, now);
}

export const cursorWasElsewhere = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('NOT NULL constraint failed: fold_cursor.chunk_id');

/** Fails the transaction with `wasUndone` when every statement before it has succeeded: a trial that leaves nothing behind. */
export const undoStatement = (db: D1Database): D1PreparedStatement =>
  db.prepare('UPDATE fold_cursor SET folded_at = NULL');

export const wasUndone = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('NOT NULL constraint failed: fold_cursor.folded_at');
