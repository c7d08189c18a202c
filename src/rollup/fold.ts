import { batchWithRetry, isTransient } from '#db';
import type { Backlog } from './append.ts';
import { isOfDevice, type LoggedEvent, type PackedEvent } from './event.ts';
import { parkEventStatement } from './park.ts';
import { additionSql, type RollupTable } from './tables.ts';
import {
  type Counted,
  type DeviceState,
  deviceKey,
  deviceKeyOf,
  type Known,
  keysOf,
  scopedKey,
  sessionKey,
  tally,
} from './tally.ts';

/** Events counted in one transaction: the more there are, the fewer rows are written for each. */
export const FOLD_EVENTS = 20_000;
/** So long a quiet log waits at most, and a busy one. Fewer events in a fold are more rows for each; reports fold what waits first. */
const QUIET_WAIT_MS = 10_000;
const BUSY_WAIT_MS = 60_000;
const BUSY_EVENTS = 1_000;
/** D1 takes 2 MB a value; longer lists go into several statements of the same transaction. */
const MAX_PARAMETER_BYTES = 1_000_000;

/** Whether the log is to be folded after a batch has been appended to it. */
export function foldIsDue({ pending, folded_at }: Backlog, now: number): boolean {
  const wait = pending < BUSY_EVENTS ? QUIET_WAIT_MS : BUSY_WAIT_MS;
  return pending >= FOLD_EVENTS || (pending > 0 && now - folded_at >= wait);
}

/** A place in the log: all of chunk `chunkId` and before, and `eventOffset` events of the chunk after it. */
type Position = { chunkId: number; eventOffset: number };
type Run = { from: Position; to: Position; events: LoggedEvent[] };

/**
 * Counts what the log holds beyond the cursor into the rollups, until nothing is left.
 *
 * Each run of events is one transaction whose first statement moves the cursor on from where the run began: were it moved
 * meanwhile by another fold, the whole transaction fails and counts nothing. So any number of folds may run at once, die
 * and be repeated, and every event is counted exactly once. An event that cannot be counted is parked, not waited for.
 *
 * Throws only what may go away by itself; the log keeps everything until a later fold.
 */
export async function foldLog(db: D1Database, now: number): Promise<void> {
  let limit = FOLD_EVENTS;
  for (;;) {
    const run = await nextRun(db, limit);
    if (!run) return;
    try {
      const counted = tally(run.events, await readKnown(db, run.events));
      await batchWithRetry(db, () => [moveCursor(db, run, now), ...countStatements(db, counted)]);
      limit = Math.min(FOLD_EVENTS, limit * 2);
    } catch (error) {
      if (cursorWasElsewhere(error)) continue;
      if (isTransient(error)) throw error;
      const [poison] = run.events;
      if (run.events.length > 1) limit = Math.ceil(run.events.length / 2);
      else if (poison) await parkPoison(db, run, poison, error, now);
    }
  }
}

async function parkPoison(
  db: D1Database,
  run: Run,
  poison: LoggedEvent,
  error: unknown,
  now: number,
): Promise<void> {
  try {
    await batchWithRetry(db, () => [
      moveCursor(db, run, now),
      parkEventStatement(db, poison, `could not be counted: ${String(error)}`, now),
    ]);
  } catch (failure) {
    if (!cursorWasElsewhere(failure)) throw failure;
  }
}

