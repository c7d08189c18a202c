import { EXAMPLE, inPath, missing, type Operation, withExamples } from '#http/operations';
import { EventStatus, Events } from './answers.ts';
import { EventsQuery } from './list-events.ts';

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
    errors: missing('Application'),
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/events/{event_id}',
    summary: 'Retrieve the status of an event',
    parameters: inPath('event_id', EXAMPLE.event),
    answer: { status: 200, description: 'The status of the event.', schema: EventStatus },
    errors: { 404: 'Event not found, or its device was erased.' },
  },
];
