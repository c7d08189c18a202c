import { batchWithRetry } from '#db';
import { DAY_MS } from '#lib/time';
import { toArchiveLine } from './archive.ts';
import { isOfDevice, type LoggedEvent } from './event.ts';
import { allKeysOf } from './keys.ts';
import { unpack } from './log.ts';
import { toParameters } from './statements.ts';

const ROUNDS = 20;
const CHUNKS_A_ROUND = 500;
/** A round's chunks, and so the keys in them, stay below what D1 takes as one value. */
const BYTES_A_ROUND = 1_000_000;

/**
 * A message may be delivered for 4 days, and for 4 more from the dead letters, before it is parked. Source: Cloudflare's
 * documentation of Queues, "Limits".
 */
const PARKED_AFTER_MS = 9 * DAY_MS;

/**
 * The oldest chunks that may go: counted, taken before `?1`, and not needed to recognise what a parked message holds, whose
 * replay is told from what was counted by the log alone.
 */
const OLDEST_CHUNKS = `
  SELECT id, application_id, event_ids, events FROM (
    SELECT chunk.*, sum(length(events)) OVER (ORDER BY chunk.id) - length(events) AS before
    FROM (SELECT * FROM event_chunks ORDER BY id LIMIT ?2) AS chunk)
  WHERE before < ?3 AND id <= (SELECT chunk_id FROM fold_cursor)
    AND appended_at < min(?1, coalesce((SELECT min(parked_at) - ?4 FROM parked_messages), ?1))
  ORDER BY id`;

type ChunkRow = { id: number; application_id: string; event_ids: string; events: string };

export type Pruned = { chunks: number; events: number };

/**
 * Forgets raw events that were taken more than `retentionMs` ago, with the idempotency and session keys under which they were
 * counted; where there is a bucket it has them first. Bounded: what is left over is for the next minute. Repeatable at any
 * point: an object is named by the first chunk in it, so that a repeated one takes the place of the first.
 */
export async function pruneLog(
  db: D1Database,
  bucket: R2Bucket | undefined,
  retentionMs: number,
  now: number,
): Promise<Pruned> {
  const pruned: Pruned = { chunks: 0, events: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const [read] = await batchWithRetry<ChunkRow>(db, () => [
      db.prepare(OLDEST_CHUNKS).bind(now - retentionMs, CHUNKS_A_ROUND, BYTES_A_ROUND, PARKED_AFTER_MS),
    ]);
    const chunks = read?.results ?? [];
    if (chunks.length === 0) break;
    if (bucket) await archive(bucket, chunks);
    const events = chunks.flatMap(unpack);
    await batchWithRetry(db, () => [...forgetKeys(db, events), forgetChunks(db, chunks)]);
    pruned.chunks += chunks.length;
    pruned.events += events.length;
  }
  return pruned;
}

async function archive(bucket: R2Bucket, chunks: ChunkRow[]): Promise<void> {
  for (const [applicationId, own] of Map.groupBy(chunks, (chunk) => chunk.application_id)) {
    const lines = await Promise.all(own.flatMap(unpack).map(toArchiveLine));
    const [first] = own;
    if (!first || lines.length === 0) continue;
    const name = `events/${applicationId}/${String(first.id).padStart(12, '0')}.ndjson`;
    await bucket.put(name, `${lines.join('\n')}\n`);
  }
}

/**
 * A key goes with the event that was counted under it, which stands before its repeats in the log. A repeat may bring keys of its
 * own, which stand for that event too, so they go with the repeat: unless they were taken anew meanwhile, by a later event.
 */
function forgetKeys(db: D1Database, events: LoggedEvent[]): D1PreparedStatement[] {
  const newest = events.reduce((latest, { id }) => (id > latest ? id : latest), '');
  const keys = events
    .filter(isOfDevice)
    .flatMap((event) => allKeysOf(event).map(({ key, days }) => [event.application_id, days[0], key]));
  return toParameters(keys).map((parameter) =>
    db
      .prepare(
        `DELETE FROM idempotency_keys
         WHERE (application_id, day, key) IN (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?1)) AND event_id <= ?2`,
      )
      .bind(parameter, newest),
  );
}

function forgetChunks(db: D1Database, chunks: ChunkRow[]): D1PreparedStatement {
  return db
    .prepare('DELETE FROM event_chunks WHERE id IN (SELECT value FROM json_each(?1))')
    .bind(JSON.stringify(chunks.map(({ id }) => id)));
}
