import { inArray, sql } from 'drizzle-orm';
import {
  DEVICE_DIMENSIONS,
  isOfDevice,
  type LoggedEvent,
  ofDimensions,
  ownValuesOf,
  SEGMENT,
  type Segment,
  UNKNOWN_SEGMENT,
  withOwnValues,
} from '#catalogue';
import { type FileEntry, mayHoldId, type StoredDeviceEvent, type StoredEvent } from '#lake';
import { idTime } from '#lib/ids';
import { consentIn } from '#networks';
import { firstTimes, PARK_REASON } from '#rollup';
import type { NewDevice } from '../api.ts';
import { findCounted } from '../devices/device-pages.ts';
import { findKnown, insertDevice } from '../devices/devices.ts';
import { findErased } from '../devices/unknown-devices.ts';
import { erasures } from '../schema.ts';
import { type ObjectStore, toParameters } from '../store.ts';
import { addErasures } from './file-erasures.ts';

// Events of raw event files that are newer than the copy from which a counter was restored.

/** Creates the devices of events that this counter does not know, except erased ones. Call it in a transaction. */
export function createMissing(store: ObjectStore, events: readonly StoredEvent[]): void {
  const byDevice = Map.groupBy(
    events.filter((event): event is StoredDeviceEvent => isOfDevice(event)),
    (event) => event.device_id,
  );
  const known = findKnown(store, byDevice.keys());
  const erased = findErased(store, byDevice.keys());
  for (const [id, own] of byDevice) {
    const first = own.find(({ type }) => type === 'install') ?? own[0];
    if (first && !known.has(id) && !erased.has(id)) insertDevice(store, null, deviceOf(first));
  }
}

/** What an event tells about its device: an install, its description, too. Why it was attributed is not in raw events. */
const deviceOf = (event: StoredDeviceEvent): NewDevice => ({
  id: event.device_id,
  acquiredDay: event.acquired_day,
  acquiredAt: event.occurred_at,
  creativeId: event.creative_id,
  description: {
    deviceName: event.device?.device_name ?? '',
    deviceModel: event.device?.device_model ?? '',
    osSystem: event.device?.os_system ?? '',
    timezone: '',
    segment: acquiredSegmentOf(event),
    countrySource: null,
    ...{ dpi: null, windowHeight: null, windowWidth: null },
    test: event.test === true,
    consent: consentIn(event.device),
  },
  attribution: JSON.stringify({ creative_id: event.creative_id }),
});

function acquiredSegmentOf(event: StoredDeviceEvent): Segment {
  const placed = ofDimensions(DEVICE_DIMENSIONS, (name) => event[SEGMENT[name].field] ?? '');
  const device: Segment = { ...UNKNOWN_SEGMENT, ...placed };
  return withOwnValues(device, ownValuesOf(event, device));
}

function erasedAmong(store: ObjectStore, ids: Iterable<string>): Set<string> {
  const found = new Set<string>();
  for (const parameter of toParameters(ids)) {
    const rows = store
      .select({ id: erasures.id })
      .from(erasures)
      .where(inArray(erasures.id, sql`(SELECT value FROM json_each(${parameter}))`))
      .all();
    for (const { id } of rows) found.add(id);
  }
  return found;
}

/**
 * The events that were counted when they were exported, and that a copy may lack. Ids of events are remembered (`SeenIds`) except those of
 * installs: an install is missing if its device has not reached that step.
 */
export function uncountedOf(
  store: ObjectStore,
  events: readonly StoredEvent[],
  since: number,
): LoggedEvent[] {
  const counted = events.filter(({ outcome }) => outcome === undefined);
  const acquired = new Map(
    counted.flatMap((event) =>
      isOfDevice(event) && event.type === 'install' ? [[event.device_id, event.acquired_day]] : [],
    ),
  );
  const { found } = findCounted(store, acquired);
  const isInstalled = (id: string) => {
    const steps = found.get(id)?.history.steps ?? null;
    return Object.hasOwn(firstTimes(steps), 'install');
  };
  const erased = erasedAmong(
    store,
    counted.flatMap((event) => (isOfDevice(event) ? [event.device_id] : [event.id])),
  );
  return counted.filter((event) => {
    if (erased.has(isOfDevice(event) ? event.device_id : event.id)) return false;
    if (isOfDevice(event) && event.type === 'install') return !isInstalled(event.device_id);
    return idTime(event.id) >= since;
  });
}

/** The events that were parked because the counter had lost what it knew of their devices, except those of erased ones. */
export function parkedAsUnknown(store: ObjectStore, events: readonly StoredEvent[]): StoredEvent[] {
  const parked = events.filter(
    ({ outcome, reason }) => outcome === 'parked' && reason === PARK_REASON.unknownDevice,
  );
  const erased = findErased(
    store,
    parked.flatMap((event) => (isOfDevice(event) ? [event.device_id] : [])),
  );
  return parked
    .filter((event) => !isOfDevice(event) || !erased.has(event.device_id))
    .map(({ outcome: _, reason: __, ...event }) => event as StoredEvent);
}

/** Records what is erased and may still be in a file that is listed again. Call it in a transaction. */
export function eraseAgain(store: ObjectStore, entry: FileEntry): void {
  const all = store.select({ id: erasures.id }).from(erasures).all();
  addErasures(
    store,
    entry.key,
    all.flatMap(({ id }) => (mayHoldId(entry, id) ? [id] : [])),
  );
}
