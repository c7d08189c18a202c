import type { Child } from 'hono/jsx';
import type { ShownEvent } from '#catalogue';
import { EVENT_TYPES, eventLabel } from '#catalogue';
import { database } from '#db';
import { EventsQuery, listEventsWithStatus } from '#events';
import { AppError, describeFaults } from '#http';
import { listRejections } from '#ingestion';
import { ago, count, money, NOTHING } from '#lib/format';
import { listPostbacks } from '#skan';
import { listNotifications } from '#stores';
import type { FormField } from '../../forms/field.tsx';
import { Fields } from '../../forms/fields.tsx';
import { checkForm } from '../../forms/form.ts';
import { dayText, exactTimeText } from '../../shell/dates.ts';
import { readChips } from '../../shell/filter-names.ts';
import { ChipLink, Filters } from '../../shell/filters.tsx';
import { NeedsApplication } from '../../shell/needs-application.tsx';
import { renderPage } from '../../shell/page.tsx';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Card, FormMenu, Notice } from '../../shell/parts.tsx';
import { ViewFields } from '../../shell/report.tsx';
import { readView, type View, viewQuery } from '../../shell/view.ts';
import { NextPart, Table } from '../../tables/table.tsx';
import { devicePage } from './device-page.tsx';
import { eventPage } from './event-page.tsx';
import { EventJson, StatusBadge, summary, text, typeLabel } from './event-parts.tsx';
import { fillPage } from './fill-page.ts';
import { NotificationTable, PostbackTable } from './received.tsx';

const SHOWN = 30;
/** A filter may match few of the events that one read covers. The page is reloaded every few seconds, so it does not read on for long. */
const MAX_READS = 3;

type Rejection = Awaited<ReturnType<typeof listRejections>>[number];

const FLAGS: readonly (readonly [string, string])[] = [
  ['test', 'Test event: not counted'],
  ['token_expired', 'Token expired'],
  ['clock_ahead', 'Clock ahead or not set: dated when received'],
];

/** Things worth noting about an event: its flags and what was dropped from it. */
function Notes({ event }: { event: ShownEvent }) {
  const warnings = Array.isArray(event.warnings)
    ? (event.warnings as { path: string; message: string }[])
    : [];
  const flags = FLAGS.filter(([name]) => event[name] === true).map(([, label]) => label);
  const counted = event.counted_amount as { value: number; currency: string } | undefined;
  if (counted)
    flags.push(`Another amount than the first time: ${money(counted.value, counted.currency)} counts`);
  return (
    <>
      {flags.map((label) => (
        <div class="muted event-note">{label}</div>
      ))}
      {warnings.map(({ path, message }) => (
        <div class="muted event-note">
          <code>{path}</code> {message}
        </div>
      ))}
    </>
  );
}

const receivedAt = (event: ShownEvent) => Date.parse(text(event.received_at));

/** Why no events are listed: none match the filters, perhaps because older ones were not read yet, or none were sent. */
const NoEvents = ({ view, isFiltered, hasOlder }: { view: View; isFiltered: boolean; hasOlder: boolean }) =>
  hasOlder ? (
    <>None of the newest events match. There are older ones.</>
  ) : isFiltered ? (
    <>
      No events match. <a href={`/debugger?app=${view.application.id}`}>Show all events</a>
    </>
  ) : (
    <>
      Events appear here within seconds after your backend sends them.{' '}
      <a href={`/get-started${viewQuery(view)}`}>Send the first event</a>
    </>
  );

