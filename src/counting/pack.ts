import { findKind, isOfDevice, keepsKeys, type LoggedEvent } from '#catalogue';
import { chunksBySize, chunksOf } from '#lib/collections/chunks';
import { idToBytes } from '#lib/ids';
import { murmur128 } from '#lib/murmur';
import { dayNumber } from '#lib/time';
import { type EventWithText, eventText } from '#rollup';
import type { PackedBatch, PackedRow } from './api.ts';
import { hashOfDevice } from './devices/device-pages.ts';
import { WordColumns } from './word-columns.ts';

/** A value may have 2 MB, and a character takes at most three bytes. */
const MAX_ROW_CHARACTERS = 600_000;
const MAX_ROW_EVENTS = 1_000;

/** Pseudo-days of keys that match at any time. Other keys have the day of their event, which is 14,610 or later. */
export const KEY_DAY = { any: 0, session: -1, purchase: -2 } as const;

const KEYS = new WordColumns(['event', 'day', 'hash_1', 'hash_2', 'hash_3', 'hash_4']);
/** Words per key: its event's index in the row, the day, and four words of hash. */
export const KEY_WORDS = KEYS.width;

/** Packs events of one application for its counter. Ids must come from `newId`. */
export const packEvents = (applicationId: string, events: readonly LoggedEvent[]): PackedBatch =>
  packTexts(
    applicationId,
    events.map((event) => ({ event, text: eventText(event) })),
  );

/** As `packEvents`, for events whose texts are known. */
export function packTexts(applicationId: string, events: readonly EventWithText[]): PackedBatch {
  const rows = chunksBySize(events, MAX_ROW_CHARACTERS, ({ text }) => text.length + 1).flatMap((own) =>
    Array.from(chunksOf(own, MAX_ROW_EVENTS), packRow),
  );
  return { applicationId, rows };
}

/** The events of a row, complete with the values that the row stores separately; null for events of erased devices. */
export function unpackEvents(applicationId: string, events: string): (LoggedEvent | null)[] {
  const unpacked: (LoggedEvent | null)[] = JSON.parse(events);
  for (const event of unpacked) if (event) event.application_id = applicationId;
  return unpacked;
}

const DEVICES = new WordColumns(['acquired_day', 'hash_1', 'hash_2']);
/** Words per event for its device: the number of the acquisition day, and two words of hash. All 0 for an event of a creative. */
export const DEVICE_WORDS = DEVICES.width;

function packRow(packed: readonly EventWithText[]): PackedRow {
  const events = packed.map(({ event }) => event);
  const ids = new Uint8Array(events.length * 16);
  let receivedAt = Number.POSITIVE_INFINITY;
  for (const [index, event] of events.entries()) {
    ids.set(idToBytes(event.id), index * 16);
    receivedAt = Math.min(receivedAt, event.received_at);
  }
  const keys = KEYS.write(hashAllKeys(events));
  return {
    count: events.length,
    ids,
    events: `[${packed.map(({ text }) => text).join(',')}]`,
    keys,
    devices: DEVICES.write(hashDevices(events)),
    receivedAt,
  };
}

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
