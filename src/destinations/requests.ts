import * as z from 'zod';
import { isOutboundType, normalised, OUTBOUND_EVENTS } from '#catalogue';
import { countryFilter, idListQuery, oneOf, requiredText } from '#http';
import { isId } from '#lib/ids';
import { present } from '#lib/input/present';
import { DAY_MS, isDay } from '#lib/time';
import { MAX_NETWORK_CHARACTERS } from '#networks';
import { KIND_NAMES } from './kinds.ts';
import { STATUSES } from './statuses.ts';

const MAX_EVENTS = 50;

const EVENT_FAULT = `must be one of ${OUTBOUND_EVENTS.join(', ')}, custom:<name>`;

const events = () =>
  z
    .array(requiredText(255).refine(isOutboundType, EVENT_FAULT), { error: 'must be a list' })
    .min(1, 'must have at least one entry')
    .max(MAX_EVENTS, `must have at most ${MAX_EVENTS} entries`)
    .transform((all) => [...new Set(all)]);

const Filter = z
  .strictObject(
    {
      network: requiredText(MAX_NETWORK_CHARACTERS).transform((text) => normalised('network', text)),
      campaign_id: requiredText(64).refine((id) => isId('cmp', id), 'must be the id of a campaign, as cmp_…'),
      country: countryFilter(),
      os: requiredText(16).toLowerCase(),
      paid_only: z.boolean({ error: 'must be true or false' }),
    },
    { error: 'must be an object with some of network, campaign_id, country, os, paid_only' },
  )
  .partial()
  // What is null is not filtered by.
  .transform((filter) => present(filter));

const object = () => z.record(z.string(), z.unknown(), { error: 'must be an object' });

/** What may be changed of a destination. Which settings and credentials it has depends on its kind. */
const changeable = {
  /** The same as `settings.url`. */
  url: requiredText(2048).optional(),
  /** The same as the other settings of a postback. */
  template: object().optional(),
  settings: object().optional(),
  credentials: object().optional(),
};

/** Body of `POST /v1/destinations`. */
export const NewDestination = z.object({
  application_id: requiredText(128),
  kind: oneOf(KIND_NAMES),
  ...changeable,
  events: events(),
  filter: Filter.optional(),
});
export type NewDestination = z.infer<typeof NewDestination>;

/** Body of `PATCH /v1/destinations/:id`. */
export const DestinationChanges = z
  .object({
    ...changeable,
    events: events().optional(),
    filter: Filter.optional(),
    enabled: z.boolean({ error: 'must be true or false' }).optional(),
  })
  .refine((changes) => Object.values(changes).some((value) => value !== undefined), {
    error: 'needs one of url, template, settings, credentials, events, filter, enabled',
  });
export type DestinationChanges = z.infer<typeof DestinationChanges>;

export const DestinationsQuery = z.object({ application_id: requiredText(128) });

const eventId = () =>
  requiredText(64).refine((id) => isId('evt', id), 'must be the id of an event, as evt_…');

export const DeliveriesQuery = z.object({
  ...idListQuery('evt').shape,
  status: oneOf(STATUSES).optional(),
  event_id: eventId().optional(),
});

const TIME_FAULT = 'must be a day, as YYYY-MM-DD, or a time such as 2026-03-01T12:00:00Z';

/** A time in epoch milliseconds. A day is one of UTC; `end` of a period includes it. */
const time = (place: 'start' | 'end') =>
  requiredText(64)
    .refine((text) => isDay(text) || z.iso.datetime({ offset: true }).safeParse(text).success, TIME_FAULT)
    .transform((text) => Date.parse(text) + (place === 'end' && isDay(text) ? DAY_MS : 0));

/** Body of `POST /v1/destinations/:id/replay`: a period, or an event. */
export const ReplayRequest = z
  .object({
    from: time('start').optional(),
    to: time('end').optional(),
    status: oneOf([...STATUSES, 'all']).default('failed'),
    event_id: eventId().optional(),
  })
  .transform(({ from, to, status, event_id }, ctx) => {
    if (event_id !== undefined) return { eventId: event_id };
    const missing = [...(from === undefined ? ['from'] : []), ...(to === undefined ? ['to'] : [])];
    for (const name of missing) {
      ctx.issues.push({
        code: 'custom',
        path: [name],
        message: 'is required without event_id',
        input: undefined,
      });
    }
    if (from !== undefined && to !== undefined && from >= to) {
      ctx.issues.push({ code: 'custom', path: ['to'], message: 'must be after from', input: to });
    }
    return { from: from ?? 0, to: to ?? 0, status };
  });