function EventTable({ view, events, empty }: { view: View; events: readonly ShownEvent[]; empty: Child }) {
  const query = (id: unknown) => viewQuery(view, { id: text(id) });
  return (
    <Table
      caption="Newest events"
      rows={events}
      empty={empty}
      columns={[
        {
          label: `Received (${view.application.timezone})`,
          cell: (event) => (
            <a
              href={`/debugger/event${query(event.event_id)}`}
              title={ago(receivedAt(event), view.now)}
              data-event
            >
              {exactTimeText(receivedAt(event), view.application.timezone)}
            </a>
          ),
        },
        { label: 'Type', cell: typeLabel, titleOf: (event) => text(event.type) },
        {
          label: 'What',
          cell: (event) => (
            <>
              {summary(event)}
              <Notes event={event} />
            </>
          ),
        },
        { label: 'Status', cell: (event) => <StatusBadge status={event.status_of_event} /> },
        {
          label: 'Device',
          cell: (event) => {
            const id = text(event.device_id);
            return id === '' ? (
              NOTHING
            ) : (
              <a href={`/debugger/device${viewQuery(view, { device_id: id })}`} title={id}>
                <code>{id.slice(-8)}</code>
              </a>
            );
          },
        },
        {
          label: 'Counts for',
          cell: (event) => (text(event.day) === '' ? NOTHING : dayText(text(event.day), view.today)),
        },
        { label: 'Raw JSON', cell: (event) => <EventJson event={event} /> },
      ]}
    />
  );
}

const RejectionTable = ({ rows, view: { application, now } }: { rows: readonly Rejection[]; view: View }) => (
  <Table
    caption="Rejected requests by error and endpoint"
    rows={rows}
    empty="None. Every request was accepted."
    columns={[
      {
        label: 'Last',
        cell: (row) => (
          <span title={exactTimeText(row.lastAt, application.timezone)}>{ago(row.lastAt, now)}</span>
        ),
      },
      { label: 'Count', numeric: true, cell: (row) => count(row.count) },
      { label: 'Endpoint', cell: (row) => <code>{row.endpoint}</code> },
      { label: 'Status', numeric: true, cell: (row) => row.status },
      { label: 'Why', wrap: true, cell: (row) => row.error },
      {
        label: 'Last sample',
        wrap: true,
        cell: (row) => (
          <>
            {row.sample.type && <div>type {row.sample.type}</div>}
            {row.sample.values.map(({ path, value }) => (
              <div>
                <code>
                  {path} = {value}
                </code>
              </div>
            ))}
            <div class="muted">request {row.sample.request_id.slice(0, 8)}</div>
          </>
        ),
      },
    ]}
  />
);

/** A script replaces this with a button that pauses the page. Without a script, the page does not update itself. */
const LiveState = () => (
  <span class="muted" data-live-state>
    Reload for newer events
  </span>
);

/** The filters of this page alone, which are fields of the API, too. */
const OWN_FIELDS: readonly FormField[] = [
  {
    label: 'Type',
    name: 'type',
    options: [['', 'All types'], ...EVENT_TYPES.map((name) => [name, eventLabel(name)] as const)],
  },
  { label: 'Event name', name: 'event_name', maxlength: 256 },
  { label: 'Device id', name: 'device_id', maxlength: 256 },
  { label: 'Device token', name: 'token', maxlength: 512 },
];

/** The page's own filters that are set, each a link that removes it. */
const OwnFilters = ({ view, own }: { view: View; own: Readonly<Record<string, string>> }) => {
  const set = OWN_FIELDS.map(({ name, label }) => ({ name, label, value: own[name] ?? '' })).filter(
    ({ value }) => value !== '',
  );
  return set.length === 0 ? null : (
    <ul class="chips" aria-label="Filters of events">
      {set.map(({ name, label, value }) => (
        <li>
          <ChipLink
            href={`/debugger${viewQuery(view, { ...own, [name]: '' })}`}
            filter={label}
            value={name === 'type' ? eventLabel(value) : value}
            title={value}
          />
        </li>
      ))}
    </ul>
  );
};

