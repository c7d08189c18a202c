import * as z from 'zod';
import {
  day,
  EXAMPLE,
  inPath,
  list,
  noSuch,
  nullableText,
  type Operation,
  time,
  withExamples,
} from '#http/operations';
import { EventsQuery } from './list-events.ts';

// The other fields depend on the event's type.
const Event = z
  .looseObject({
    event_id: z.string(),
    type: z.string(),
    created_at: time(),
    received_at: time(),
    day: day(),
    device_id: z.string().optional().meta({ description: 'Absent for a click.' }),
    creative_id: nullableText(),
    country: z.string().optional().meta({
      description:
        'ISO 3166 code: where the device was at its acquisition, or where the click came from. Absent if unknown.',
    }),
    os_family: z
      .string()
      .optional()
      .meta({ description: 'The operating system of the device or of the click, such as `android`.' }),
    network: z.string().optional().meta({
      description: 'The network that brought the device, or that the click came from. Absent if unknown.',
    }),
  })
  .meta({ id: 'Event' });
export type Event = z.input<typeof Event>;

const Events = list(Event);
export type Events = z.input<typeof Events>;

const EventStatus = z.object({
  event_id: z.string(),
  application_id: z.string().optional(),
  status: z.enum(['queued', 'counted', 'duplicate', 'ignored', 'parked']).meta({
    description:
      'An `ignored` event is stored but counted in no report: a test event, an event sent with a revoked token, or an event of an erased device. A `parked` event could not be counted; see `/v1/parked`.',
  }),
  received_at: time(),
  logged_at: time()
    .optional()
    .meta({ description: 'When the queue delivered it. Absent once the event is in a raw event file.' }),
  settled_by: time().optional().meta({
    description: 'When it was counted, found to be a duplicate, ignored or parked, at the latest.',
  }),
  duplicate_of: z.string().optional().meta({ description: 'The event that was counted with the same key.' }),
  reason: z.string().optional().meta({ description: 'Why the event was ignored or parked.' }),
  event: Event.optional(),
});
export type EventStatus = z.input<typeof EventStatus>;

const shared = { credential: 'teamToken', tag: 'Events' } as const;

export const operations: Operation[] = [
  {
    ...shared,
    method: 'get',
    path: '/v1/events',
    summary: 'List raw events',
    description:
      "Newest first. `from` and `to` are days in the application's time zone. A page may have fewer than `limit` events before the end of the list; continue until `next_cursor` is null. Filters can be repeated; an event must match each of them by one of its values. `country`, `os` and `network` are those of the device at its acquisition, as in the reports; a click has its own. `app_version` and `sdk_version` are those that the event was sent by. For each of them, `unknown` finds events without a value. With `format=ndjson` or `format=csv`, the next cursor is in the header `X-Next-Cursor`.",
    parameters: {
      query: withExamples(EventsQuery, {
        application_id: EXAMPLE.application,
        type: 'custom.ad',
        from: EXAMPLE.from,
        to: EXAMPLE.to,
        token: EXAMPLE.token,
        format: 'json',
        limit: 50,
        cursor: '',
      }),
    },
    answer: {
      status: 200,
      description: 'A page of events.',
      schema: Events,
      more: {
        'application/x-ndjson': `{"event_id":"${EXAMPLE.event}","type":"custom.ad"}\n`,
        'text/csv': `event_id,type\r\n${EXAMPLE.event},custom.ad\r\n`,
      },
    },
    errors: noSuch('application'),
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/events/{event_id}',
    summary: 'Retrieve the status of an event',
    parameters: inPath('event_id', EXAMPLE.event),
    answer: { status: 200, description: 'The status of the event.', schema: EventStatus },
    errors: { 404: 'Your team has no such event, or its device was erased.' },
  },
];
