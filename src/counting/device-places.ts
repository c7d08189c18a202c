import { sql } from 'drizzle-orm';
import { isOfDevice, type LoggedEvent, type OsFamily } from '#catalogue';
import type { Placed, StoredEvent } from '#lake';
import { devices } from './schema.ts';
import { type Store, toParameters } from './store.ts';

type Row = [id: string, country: string | null, os: OsFamily | null];

/** About 100 bytes each. */
const MAX_KNOWN = 20_000;

/**
 * The country and OS of devices at their acquisition, each looked up once. A device that is erased afterwards is still known, so do not keep
 * this for longer than one read of the log.
 */
export class DevicePlaces {
  private readonly store: Store;
  /** Null for an erased device. */
  private readonly known = new Map<string, Placed | null>();
  /** Thousands of devices share a few dozen places. */
  private readonly places = new Map<string, Placed>();

  constructor(store: Store) {
    this.store = store;
  }

  /**
   * Adds the country and OS of their devices to events and leaves out those of erased devices. Changes the events. An event of a creative has
   * its own and stays unchanged.
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
      const rows = this.store.values<Row>(sql`
        SELECT ${devices.id}, ${devices.description} ->> 'country', ${devices.description} ->> 'os'
        FROM json_each(${parameter}) AS wanted CROSS JOIN ${devices} ON ${devices.id} = wanted.value`);
      for (const [id, country, os] of rows) {
        this.known.set(id, this.placeOf(country, os));
        wanted.delete(id);
      }
    }
    for (const id of wanted) this.known.set(id, null);
  }

  private placeOf(country: string | null, os: OsFamily | null): Placed {
    const name = `${country} ${os}`;
    const place = this.places.get(name) ?? {
      ...(country ? { country } : {}),
      ...(os ? { os_family: os } : {}),
    };
    this.places.set(name, place);
    return place;
  }
}

/** See `DevicePlaces.addTo`. */
export const withPlaces = (store: Store, events: readonly StoredEvent[]): StoredEvent[] =>
  new DevicePlaces(store).addTo(events);

const deviceIdOf = (event: LoggedEvent): string | null => (isOfDevice(event) ? event.device_id : null);
