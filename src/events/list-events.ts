import * as z from 'zod';
import {
  ATTRIBUTIONS,
  EVENT_COLUMNS,
  EVENT_TYPES,
  isOfDevice,
  type LoggedEvent,
  ofDimensions,
  SEGMENT_DIMENSIONS,
  segmentFilters,
  sentKeyOf,
  shardOf,
  shownCountry,
  storedValue,
} from '#catalogue';
import { type CountedAmount, counterOf, type ShardedApplication, shardNumbers } from '#counting';
import { findCreativeIds } from '#creatives';
import { database } from '#db';
import { readToken } from '#devices';
import { settingsOf } from '#env';
import { invalidRequest, listQuery, optionalText, repeatable, requiredText } from '#http';
import type { StoredEvent } from '#lake';
import { isId } from '#lib/ids';
import { present } from '#lib/input/present';
import { fromNanos } from '#lib/money';
import { isDay } from '#lib/time';
import type { Event } from './answers.ts';
import { readEvents } from './read-events.ts';

const day = () => requiredText(10).refine(isDay, 'must be a day, as YYYY-MM-DD').optional();

export const EventsQuery = z.object({
  application_id: requiredText(128),
  type: z.enum(EVENT_TYPES, { error: `must be one of ${EVENT_TYPES.join(', ')}` }).optional(),
  from: day(),
  to: day(),
  token: optionalText(),
  device_id: optionalText().refine(
    (id) => id === undefined || isId('dev', id),
    'must be the id of a device, as dev_…',
  ),
  event_name: optionalText(),
  campaign_id: repeatable(requiredText(128)),
  adset_id: repeatable(requiredText(128)),
  creative_id: repeatable(
    requiredText(128).refine((id) => isId('crt', id), 'must be the id of a creative, as crt_…'),
  ),
  /** As sent with the event, or the device's at its acquisition, or the click's; `unknown` matches events without one. */
  ...segmentFilters(),
  attribution: z.enum(ATTRIBUTIONS, { error: 'must be paid or organic' }).optional(),
  format: z.enum(['json', 'ndjson', 'csv'], { error: 'must be json, ndjson or csv' }).default('json'),
  ...listQuery.shape,
  cursor: z
    .string()
    .regex(/^(?:evt_[0-9a-f]{32})?$/, 'must be a cursor returned by a previous request')
    .default(''),
});
export type EventsQuery = z.infer<typeof EventsQuery>;

/** The fields of a listed event, in the order of the CSV's columns. JSON leaves out absent fields. */
export const SHOWN_COLUMNS: readonly string[] = [
  'event_id',
  'type',
  'created_at',
  'received_at',
  'day',
  'device_id',
  'acquired_day',
  'creative_id',
  'client_event_id',
  'test',
  'token_expired',
  'clock_ahead',
  ...EVENT_COLUMNS.map(({ name }) => name),
  'device',
  'warnings',
];

const RENAMED = EVENT_COLUMNS.filter(({ field, type }) => field !== undefined || type === 'money');

/** An event in the API's format: amounts in units of its currency, times in ISO 8601. */
export function showEvent(event: LoggedEvent): Event {
  const { id, occurred_at, received_at, application_id: _application, ...rest } = event;
  const fields: Event = {
    ...rest,
    event_id: id,
    created_at: new Date(occurred_at).toISOString(),
    received_at: new Date(received_at).toISOString(),
  };
  if (fields.client_event_id === undefined && isOfDevice(event)) {
    fields.client_event_id = sentKeyOf(event, 'event_id');
  }
  for (const { name, type, field = name } of RENAMED) {
    const value = fields[field];
    if (value !== undefined) fields[name] = type === 'money' ? fromNanos(BigInt(Number(value))) : value;
  }
  if (fields.country) fields.country = shownCountry(fields.country);
  const present = SHOWN_COLUMNS.filter((column) => fields[column] !== undefined);
  // Every required field of an event is one of the shown columns.
  return Object.fromEntries(present.map((column) => [column, fields[column]])) as Event;
}

/** The raw events that match the query, newest first. Days are in the application's time zone. Events of erased devices are gone. */
export async function listEvents(env: Env, application: ShardedApplication, query: EventsQuery) {
  const { events, next_cursor } = await findEvents(env, application, query);
  return { data: events.map(showEvent), next_cursor };
}

export type ShownStatus = 'queued' | 'counted' | 'duplicate' | 'ignored' | 'parked';

/**
 * Like `listEvents`, with the status of each event and, of a duplicate with another amount than the event that counts, that one's amount as far as it is
 * known, for the live view. Asks each counter once or twice.
 */
export async function listEventsWithStatus(env: Env, application: ShardedApplication, query: EventsQuery) {
  const { events, next_cursor } = await findEvents(env, application, query);
  const statuses = new Map<string, ShownStatus>();
  const counted = new Map<string, CountedAmount>();
  const byShard = Map.groupBy(events, (event) => shardOf(event));
  for (const [shard, own] of byShard) {
    const ids = own.map(({ id }) => id);
    const found = await counterOf(env, application.id, shard).eventStatuses(ids);
    for (const [index, event] of own.entries()) {
      const status = found[index];
      // A file stores the outcome of an event next to it, unless it was counted.
      const kept = ((event as StoredEvent).outcome ?? 'counted') as ShownStatus;
      statuses.set(event.id, !status || status === 'exported' || status === 'erased' ? kept : status);
    }
    const repeats = own.filter((event) => statuses.get(event.id) === 'duplicate' && 'value_nanos' in event);
    if (repeats.length === 0) continue;
    const amounts = await counterOf(env, application.id, shard).countedAmounts(repeats.map(({ id }) => id));
    for (const [index, event] of repeats.entries()) {
      const amount = amounts[index];
      const isSame =
        'value_nanos' in event && event.value_nanos === amount?.nanos && event.currency === amount.currency;
      if (amount && !isSame) counted.set(event.id, amount);
    }
  }
  const data = events.map((event) => {
    const amount = counted.get(event.id);
    const other = amount && { value: fromNanos(BigInt(amount.nanos)), currency: amount.currency };
    return { ...showEvent(event), status_of_event: statuses.get(event.id), counted_amount: other };
  });
  return { data, next_cursor };
}

async function findEvents(env: Env, application: ShardedApplication, query: EventsQuery) {
  const { from, to, type, event_name: eventName, attribution } = query;
  const device = query.token ? await deviceOf(env, application.id, query.token) : undefined;
  const deviceId = device?.deviceId ?? query.device_id;
  if (query.device_id && query.device_id !== deviceId) return { events: [], next_cursor: null };
  const creativeIds =
    query.campaign_id || query.adset_id
      ? await findCreativeIds(database(env.DB), application.id, query)
      : query.creative_id;
  const segment = ofDimensions(SEGMENT_DIMENSIONS, (name) => query[name]?.map(storedValue));
  const filter = present({ from, to, type, eventName, deviceId, creativeIds, attribution, segment });
  // A token names its device's counter.
  const shards = device ? [device.shard] : shardNumbers(application.shards);
  const place = { applicationId: application.id, shards };
  return readEvents(env, place, filter, query);
}

async function deviceOf(env: Env, applicationId: string, token: string) {
  const claims = await readToken(token, settingsOf(env).TOKEN_SECRET);
  if (claims?.applicationId !== applicationId) {
    throw invalidRequest([{ path: 'token', message: 'is not a token of this application' }]);
  }
  return claims;
}
