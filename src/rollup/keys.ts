import { keepsKeys, type LoggedEvent } from '#catalogue';

// How duplicates are recognized: an event is a duplicate if any of its keys was counted before.

/** The day of keys that match at any time. */
const ANY_DAY = 0;

/** An event is stored under `key` and `days[0]`. An earlier event with the same key on any of `days` makes it a duplicate. */
export type EventKey = { key: string; days: readonly [number, ...number[]] };

export const scopedKey = (applicationId: string, day: number, key: string) =>
  `${applicationId}/${day}/${key}`;

/** The keys of an event. If its kind keeps keys, they match at any time; others match on the day of `created_at` and its neighbours. */
export function keysOf(event: LoggedEvent): EventKey[] {
  const day = ('key_day' in event && event.key_day) || ANY_DAY;
  const matchesAnyDay = day === ANY_DAY || keepsKeys(event);
  const days: EventKey['days'] = matchesAnyDay ? [ANY_DAY] : [day, day - 1, day + 1];
  return (('keys' in event && event.keys) || []).map((key) => ({ key, days }));
}

/** The key of something that counts once across several events. */
export const partKey = (key: string): EventKey => ({ key, days: [ANY_DAY] });
