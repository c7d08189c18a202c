/** Who is told of an outage of the database, as JSON that only the caller reads, by the id of their channel. */
export type RememberedChannels = Record<string, string>;

/** Channels that are still to be told of something, and since when the database did not respond (epoch milliseconds). */
export type ToTell = { state: 'fired' | 'resolved'; since: number; channels: RememberedChannels };

type Memory = { channels: RememberedChannels; failingSince: number | null; told: string[] };

const KEY = 'database outage';
/** A deployment or a moment without an answer is no outage. */
const OUTAGE_MS = 3 * 60_000;

/**
 * What the cron's minute found: the channels, or null if the database did not respond. Remembers the former for the latter. Returns who is to be told
 * of what, again until `forgetTold`.
 */
export function noteDatabase(
  storage: DurableObjectStorage,
  channels: RememberedChannels | null,
  now: number,
): ToTell | null {
  const before = storage.kv.get<Memory>(KEY) ?? { channels: {}, failingSince: null, told: [] };
  const after = next(before, channels, now);
  if (JSON.stringify(after) !== JSON.stringify(before)) storage.kv.put(KEY, after);
  const { failingSince, told } = after;
  if (failingSince === null) return null;
  const isOver = channels !== null;
  if (!isOver && now - failingSince < OUTAGE_MS) return null;
  const wanted = Object.entries(after.channels).filter(([id]) => told.includes(id) === isOver);
  if (wanted.length === 0) return null;
  return { state: isOver ? 'resolved' : 'fired', since: failingSince, channels: Object.fromEntries(wanted) };
}

/** Channels that were told of the outage are remembered until they were told of its end. */
function next(before: Memory, channels: RememberedChannels | null, now: number): Memory {
  if (channels === null) return { ...before, failingSince: before.failingSince ?? now };
  if (before.failingSince === null || before.told.length === 0)
    return { channels, failingSince: null, told: [] };
  return before;
}

/** Records that channels were told of an outage, or of its end. */
export function noteTold(
  storage: DurableObjectStorage,
  state: ToTell['state'],
  ids: readonly string[],
): void {
  const memory = storage.kv.get<Memory>(KEY);
  if (!memory) return;
  const told = state === 'fired' ? [...memory.told, ...ids] : memory.told.filter((id) => !ids.includes(id));
  storage.kv.put(KEY, { ...memory, told });
}

const HEARTBEAT = 'heartbeat';

/** The latest time (epoch milliseconds) that `keepHeartbeat` got; null if none. */
export const readHeartbeat = (storage: DurableObjectStorage): number | null =>
  storage.kv.get<number>(HEARTBEAT) ?? null;

/** Idempotent, and never sets the time back. */
export function keepHeartbeat(storage: DurableObjectStorage, at: number): void {
  storage.kv.put(HEARTBEAT, Math.max(at, readHeartbeat(storage) ?? 0));
}
