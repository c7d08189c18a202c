import { deviceIdIn, type LoggedEvent, shardOf } from '#catalogue';
import { counterOf, type LogPage } from '#counting';
import { givingWay } from '#http';
import {
  type EventFilter,
  type FileEntry,
  MissingFileError,
  missingAmong,
  readEvents as readFileEvents,
} from '#lake';
import { inParallel } from '#lib/collections/in-parallel';
import { idAfter } from '#lib/ids';
import { logError } from '#lib/log';

export type EventBindings = Pick<Env, 'COUNTERS' | 'RAW_EVENTS'>;

/** The counters of an application in which to look for events. */
export type EventSource = { applicationId: string; shards: readonly number[] };

/** Counters called in parallel. The platform allows six connections. */
export const ASKED_AT_ONCE = 6;
/** A file that is rewritten while it is read is found again under its new name. */
const MAX_ATTEMPTS = 10;

/**
 * One page of raw events of all shards, from the hot logs and the files in R2, newest first by event id, which is the order of receipt.
 * `cursor` is empty for the first page; `next_cursor` is null on the last page. Any page before it may be short or even empty, because the
 * work per page is bounded. Erased events are left out.
 */
export async function readEvents(
  env: EventBindings,
  place: EventSource,
  filter: EventFilter,
  { limit, cursor }: { limit: number; cursor: string },
): Promise<{ events: LoggedEvent[]; next_cursor: string | null }> {
  const before = cursor === '' ? null : cursor;
  // The logs first: an event that is exported in the meantime is then found twice rather than never.
  // One more than a page has tells whether another follows.
  const wanted = limit + 1;
  const hot = await readLogs(env, place, filter, before, wanted);
  const after = hot.events.length === wanted ? (hot.events.at(-1)?.id ?? null) : hot.through;
  const cold = await readFiles(env, place, filter, { before, after }, wanted);
  const { events, through } = mergePages([hot, cold], limit);
  return { events, next_cursor: through };
}

async function readLogs(
  env: EventBindings,
  { applicationId, shards }: EventSource,
  filter: EventFilter,
  before: string | null,
  limit: number,
): Promise<LogPage> {
  let page: LogPage = { events: [], through: null };
  await inParallel(shards, ASKED_AT_ONCE, async (shard) => {
    const own = await counterOf(env, applicationId, shard).readLog(filter, before, limit);
    page = mergePages([page, own], limit);
  });
  return page;
}

type EventIdRange = { before: string | null; after: string | null };

async function readFiles(
  env: EventBindings,
  place: EventSource,
  filter: EventFilter,
  range: EventIdRange,
  limit: number,
): Promise<LogPage> {
  const gone = new Set<string>();
  for (let attempt = 1; ; attempt++) {
    const { files, next } = await listFiles(env, place, filter, range);
    const readable = files.filter(({ key }) => !gone.has(key));
    try {
      const page = await readFileEvents(env.RAW_EVENTS, readable, filter, {
        limit,
        cursor: range.before ?? '',
        giveWay: givingWay(),
      });
      const ends = [range.after ?? [], page.next_cursor ?? [], next === null ? [] : idAfter(next)].flat();
      const events = await withoutErased(env, place, page.events);
      return { events, through: ends.sort().at(-1) ?? null };
    } catch (error) {
      if (!(error instanceof MissingFileError) || attempt === MAX_ATTEMPTS) throw error;
      // The index is read again. Files that it then still names were deleted by something else.
      if (attempt > 1) for (const key of await missingFiles(env, readable)) gone.add(key);
    }
  }
}

/** Which of some files are not in the bucket, as after it was emptied. Each is logged. */
export async function missingFiles(
  env: Pick<Env, 'RAW_EVENTS'>,
  files: readonly FileEntry[],
): Promise<Set<string>> {
  const missing = await missingAmong(
    env.RAW_EVENTS,
    files.map(({ key }) => key),
  );
  for (const key of missing) {
    logError('raw event file missing', new MissingFileError(key), { object_key: key });
  }
  return new Set(missing);
}

async function listFiles(
  env: EventBindings,
  { applicationId, shards }: EventSource,
  filter: EventFilter,
  range: EventIdRange,
): Promise<{ files: FileEntry[]; next: string | null }> {
  const files: FileEntry[] = [];
  let next: string | null = null;
  await inParallel(shards, ASKED_AT_ONCE, async (shard) => {
    const page = await counterOf(env, applicationId, shard).listFiles(filter, range);
    files.push(...page.files);
    if (page.next !== null && (next === null || page.next > next)) next = page.next;
  });
  return { files, next };
}

/** Leaves out events that were erased after the files were written. */
export async function withoutErased<Event extends LoggedEvent>(
  env: EventBindings,
  { applicationId }: Pick<EventSource, 'applicationId'>,
  events: readonly Event[],
): Promise<Event[]> {
  const byShard = Map.groupBy(events, (event) => shardOf(event));
  const erased = new Set<string>();
  await inParallel([...byShard], ASKED_AT_ONCE, async ([shard, own]) => {
    const ids = new Set(own.flatMap(idsOf));
    for (const id of await counterOf(env, applicationId, shard).erasedAmong([...ids])) erased.add(id);
  });
  return events.filter((event) => !idsOf(event).some((id) => erased.has(id)));
}

const idsOf = (event: LoggedEvent) => [event.id, deviceIdIn(event)];

/** Merges pages that start at the same event. An event that is in two of them is returned once. */
function mergePages(pages: readonly LogPage[], limit: number): LogPage {
  const through =
    pages
      .flatMap((page) => page.through ?? [])
      .sort()
      .at(-1) ?? null;
  const byId = new Map(pages.flatMap((page) => page.events).map((event) => [event.id, event]));
  const events = [...byId.values()]
    .filter(({ id }) => through === null || id >= through)
    .sort((left, right) => (left.id < right.id ? 1 : -1));
  if (events.length <= limit) return { events, through };
  const page = events.slice(0, limit);
  return { events: page, through: page.at(-1)?.id ?? null };
}
