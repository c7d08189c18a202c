import { findKind, isOfDevice, keepsKeys, type LoggedEvent } from '#catalogue';
import { murmur128 } from '#lib/murmur';
import { dayNumber } from '#lib/time';
import type { PackedRow } from './api.ts';
import { WordColumns } from './word-columns.ts';

// What a row of the log says of its events, so that a counter need not parse them: the hashes of their keys and devices, packed as words.

/** Pseudo-days of keys that match at any time. Other keys have the day of their event, which is 14,610 or later. */
export const KEY_DAY = { any: 0, session: -1, purchase: -2 } as const;

const KEYS = new WordColumns(['event', 'day', 'hash_1', 'hash_2', 'hash_3', 'hash_4']);
/** Words per key: its event's index in the row, the day, and four words of hash. */
export const KEY_WORDS = KEYS.width;

const DEVICES = new WordColumns(['acquired_day', 'hash_1', 'hash_2']);
/** Words per event for its device: the number of the acquisition day, and two words of hash. All 0 for an event of a creative. */
export const DEVICE_WORDS = DEVICES.width;

/** Decides the page of a device, and tells devices of a run apart. */
export const hashOfDevice = (id: string): [high: number, low: number] => {
  const [high, low] = murmur128(id);
  return [high, low];
};

/** The words of a row with these events. */
export const wordsOf = (events: readonly LoggedEvent[]): Hashed => ({
  keys: KEYS.write(hashAllKeys(events)),
  devices: DEVICES.write(hashDevices(events)),
});

type Hashed = { keys: Uint8Array; devices: Uint8Array };

/** The words of a row's keys. Hashes them again if another release wrote them without a column; `events` is the row's text. */
export const keyWordsOf = ({ keys }: Pick<Hashed, 'keys'>, events: () => string): Uint32Array =>
  KEYS.read(keys) ?? hashAllKeys(JSON.parse(events()));

/** The words of the devices of a row's events, in the same way. */
export const deviceWordsOf = ({ devices }: Pick<Hashed, 'devices'>, events: () => string): Uint32Array =>
  DEVICES.read(devices) ?? hashDevices(JSON.parse(events()));

/** The row with other words. */
export const withWords = (row: PackedRow, keys: Uint32Array, devices: Uint32Array): PackedRow => ({
  ...row,
  keys: KEYS.write(keys),
  devices: DEVICES.write(devices),
});

function hashAllKeys(events: readonly (LoggedEvent | null)[]): Uint32Array {
  const words: number[] = [];
  for (const [index, event] of events.entries()) {
    if (event) for (const key of hashKeys(event)) words.push(index, ...key);
  }
  return Uint32Array.from(words);
}

function hashDevices(events: readonly (LoggedEvent | null)[]): Uint32Array {
  const devices = new Uint32Array(events.length * DEVICE_WORDS);
  for (const [index, event] of events.entries()) {
    if (!event || !isOfDevice(event)) continue;
    const [high, low] = hashOfDevice(event.device_id);
    const at = index * DEVICE_WORDS;
    devices[at] = dayNumber(event.acquired_day);
    devices[at + 1] = high;
    devices[at + 2] = low;
  }
  return devices;
}

/** `[day, ...hash]` of each key of an event and of its parts. */
function hashKeys(event: LoggedEvent): number[][] {
  if (isOfDevice(event) && event.test) return [];
  const day = keepsKeys(event) ? KEY_DAY.purchase : ('key_day' in event && event.key_day) || KEY_DAY.any;
  const sent = ('keys' in event && event.keys) || [];
  const keys: number[][] = sent.map((key) => [day, ...murmur128(key)]);
  for (const key of findKind(event)?.partKeys?.(event) ?? []) keys.push([KEY_DAY.session, ...murmur128(key)]);
  return keys;
}
