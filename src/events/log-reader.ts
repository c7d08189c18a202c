import { idSecond } from '#lib/ids';
import { isOfDevice, type LoggedEvent, unpack } from '#rollup';

/** Events looked at for one page: a filter that little matches must not read the whole log at once. */
const MAX_SCANNED = 10_000;
/** Chunks are read up to about this many events at a time. */
const EVENTS_A_READ = 1_000;

type ChunkRow = { application_id: string; second: number; event_ids: string; events: string };

/** The next chunks before a second, newest first: whole seconds, about as many as `?4` events need, at least one. */
const CHUNKS_BEFORE = `
  SELECT application_id, second, event_ids, events FROM event_chunks
  WHERE application_id = ?1 AND second < ?2 AND second >= (
    SELECT min(second) FROM (
      SELECT second, sum(event_count) OVER (ORDER BY second DESC, id DESC) - event_count AS newer
      FROM (SELECT id, second, event_count FROM event_chunks
            WHERE application_id = ?1 AND second < ?2 AND second >= ?3 ORDER BY second DESC, id DESC LIMIT ?4))
    WHERE newer < ?4)
  ORDER BY second DESC`;

export type EventFilter = {
  applicationId: string;
  matches: (event: LoggedEvent) => boolean;
  /** No event that matches was taken before this second. */
  earliestSecond: number;
};

/**
 * A page of events, newest first by the time they were taken. `cursor` is the id of the last event that was looked at, empty for
 * the first page; `next_cursor` is null at the end of the log. A page may be short, even empty, before the end.
 */
export async function readEvents(
  db: D1Database,
  filter: EventFilter,
  page: { limit: number; cursor: string },
) {
  const events: LoggedEvent[] = [];
  let { cursor } = page;
  let before = cursor === '' ? Number.MAX_SAFE_INTEGER : idSecond(cursor) + 1;
  for (let scanned = 0; scanned < MAX_SCANNED; ) {
    const { results } = await db
      .prepare(CHUNKS_BEFORE)
      .bind(filter.applicationId, before, filter.earliestSecond, EVENTS_A_READ)
      .all<ChunkRow>();
    const oldest = results.at(-1);
    if (!oldest) return { events, next_cursor: null };
    before = oldest.second;
    const newestFirst = results.flatMap(unpack).sort((left, right) => (left.id < right.id ? 1 : -1));
    for (const event of newestFirst) {
      if (cursor !== '' && event.id >= cursor) continue;
      scanned++;
      cursor = event.id;
      if (!filter.matches(event)) continue;
      events.push(event);
      if (events.length === page.limit) return { events, next_cursor: cursor };
    }
  }
  return { events, next_cursor: cursor };
}

/** Those of these events whose device is not erased; a click is of no device. */
export async function withoutErased(db: D1Database, events: readonly LoggedEvent[]): Promise<LoggedEvent[]> {
  const wanted = new Map(
    events
      .filter(isOfDevice)
      .map((event) => [event.device_id, [event.application_id, event.acquired_day, event.device_id]]),
  );
  const { results } = await db
    .prepare(
      `SELECT devices.id FROM json_each(?1) AS wanted CROSS JOIN devices
         ON application_id = wanted.value ->> 0 AND acquired_day = wanted.value ->> 1 AND devices.id = wanted.value ->> 2`,
    )
    .bind(JSON.stringify([...wanted.values()]))
    .all<{ id: string }>();
  const known = new Set(results.map(({ id }) => id));
  return events.filter((event) => !isOfDevice(event) || known.has(event.device_id));
}
