import type * as z from 'zod';
import { type AppContext, type Endpoint, EXAMPLE, endpoint, missing, requireReportSlot } from '#http';
import { type CsvCell, csvHeaders, toCsv } from '#lib/encoding/csv';
import { ownApplication } from '#teams';
import { EventStatus, Events } from './answers.ts';
import { eventStatus } from './event-status.ts';
import { EventsQuery, listEvents, SHOWN_COLUMNS } from './list-events.ts';

const shared = { credential: 'teamToken', tag: 'Events' } as const;

const toCell = (value: unknown): CsvCell =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as CsvCell);

/** The page in the requested format. CSV and NDJSON return the next page's cursor in a header. */
function answerEvents(
  c: AppContext,
  { format, from = '', to = '' }: EventsQuery,
  application: string,
  page: Awaited<ReturnType<typeof listEvents>>,
): Response {
  if (format === 'json') return c.json<z.input<typeof Events>>(page);
  if (page.next_cursor) c.header('X-Next-Cursor', page.next_cursor);
  if (format === 'ndjson') {
    const lines = page.data.map((event) => `${JSON.stringify(event)}\n`);
    return c.body(lines.join(''), 200, { 'Content-Type': 'application/x-ndjson; charset=utf-8' });
  }
  const rows = page.data.map((event) =>
    Object.fromEntries(Object.entries(event).map(([column, value]) => [column, toCell(value)])),
  );
  return c.body(toCsv(SHOWN_COLUMNS, rows), 200, csvHeaders(['events', application, from, to]));
}

export const eventEndpoints: Endpoint[] = [
  endpoint({
    ...shared,
    method: 'get',
    path: '/v1/events',
    summary: 'List raw events',
    description:
      "Newest first. `from` and `to` are days in the application's time zone. A page may have fewer than `limit` events before the end of the list; continue until `next_cursor` is null. Filters can be repeated; an event must match each of them by one of its values. `country`, `os` and `network` are those of the device at its acquisition, as in the reports; a click has its own. `app_version` and `sdk_version` are those that the event was sent by. For each of them, `unknown` finds events without a value. With `format=ndjson` or `format=csv`, the next cursor is in the header `X-Next-Cursor`.",
    query: {
      schema: EventsQuery,
      example: {
        application_id: EXAMPLE.application,
        type: 'custom.ad',
        from: EXAMPLE.from,
        to: EXAMPLE.to,
        token: EXAMPLE.token,
        format: 'json',
        limit: 50,
        cursor: '',
      },
    },
    answer: {
      description: 'A page of events.',
      schema: Events,
      more: {
        'application/x-ndjson': `{"event_id":"${EXAMPLE.event}","type":"custom.ad"}\n`,
        'text/csv': `event_id,type\r\n${EXAMPLE.event},custom.ad\r\n`,
      },
    },
    errors: missing('Application'),
    checks: [requireReportSlot],
    async handle(c, { query }) {
      const application = await ownApplication(c, query.application_id);
      return answerEvents(c, query, application.name, await listEvents(c.env, application, query));
    },
  }),
  endpoint({
    ...shared,
    method: 'get',
    path: '/v1/events/{event_id}',
    summary: 'Retrieve the status of an event',
    params: { event_id: EXAMPLE.event },
    answer: { description: 'The status of the event.', schema: EventStatus },
    errors: { 404: 'Event not found, or its device was erased.' },
    handle: (c, { params }) => eventStatus(c.env, c.get('team').id, params.event_id, Date.now()),
  }),
];
