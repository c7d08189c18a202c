import { sql } from 'drizzle-orm';
import { isOfDevice, type LoggedEvent, type Segment } from '#catalogue';
import type { DeviceDescription } from '../api.ts';
import { devices } from '../schema.ts';
import { type Store, toParameters } from '../store.ts';

/** What a counter knows of a device besides its events. */
export type OutboundDevice = Pick<DeviceDescription, 'osSystem' | 'timezone' | 'consent'> & {
  segment: Segment;
  /** What is stored of an `Attribution`. */
  attribution: { method?: string; click_id?: string; click_params?: Record<string, string> };
};

/** A counted event that a destination is sent. `type` is the entry of its `events` that matched. The device is null for a payment without one. */
export type OutboundItem = { type: string; event: LoggedEvent; device: OutboundDevice | null };

/** What a counter sends to a destination, in the order in which it was counted: events, or a device to be forgotten. */
export type OutboundPart = { events: OutboundItem[] } | { erased: string };

/** The device of an event; empty for a payment without one. */
export const deviceOf = ({ event }: Pick<OutboundItem, 'event'>): string =>
  isOfDevice(event) ? event.device_id : '';

/** A part without the events of a device; null for one that has no events. */
export const withoutDevice = (part: OutboundPart, deviceId: string): OutboundPart | null =>
  'events' in part ? { events: part.events.filter((item) => deviceOf(item) !== deviceId) } : null;

type StoredAttribution = {
  method?: string;
  click_id?: string | null;
  click_params?: Record<string, string>;
};

/** What is known of some devices, by id. Erased ones are missing. */
export function readOutboundDevices(store: Store, ids: Iterable<string>): Map<string, OutboundDevice> {
  const found = new Map<string, OutboundDevice>();
  for (const parameter of toParameters(ids)) {
    const rows = store.values<[id: string, description: string, attribution: string]>(sql`
      SELECT ${devices.id}, ${devices.description}, ${devices.attribution}
      FROM json_each(${parameter}) AS wanted CROSS JOIN ${devices} ON ${devices.id} = wanted.value`);
    for (const [id, description, stored] of rows) {
      const { osSystem, timezone, segment, consent }: DeviceDescription = JSON.parse(description);
      const { method, click_id, click_params }: StoredAttribution = JSON.parse(stored);
      const attribution = {
        ...(method === undefined ? {} : { method }),
        ...(click_id == null ? {} : { click_id }),
        ...(click_params === undefined ? {} : { click_params }),
      };
      found.set(id, { osSystem, timezone, segment, consent, attribution });
    }
  }
  return found;
}
