import { type DeviceEvent, kindOf } from '#catalogue';

// How repeats are recognised: an event is a repeat when any of its keys has been counted before.

/** The day of keys that match whenever they come. */
const ANY_DAY = 0;

/** Under what an event is remembered (`days[0]`), and the days on which an earlier event under that key makes it a repeat. */
export type EventKey = { key: string; days: readonly [number, ...number[]] };

export const scopedKey = (applicationId: string, day: number, key: string) =>
  `${applicationId}/${day}/${key}`;

/** The keys of an event: those of a kind that keeps them match whenever they come, others on the day of `created_at` and its neighbours. */
export function keysOf(event: DeviceEvent): EventKey[] {
  const day = event.key_day ?? ANY_DAY;
  const matchesAnyDay = day === ANY_DAY || kindOf(event).keepsKeys;
  const days: EventKey['days'] = matchesAnyDay ? [ANY_DAY] : [day, day - 1, day + 1];
  return (event.keys ?? []).map((key) => ({ key, days }));
}

/** The key of what counts once however many events tell of it. */
export const partKey = (key: string): EventKey => ({ key, days: [ANY_DAY] });