/** Setting a NOT NULL column to null is how a statement aborts a D1 transaction. */
function moveCursor(db: D1Database, { from, to }: Run, now: number): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE fold_cursor SET chunk_id = CASE WHEN chunk_id = ?1 AND event_offset = ?2 THEN ?3 END,
         event_offset = ?4, folded_at = ?5`,
    )
    .bind(from.chunkId, from.eventOffset, to.chunkId, to.eventOffset, now);
}

function cursorWasElsewhere(error: unknown): boolean {
  return error instanceof Error && error.message.includes('NOT NULL constraint failed: fold_cursor.chunk_id');
}

type ChunkRow = {
  id: number;
  application_id: string;
  event_ids: string;
  events: string;
  cursor_chunk: number;
  cursor_offset: number;
};

/** The next events of the log: whole chunks as far as `limit` goes, or the first `limit` events of a larger chunk. */
async function nextRun(db: D1Database, limit: number): Promise<Run | null> {
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

type KeyRow = Counted['keys'][number];
type DeviceRow = Omit<DeviceState, 'milestones'> & { milestones: string };

async function readKnown(db: D1Database, logged: readonly LoggedEvent[]): Promise<Known> {
  const events = logged.filter(isOfDevice);
  const devices = new Map(
    events.map((event) => [deviceKeyOf(event), [event.application_id, event.acquired_day, event.device_id]]),
  );
  const keys = new Map<string, [string, number, string]>();
  for (const event of events) {
    const session = sessionKey(event);
    for (const { key, days } of session ? [...keysOf(event), session] : keysOf(event)) {
      for (const day of days) {
        keys.set(scopedKey(event.application_id, day, key), [event.application_id, day, key]);
      }
    }
  }
  const [deviceRows, keyRows] = await batchWithRetry(db, () => [
    db
      .prepare(
        `SELECT application_id AS applicationId, acquired_day AS acquiredDay, devices.id, active_days AS activeDays,
           active_ages AS activeAges, paid_days AS paidDays, milestones
         FROM json_each(?1) AS wanted CROSS JOIN devices
           ON application_id = wanted.value ->> 0 AND acquired_day = wanted.value ->> 1 AND devices.id = wanted.value ->> 2`,
      )
      .bind(JSON.stringify([...devices.values()])),
    db
      .prepare(
        `SELECT application_id AS applicationId, day, idempotency_keys.key, event_id AS eventId
         FROM json_each(?1) AS wanted CROSS JOIN idempotency_keys
           ON application_id = wanted.value ->> 0 AND day = wanted.value ->> 1
             AND idempotency_keys.key = wanted.value ->> 2`,
      )
      .bind(JSON.stringify([...keys.values()])),
  ]);
  return {
    devices: new Map(
      ((deviceRows?.results ?? []) as DeviceRow[]).map((row) => [
        deviceKey(row),
        { ...row, milestones: JSON.parse(row.milestones) },
      ]),
    ),
    keys: new Map(
      ((keyRows?.results ?? []) as KeyRow[]).map(({ applicationId, day, key, eventId }) => [
        scopedKey(applicationId, day, key),
        eventId,
      ]),
    ),
  };
}

const UPDATE_DEVICES = `UPDATE devices SET active_days = changed.value ->> 3, active_ages = changed.value ->> 4,
    paid_days = changed.value ->> 5, milestones = changed.value ->> 6
  FROM json_each(?1) AS changed
  WHERE application_id = changed.value ->> 0 AND acquired_day = changed.value ->> 1 AND devices.id = changed.value ->> 2`;

const INSERT_KEYS = `INSERT INTO idempotency_keys (application_id, day, key, event_id)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?1) WHERE true ON CONFLICT DO NOTHING`;

/** A fixed, small number of statements, each over one JSON parameter (or over several where the list is long). */
function countStatements(db: D1Database, counted: Counted): D1PreparedStatement[] {
  const overRows = (sql: string, rows: unknown[]) =>
    toParameters(rows).map((parameter) => db.prepare(sql).bind(parameter));
  const { daily, ads, items, custom, activity, revenue, devices, keys } = counted;
  return [
    ...[daily, ads, items, custom, activity, revenue].flatMap((additions) =>
      overRows(additionSql(additions.table satisfies RollupTable), additions.rows()),
    ),
    ...overRows(
      UPDATE_DEVICES,
      [...devices.values()].map((device) => [
        device.applicationId,
        device.acquiredDay,
        device.id,
        device.activeDays,
        device.activeAges,
        device.paidDays,
        JSON.stringify(device.milestones),
      ]),
    ),
    ...overRows(
      INSERT_KEYS,
      keys.map(({ applicationId, day, key, eventId }) => [applicationId, day, key, eventId]),
    ),
  ];
}

/** Rows as JSON arrays that each fit into one bound value; none for no rows. */
function toParameters(rows: unknown[]): string[] {
  const parameters: string[] = [];
  let part: string[] = [];
  let size = 0;
  for (const row of rows) {
    const text = JSON.stringify(row);
    if (size + text.length > MAX_PARAMETER_BYTES && part.length > 0) {
      parameters.push(`[${part.join(',')}]`);
      part = [];
      size = 0;
    }
    part.push(text);
    size += text.length + 1;
  }
  if (part.length > 0) parameters.push(`[${part.join(',')}]`);
  return parameters;
}
