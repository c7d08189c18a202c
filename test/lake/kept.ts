import type { LoggedEvent } from '../../src/rollup/event.ts';

/** What files keep of an event: neither its token nor, unless it is a purchase, its keys. */
export function kept<Event extends LoggedEvent>(event: Event): Event {
  const {
    token_id: _token,
    keys,
    key_day,
    ...rest
  } = event as Event & { token_id?: string; keys?: string[]; key_day?: number };
  if (event.type !== 'custom.purchase') return rest as unknown as Event;
  return {
    ...rest,
    ...(keys ? { keys } : {}),
    ...(key_day === undefined ? {} : { key_day }),
  } as unknown as Event;
}
