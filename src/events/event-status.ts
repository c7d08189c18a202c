import { AppError } from '#http';
import { idSecond, isId } from '#lib/ids';
import { type DeviceEvent, isOfDevice, keysOf, reasonToIgnore, unpack } from '#rollup';
import { showEvent } from './list-events.ts';

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
  status: 'queued' | 'counted' | 'duplicate' | 'ignored' | 'parked';
  received_at: string;
  logged_at?: string;
  /** Counted, found a duplicate, ignored or parked at this time at the latest: the log is folded in runs. */
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
 * (`duplicate`), taken but counted nowhere (`ignored`), or set aside (`parked`), these two with the reason. An id that nothing of
 * the team's is known of may be on its way for as long as a queue can hold it: another team's event looks the same as an invented
 * one. Throws `not_found` after that, and for an event that was erased with its device.
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
  const event = unpack(row).find((candidate) => candidate.id === id);
  if (!event) throw notFound();
  const logged = { application_id: row.application_id, logged_at: iso(row.appended_at) };
  const settled = { ...logged, settled_by: iso(row.folded_at) };
  const shown = { event: showEvent(event) };
  if (!isOfDevice(event)) {
    return isFolded(row, id)
      ? { ...settled, ...shown, status: 'counted' }
      : { ...logged, ...shown, status: 'queued' };
  }
  const { device, revokedAt, first } = await readFate(db, event);
  if (!isFolded(row, id)) return { ...logged, ...(device ? shown : {}), status: 'queued' };
  if (!device) return { ...settled, status: 'ignored', reason: 'its device was erased' };
  const reason = reasonToIgnore(event, device, revokedAt);
  if (reason) return { ...settled, ...shown, status: 'ignored', reason };
  return first === undefined || first === id
    ? { ...settled, ...shown, status: 'counted' }
    : { ...settled, ...shown, status: 'duplicate', duplicate_of: first };
}

function isFolded(row: LoggedRow, id: string): boolean {
  if (row.chunk <= row.chunk_id) return true;
  if (row.event_offset === 0 || row.chunk !== row.chunk_id + 1) return false;
  const ids: string[] = JSON.parse(row.event_ids);
  return ids.indexOf(id) < row.event_offset;
}

type Fate = {
  /** Undefined where the device was erased. */
  device: { test: boolean } | undefined;
  revokedAt: number | undefined;
  /** The event that was counted under this one's keys; undefined where it has none. */
  first: string | undefined;
};

/**
 * What decided how an event was counted. Once counted it stands under each of its keys, on the key's own day; a repeat's keys
 * lead to the event that it repeats.
 */
async function readFate(db: D1Database, event: DeviceEvent): Promise<Fate> {
  const { application_id, acquired_day, device_id, token_id } = event;
  const keys = keysOf(event).map(({ key, days }) => [key, days[0]]);
  const [devices, tokens, counted] = await db.batch<unknown>([
    db
      .prepare('SELECT test FROM devices WHERE application_id = ? AND acquired_day = ? AND id = ?')
      .bind(application_id, acquired_day, device_id),
    db.prepare('SELECT revoked_at FROM tokens WHERE id = ? AND revoked_at IS NOT NULL').bind(token_id ?? ''),
    db
      .prepare(
        `SELECT event_id FROM json_each(?2) AS wanted CROSS JOIN idempotency_keys
           ON application_id = ?1 AND day = wanted.value ->> 1 AND idempotency_keys.key = wanted.value ->> 0
         ORDER BY event_id LIMIT 1`,
      )
      .bind(application_id, JSON.stringify(keys)),
  ]);
  const [device] = (devices?.results ?? []) as { test: number }[];
  const [token] = (tokens?.results ?? []) as { revoked_at: number }[];
  const [key] = (counted?.results ?? []) as { event_id: string }[];
  return {
    device: device && { test: device.test === 1 },
    revokedAt: token?.revoked_at,
    first: key?.event_id,
  };
}
