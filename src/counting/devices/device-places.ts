import { sql } from 'drizzle-orm';
import { DEVICE_DIMENSIONS, isOfDevice, type LoggedEvent, SEGMENT, type Segment } from '#catalogue';
import type { Placed, StoredEvent } from '#lake';
import { devices } from '../schema.ts';
import { type ObjectStore, toParameters } from '../store.ts';
import { findErased } from './unknown-devices.ts';

type SegmentRow = [id: string, segment: string | null];

/** About 100 bytes each. */
const MAX_KNOWN = 20_000;

/**
 * What raw events tell of their devices (`DEVICE_DIMENSIONS`), each device looked up once. A device that is erased afterwards is still known, so do not keep
 * this for longer than one read of the log.
 */
export class DevicePlaces {
  private readonly store: ObjectStore;
  /** Null for an erased device. */
  private readonly known = new Map<string, Placed | null>();
  /** Thousands of devices share a few dozen places. */
  private readonly places = new Map<string, Placed>();

  constructor(store: ObjectStore) {
    this.store = store;
  }

  /**
   * Adds what events tell of their devices and leaves out events of erased devices. Changes the events. An event of a creative has
   * its own and stays unchanged, and so does one of a device that is unknown.
   */
  addTo(events: readonly StoredEvent[]): StoredEvent[] {
    this.lookUp(events);
    const added: StoredEvent[] = [];
    for (const event of events) {
      const deviceId = deviceIdOf(event);
      if (deviceId === null) added.push(event);
      else {
        const place = this.known.get(deviceId);
        if (place) added.push(Object.assign(event, place));
      }
    }
    return added;
  }

  private lookUp(events: readonly LoggedEvent[]): void {
    if (this.known.size > MAX_KNOWN) this.known.clear();
    const wanted = new Set<string>();
    for (const event of events) {
      const deviceId = deviceIdOf(event);
      if (deviceId && !this.known.has(deviceId)) wanted.add(deviceId);
    }
    for (const parameter of toParameters(wanted)) {
      const rows = this.store.values<SegmentRow>(sql`
        SELECT ${devices.id}, ${devices.description} -> 'segment'
        FROM json_each(${parameter}) AS wanted CROSS JOIN ${devices} ON ${devices.id} = wanted.value`);
      for (const [id, segment] of rows) {
        this.known.set(id, this.placeOf(segment ?? '{}'));
        wanted.delete(id);
      }
    }
    const erased = findErased(this.store, wanted);
    for (const id of wanted) this.known.set(id, erased.has(id) ? null : {});
  }

  /** `text` is a segment as JSON. */
  private placeOf(text: string): Placed {
    const known = this.places.get(text);
    if (known) return known;
    const segment: Partial<Segment> = JSON.parse(text);
    const told = DEVICE_DIMENSIONS.flatMap((name) =>
      segment[name] ? [[SEGMENT[name].field, segment[name]]] : [],
    );
    const place: Placed = Object.fromEntries(told);
    this.places.set(text, place);
    return place;
  }
}

/** See `DevicePlaces.addTo`. */
export const withPlaces = (store: ObjectStore, events: readonly StoredEvent[]): StoredEvent[] =>
  new DevicePlaces(store).addTo(events);

const deviceIdOf = (event: LoggedEvent): string | null => (isOfDevice(event) ? event.device_id : null);
