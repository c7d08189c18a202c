import { AppError } from '#http';
import { idSecond, isId } from '#lib/ids';
import { isOfDevice, keysOf, type LoggedEvent, unpack } from '#rollup';
import { showEvent } from './list-events.ts';
import { withoutErased } from './log-reader.ts';

/** The platform keeps an undelivered message this long. Source: Cloudflare's documentation of Queues, "Limits". */
const LONGEST_ON_ITS_WAY_SECONDS = 4 * 86_400;
/** The clocks of two machines. */
const CLOCK_SKEW_SECONDS = 5;

type LoggedRow = {
  application_id: string;
  event_ids: string;
  events: string;
  chunk: number;
  appended_at: number;
  chunk_id: number;
  event_offset: number;
  folded_at: number;
};

/** Among the team's own applications: another team's event must look like one that is still on its way, or was never sent. */
const FIND_LOGGED = `
  SELECT chunk.application_id, chunk.event_ids, chunk.events, chunk.id AS chunk, chunk.appended_at,
    cursor.chunk_id, cursor.event_offset, cursor.folded_at
  FROM applications CROSS JOIN event_chunks AS chunk
    ON chunk.application_id = applications.id AND chunk.second = ?1
  CROSS JOIN fold_cursor AS cursor
  WHERE team_id = ?3 AND instr(chunk.event_ids, ?2) > 0`;

/** By the id under which the fold parks an event, or anywhere within a message that never reached the log. */
const FIND_PARKED = `
  SELECT parked_messages.id, reason, parked_at FROM parked_messages
  WHERE application_id IN (SELECT id FROM applications WHERE team_id = ?1)
    AND (parked_messages.id = ?2 OR instr(body, ?3) > 0) LIMIT 1`;

export type EventStatus = {
  event_id: string;
  application_id?: string;
  status: 'queued' | 'counted' | 'duplicate' | 'parked';
  received_at: string;
  logged_at?: string;
  /** Counted, found a duplicate or parked at this time at the latest: the log is folded in runs. */
  settled_by?: string;
  duplicate_of?: string;
  reason?: string;
  event?: Record<string, unknown>;
};

const iso = (at: number) => new Date(at).toISOString();
const notFound = () => new AppError('not_found', 'Event not found');

/** When an id was minted, which is when its event was taken: the first 48 bits of a UUIDv7. */
const mintedAt = (id: string) => Number.parseInt(id.slice(4, 16), 16);

/**
 * What became of an event: still on its way (`queued`, in the queue or waiting in the log), `counted`, a repeat of one that was
 * (`duplicate`), or set aside with the reason (`parked`). Another team's event is answered as one that was never sent. Throws
 * `not_found` for an erased device's event, and for an unknown one that no queue can hold any more.
 */
export async function eventStatus(
  db: D1Database,
  teamId: string,
  id: string,
  now: number,
): Promise<EventStatus> {
  if (!isId('evt', id)) throw notFound();
  const [logged, parked] = await db.batch<unknown>([
    db.prepare(FIND_LOGGED).bind(idSecond(id), id, teamId),
    db.prepare(FIND_PARKED).bind(teamId, id.replace('evt_', 'prk_'), id),
  ]);
  const [row] = (logged?.results ?? []) as LoggedRow[];
  const [aside] = (parked?.results ?? []) as { reason: string; parked_at: number }[];
  const base = { event_id: id, received_at: iso(mintedAt(id)) };
  if (aside) return { ...base, status: 'parked', settled_by: iso(aside.parked_at), reason: aside.reason };
  if (row) return { ...base, ...(await loggedStatus(db, row, id)) };
  const age = now / 1000 - mintedAt(id) / 1000;
  if (age > LONGEST_ON_ITS_WAY_SECONDS || age < -CLOCK_SKEW_SECONDS) throw notFound();
  return { ...base, status: 'queued' };
}

async function loggedStatus(
  db: D1Database,
  row: LoggedRow,
  id: string,
): Promise<Omit<EventStatus, 'event_id' | 'received_at'>> {
  const found = unpack(row).filter((candidate) => candidate.id === id);
  const [event] = await withoutErased(db, found);
  if (!event) throw notFound();
  const shown = {
    application_id: row.application_id,
    logged_at: iso(row.appended_at),
    event: showEvent(event),
  };
  if (!isFolded(row, id)) return { ...shown, status: 'queued' };
  const settled = { ...shown, settled_by: iso(row.folded_at) };
  const first = await firstOfKey(db, event);
  return first === null || first === id
    ? { ...settled, status: 'counted' }
    : { ...settled, status: 'duplicate', duplicate_of: first };
}

function isFolded(row: LoggedRow, id: string): boolean {
  if (row.chunk <= row.chunk_id) return true;
  if (row.event_offset === 0 || row.chunk !== row.chunk_id + 1) return false;
  const ids: string[] = JSON.parse(row.event_ids);
  return ids.indexOf(id) < row.event_offset;
}

/** The event that was counted under this one's keys; null where it has none. */
async function firstOfKey(db: D1Database, event: LoggedEvent): Promise<string | null> {
  const [own] = isOfDevice(event) ? keysOf(event) : [];
  if (!own) return null;
  return db
    .prepare(
      `SELECT event_id FROM idempotency_keys
       WHERE application_id = ?1 AND key = ?2 AND day IN (SELECT value FROM json_each(?3)) ORDER BY event_id LIMIT 1`,
    )
    .bind(event.application_id, own.key, JSON.stringify(own.days))
    .first<string>('event_id');
}
