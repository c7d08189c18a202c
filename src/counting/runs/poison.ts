import { type DeviceEvent, isOfDevice, type LoggedEvent, SegmentBook } from '#catalogue';
import { logError } from '#lib/log';
import { type DeviceHistory, Journal, reasonToIgnore, Tally, transactionsInMemory } from '#rollup';
import {
  CountedDevice,
  type LoadedDevice,
  loadCounted,
  loadNew,
  SharedValues,
} from '../devices/counted-devices.ts';
import { findCounted } from '../devices/device-pages.ts';
import { historyOf } from '../devices/device-row.ts';
import type { ObjectStore } from '../store.ts';

/** Counting this event threw an error. */
export class PoisonError extends Error {
  readonly event: LoggedEvent;
  constructor(event: LoggedEvent, cause: unknown) {
    super(`An event can't be counted: ${String(cause)}`, { cause });
    this.event = event;
  }
}

/** The stored state of these devices cannot be parsed, which was only noticed when the run was written. */
export class BrokenDevicesError extends Error {
  readonly ids: readonly string[];
  constructor(ids: readonly string[], cause: unknown) {
    super(`The state of ${ids.length} devices can't be read: ${String(cause)}`, { cause });
    this.ids = ids;
  }
}

/** A restored counter does not know some devices, which came after what it was restored from. They are created from their events. */
export class UnknownDevicesError extends Error {}

/** The ids of the events that cannot be counted. Each is counted alone, so that all of them are found at once. */
export function* findPoison(
  store: ObjectStore,
  applicationId: string,
  events: readonly LoggedEvent[],
): Generator<string> {
  const known = knownDevices(store, applicationId, events.filter(isOfDevice));
  for (const event of events) {
    try {
      countAlone(event, isOfDevice(event) ? known.get(event.device_id) : undefined);
    } catch (error) {
      // Parked messages have fixed texts. The error itself is only in the log, next to the event's id.
      logError('event parked', error, { event_id: event.id, application_id: applicationId });
      yield event.id;
    }
  }
}

type KnownDevice = { loaded: LoadedDevice; history: DeviceHistory } | 'unreadable';

function knownDevices(
  store: ObjectStore,
  applicationId: string,
  events: readonly DeviceEvent[],
): Map<string, KnownDevice> {
  const days = new Map(events.map((event) => [event.device_id, event.acquired_day]));
  const shared = new SharedValues();
  const { found, unreadable } = findCounted(store, days);
  const known = new Map<string, KnownDevice>([...unreadable].map((id) => [id, 'unreadable']));
  for (const [id, { facts, history }] of found) {
    known.set(id, { loaded: loadCounted(applicationId, days.get(id) ?? '', facts, shared), history });
  }
  const others = [...days.keys()].filter((id) => !known.has(id));
  for (const loaded of loadNew(store, applicationId, others, shared)) {
    known.set(loaded.id, { loaded, history: historyOf() });
  }
  return known;
}

function countAlone(event: LoggedEvent, known: KnownDevice | undefined): void {
  if (known === 'unreadable') throw new Error("the device's page can't be read");
  const device = known && new CountedDevice(known.loaded, new Journal());
  const own = isOfDevice(event) ? event : null;
  if (own && (!device || own.acquired_day !== device.acquiredDay || reasonToIgnore(own, device, undefined)))
    return;
  const tally = new Tally({
    deviceNamed: () => undefined,
    isFirst: () => true,
    segments: new SegmentBook(),
    transactions: transactionsInMemory(),
  });
  tally.count(event, device);
  if (own) device?.addToTotals(own);
  if (known) device?.toRows(known.history);
}
