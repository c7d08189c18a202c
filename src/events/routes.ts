import { Hono } from 'hono';
import { database } from '#db';
import { type AppContext, type AppEnv, noQuery, queryString, requireTeamToken } from '#http';
import { type CsvCell, csvHeaders, toCsv } from '#lib/encoding/csv';
import { getApplication } from '#teams';
import type { EventStatus, Events } from './answers.ts';
import { eventStatus } from './event-status.ts';
import { EventsQuery, listEvents, SHOWN_COLUMNS } from './list-events.ts';

const toCell = (value: unknown): CsvCell =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as CsvCell);

/** The page in the requested format. CSV and NDJSON return the next page's cursor in a header. */
function answerEvents(
  c: AppContext,
  { format, from = '', to = '' }: EventsQuery,
  application: string,
  page: Awaited<ReturnType<typeof listEvents>>,
): Response {
  if (format === 'json') return c.json<Events>(page);
  if (page.next_cursor) c.header('X-Next-Cursor', page.next_cursor);
  if (format === 'ndjson') {
    c.header('Content-Type', 'application/x-ndjson; charset=utf-8');
    return c.body(page.data.map((event) => `${JSON.stringify(event)}\n`).join(''));
  }
  for (const [name, value] of Object.entries(csvHeaders(['events', application, from, to]))) {
    c.header(name, value);
  }
  const rows = page.data.map((event) =>
    Object.fromEntries(Object.entries(event).map(([column, value]) => [column, toCell(value)])),
  );
  return c.body(toCsv(SHOWN_COLUMNS, rows));
}

export const eventRoutes = new Hono<AppEnv>()
  .get('/v1/events', requireTeamToken, queryString(EventsQuery), async (c) => {
    const query = c.req.valid('query');
    const application = await getApplication(database(c.env.DB), c.get('team').id, query.application_id);
    return answerEvents(c, query, application.name, await listEvents(c.env, application, query));
  })
  .get('/v1/events/:event_id', requireTeamToken, noQuery, async (c) =>
    c.json<EventStatus>(await eventStatus(c.env, c.get('team').id, c.req.param('event_id'), Date.now())),
  );
