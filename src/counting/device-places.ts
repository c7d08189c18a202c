import { sql } from 'drizzle-orm';
import { isOfDevice, type LoggedEvent, type OsFamily } from '#catalogue';
import type { Placed, StoredEvent } from '#lake';
import { devices } from './schema.ts';
import { type Store, toParameters } from './store.ts';

type Row = [id: string, country: string | null, os: OsFamily | null];

/**
 * Adds the country and OS of their devices to events and leaves out those of erased devices. An event of a creative has its own and is
 * unchanged.
 */
export function withPlaces(store: Store, events: readonly StoredEvent[]): StoredEvent[] {
  const places = placesOf(store, new Set(events.flatMap((event) => deviceIdOf(event) ?? [])));
  return events.flatMap((event) => {
    const deviceId = deviceIdOf(event);
    if (deviceId === null) return [event];
    const place = places.get(deviceId);
    return place ? [{ ...event, ...place }] : [];
  });
}

const deviceIdOf = (event: LoggedEvent): string | null => (isOfDevice(event) ? event.device_id : null);

/** Country and OS of these devices at their acquisition. Erased devices are missing. */
function placesOf(store: Store, ids: Iterable<string>): Map<string, Placed> {
  const places = new Map<string, Placed>();
  for (const parameter of toParameters(ids)) {
    const rows = store.values<Row>(sql`
      SELECT ${devices.id}, ${devices.description} ->> 'country', ${devices.description} ->> 'os'
      FROM json_each(${parameter}) AS wanted CROSS JOIN ${devices} ON ${devices.id} = wanted.value`);
    for (const [id, country, os] of rows) {
      places.set(id, { ...(country ? { country } : {}), ...(os ? { os_family: os } : {}) });
    }
  }
  return places;
}
