import type { DeviceEvent } from './event.ts';

// How repeats are recognised: an event is a repeat when any of its keys has been counted before.

/** The day of keys that match whenever they come. */
const ANY_DAY = 0;

/** Under what an event is remembered (`days[0]`), and the days on which an earlier event under that key makes it a repeat. */
export type EventKey = { key: string; days: readonly [number, ...number[]] };

export const scopedKey = (applicationId: string, day: number, key: string) =>
  `${applicationId}/${day}/${key}`;

/** The keys of an event: a purchase's match whenever they come, any other's on the day of its `created_at` and its neighbours. */
export function keysOf(event: DeviceEvent): EventKey[] {
  const day = event.key_day ?? ANY_DAY;
  const days: EventKey['days'] =
    event.type === 'custom.purchase' || day === ANY_DAY ? [ANY_DAY] : [day, day - 1, day + 1];
  return (event.keys ?? []).map((key) => ({ key, days }));
}

const SESSION = 's';
const SESSION_END = 'se';

/** Repeats of one `session_id` by one device are one session; null where every event is its own. */
export const sessionKey = (event: DeviceEvent): EventKey | null => keyOfSession(event, SESSION);

/** Repeats of the end of one session add its length once; null where it has no `session_id` or is no end. */
export const sessionEndKey = (event: DeviceEvent): EventKey | null =>
  event.type === 'retention' && event.session_end ? keyOfSession(event, SESSION_END) : null;

function keyOfSession(event: DeviceEvent, kind: string): EventKey | null {
  if (event.type !== 'retention' || !event.session_id) return null;
  return { key: `${kind}:${event.device_id}:${event.session_id}`, days: [ANY_DAY] };
}
