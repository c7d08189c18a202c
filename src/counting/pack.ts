import { findKind, isOfDevice, keepsKeys, type LoggedEvent } from '#catalogue';
import { idToBytes } from '#lib/ids';
import { murmur128 } from '#lib/murmur';
import { dayNumber } from '#lib/time';
import { eventText, keysOf } from '#rollup';
import type { PackedBatch, PackedRow } from './api.ts';
import { hashOfDevice } from './devices/device-pages.ts';

/** A value may have 2 MB, and a character takes at most three bytes. */
const MAX_ROW_CHARACTERS = 600_000;
const MAX_ROW_EVENTS = 1_000;

/** Pseudo-days of keys that match at any time. Other keys have the day of their event, which is 14,610 or later. */
export const KEY_DAY = { any: 0, session: -1, purchase: -2 } as const;

/** Words per key: its event's index in the row, the day, and four words of hash. */
export const KEY_WORDS = 6;

/** An event, and its text as the log stores it: see `eventText`. */
export type EventWithText = { event: LoggedEvent; text: string };

/** Packs events of one application for its counter. Ids must come from `newId`. */
export const packEvents = (applicationId: string, events: readonly LoggedEvent[]): PackedBatch =>
  packTexts(
    applicationId,
    events.map((event) => ({ event, text: eventText(event) })),
  );

/** As `packEvents`, for events whose texts are known. */
export function packTexts(applicationId: string, events: readonly EventWithText[]): PackedBatch {
  const rows: PackedRow[] = [];
  let texts: string[] = [];
  let members: LoggedEvent[] = [];
  let characters = 0;
  const close = () => {
    if (members.length > 0) rows.push(packRow(members, `[${texts.join(',')}]`));
    [texts, members, characters] = [[], [], 0];
  };
  for (const { event, text } of events) {
    if (characters + text.length > MAX_ROW_CHARACTERS || members.length === MAX_ROW_EVENTS) close();
    texts.push(text);
    members.push(event);
    characters += text.length + 1;
  }
  close();
  return { applicationId, rows };
}

/** The events of a row, complete with the values that the row stores separately; null for events of erased devices. */
export function unpackEvents(applicationId: string, events: string): (LoggedEvent | null)[] {
  const unpacked: (LoggedEvent | null)[] = JSON.parse(events);
  for (const event of unpacked) if (event) event.application_id = applicationId;
  return unpacked;
}

/** Words per event for its device: the number of the acquisition day, and two words of hash. All 0 for an event of a creative. */
export const DEVICE_WORDS = 3;

function packRow(events: readonly LoggedEvent[], text: string): PackedRow {
  const ids = new Uint8Array(events.length * 16);
  const words: number[] = [];
  const devices = new Int32Array(events.length * DEVICE_WORDS);
  let receivedAt = Number.POSITIVE_INFINITY;
  for (const [index, event] of events.entries()) {
    ids.set(idToBytes(event.id), index * 16);
    receivedAt = Math.min(receivedAt, event.received_at);
    for (const key of hashKeys(event)) words.push(index, ...key);
    if (!isOfDevice(event)) continue;
    const [high, low] = hashOfDevice(event.device_id);
    const at = index * DEVICE_WORDS;
    devices[at] = dayNumber(event.acquired_day);
    devices[at + 1] = high;
    devices[at + 2] = low;
  }
  return {
    count: events.length,
    ids,
    events: text,
    keys: new Uint8Array(Int32Array.from(words).buffer),
    devices: new Uint8Array(devices.buffer),
    receivedAt,
  };
}

/** `[day, ...hash]` of each key of an event and of its parts. */
function hashKeys(event: LoggedEvent): number[][] {
  if (!isOfDevice(event) || event.test) return [];
  const keys: number[][] = keysOf(event).map(({ key, days }) => [
    keepsKeys(event) ? KEY_DAY.purchase : days[0],
    ...murmur128(key),
  ]);
  for (const key of findKind(event)?.partKeys?.(event) ?? []) keys.push([KEY_DAY.session, ...murmur128(key)]);
  return keys;
}