async function debuggerPage(c: DashboardContext) {
  const view = await readView(c);
  if (!view) return renderPage(c, {}, <NeedsApplication mayCreate={false} />);
  const own = Object.fromEntries(
    OWN_FIELDS.map(({ name }) => [name, c.req.query(name)?.trim() ?? ''] as const),
  );
  const cursor = c.req.query('cursor') ?? '';
  const asked = {
    application_id: view.application.id,
    limit: SHOWN,
    cursor,
    ...view.filters,
    ...Object.fromEntries(Object.entries(own).filter(([, value]) => value !== '')),
  };
  const { data: query, faults } = checkForm(EventsQuery, asked);
  const [page, refused] = query
    ? await fillPage(
        (from, limit) => listEventsWithStatus(c.env, view.application, { ...query, cursor: from, limit }),
        { cursor: query.cursor, size: SHOWN, maxReads: MAX_READS },
      ).then(
        (found) => [found, []] as const,
        (error) => {
          if (error instanceof AppError && error.code === 'invalid_request') {
            return [null, error.details] as const;
          }
          throw error;
        },
      )
    : [null, faults];
  const elsewhere = refused.filter(({ path }) => !Object.hasOwn(own, path));
  const isFiltered = cursor !== '' || [...Object.values(own), ...Object.values(view.filters)].some(Boolean);
  const db = database(c.env.DB);
  const [rejections, notifications, postbacks] = await Promise.all([
    listRejections(c.env.DB, view.application.id),
    listNotifications(db, view.application.id),
    listPostbacks(db, view.application.id),
  ]);
  return renderPage(
    c,
    {
      view,
      filters: (
        <Filters
          view={view}
          path="/debugger"
          shown={['filters']}
          carry={own}
          chips={await readChips(c.env.DB, view)}
        />
      ),
      tools: (
        <FormMenu label="Filter events" id="filter" kind="quiet" open={refused.length > 0}>
          <form method="get" action="/debugger" class="stack">
            <ViewFields view={view} />
            <Fields fields={OWN_FIELDS} values={own} faults={refused} />
            <button type="submit">Show</button>
          </form>
        </FormMenu>
      ),
    },
    <>
      <OwnFilters view={view} own={own} />
      {elsewhere.length > 0 && <Notice kind="bad">{describeFaults(elsewhere)}</Notice>}
      <div class="with-panel">
        <div id="live" {...(cursor === '' ? { 'data-live': '' } : {})}>
          <Card
            title="Newest events"
            aside={
              <span class="asides">
                {rejections.length > 0 && (
                  <a href="#rejected">Rejected requests: {rejections.length} kinds</a>
                )}
                {cursor === '' && <LiveState />}
              </span>
            }
          >
            <EventTable
              view={view}
              events={page?.data ?? []}
              empty={<NoEvents view={view} isFiltered={isFiltered} hasOlder={Boolean(page?.next_cursor)} />}
            />
            <NextPart
              cursor={page?.next_cursor}
              to={(next) => `/debugger${viewQuery(view, { ...own, cursor: next })}`}
            />
          </Card>
          {notifications.length > 0 && (
            <Card title="Store notifications" id="stores">
              <NotificationTable rows={notifications} view={view} />
            </Card>
          )}
          {postbacks.length > 0 && (
            <Card title="Postbacks of Apple" id="postbacks">
              <PostbackTable rows={postbacks} view={view} />
            </Card>
          )}
          <Card title="Rejected requests" id="rejected">
            <RejectionTable rows={rejections} view={view} />
            <p class="hint">
              Kept for two weeks, without bodies, keys or tokens: of the last request of each kind, only the
              invalid values.
            </p>
          </Card>
        </div>
        <aside id="event-panel" class="card" aria-label="Event" hidden />
      </div>
      <script src="/debugger.js" type="module"></script>
    </>,
  );
}

const routes = pageRoutes().get('/', debuggerPage).get('/event', eventPage).get('/device', devicePage);

export const eventDebugger: PageRecord = {
  path: '/debugger',
  title: 'Debugger',
  links: [{ group: 'Operate', icon: 'M5 5l-3 3 3 3M11 5l3 3-3 3M9 3L7 13' }],
  routes,
};
