import { isOfDevice, type LoggedEvent, sentKeyOf } from '../../src/catalogue/index.ts';

type Dropped = { token_id?: string; keys?: string[]; key_day?: number };

/** What the files of a shard keep of an event: neither its token nor, unless it is a purchase, its keys, but the id that its client gave it. */
export function kept<Event extends LoggedEvent>(event: Event, shard: number): Event {
  const { token_id, keys, key_day, ...rest } = event as Event & Dropped;
  // What was parked may be counted later.
  const isParked = 'outcome' in event && event.outcome === 'parked';
  const ofPurchase = { ...(keys ? { keys } : {}), ...(key_day === undefined ? {} : { key_day }) };
  const sent = isOfDevice(event) ? sentKeyOf(event, 'event_id') : undefined;
  return {
    ...rest,
    ...(sent === undefined ? {} : { client_event_id: sent }),
    ...(event.type === 'custom.purchase' || isParked ? ofPurchase : {}),
    ...(isParked && token_id !== undefined ? { token_id } : {}),
    ...(event.type === 'click' || shard === 0 ? {} : { shard }),
  } as unknown as Event;
}
