import { Hono } from 'hono';
import { type Explanation, explainDevice } from '#attribution';
import { EVENT_TYPES, type EventStatus, EventsQuery, eventStatus, listEvents } from '#events';
import { AppError } from '#http';
import { listRejections } from '#ingestion';
import { Filters } from './filters.tsx';
import { checkForm } from './form.ts';
import { ago, count, moment, money, NOTHING, percent } from './format.ts';
import { NeedsApplication } from './get-started.tsx';
import { type DashboardContext, type DashboardEnv, requirePerson } from './guard.ts';
import { renderPage } from './page.tsx';
import { Card, Field, Notice, Table } from './parts.tsx';
import { readView, type View, viewQuery } from './view.ts';

const SHOWN = 30;

type Shown = Record<string, unknown>;
type Rejection = Awaited<ReturnType<typeof listRejections>>[number];

const text = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** What an event is about, in a line. */
export function summary(event: Shown): string {
  const amount = typeof event.value === 'number' ? money(event.value, text(event.currency) || 'usd') : '';
  switch (event.type) {
    case 'custom.ad':
      return [amount, text(event.source), text(event.media_source), text(event.ad_id)]
        .filter(Boolean)
        .join(' · ');
    case 'custom.purchase':
      return [amount, text(event.item_id), text(event.status)].filter(Boolean).join(' · ');
    case 'custom':
      return text(event.event_name);
    case 'retention':
      return `day ${text(event.retention_day)}`;
    default:
      return '';
  }
}

const receivedAt = (event: Shown) => Date.parse(text(event.received_at));

function EventTable({ view, events, now }: { view: View; events: readonly Shown[]; now: number }) {
  const query = (id: unknown) => viewQuery(view, { id: text(id) });
  return (
    <Table
      caption="Newest events"
      rows={events}
      empty={
        <>
          No such event has arrived. <a href={`/get-started${viewQuery(view)}`}>How to send the first one</a>
        </>
      }
      columns={[
        {
          label: `Received (${view.application.timezone})`,
          cell: (event) => (
            <a href={`/debugger/event${query(event.event_id)}`} title={ago(receivedAt(event), now)}>
              {moment(receivedAt(event), view.application.timezone)}
            </a>
          ),
        },
        { label: 'Type', cell: (event) => text(event.type) },
        { label: 'What', cell: (event) => summary(event) },
        { label: 'Device', cell: (event) => <code>{text(event.device_id).slice(-8) || NOTHING}</code> },
        { label: 'Counts for', cell: (event) => text(event.day) },
        {
          label: 'All of it',
          cell: (event) => (
            <details>
              <summary>Show</summary>
              <pre class="event">{JSON.stringify(event, null, 2)}</pre>
            </details>
          ),
        },
      ]}
    />
  );
}

const RejectionTable = ({ rows, now }: { rows: readonly Rejection[]; now: number }) => (
  <Table
    caption="Rejected requests by error and endpoint"
    rows={rows}
    empty="None. Every request was taken."
    columns={[
      {
        label: 'Last',
        cell: (row) => <span title={`${moment(row.lastAt, 'UTC')} UTC`}>{ago(row.lastAt, now)}</span>,
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

async function debuggerPage(c: DashboardContext) {
  const now = Date.now();
  const view = await readView(c, now);
  if (!view)
    return renderPage(c, { title: 'Debugger', current: '/debugger' }, <NeedsApplication mayCreate={false} />);
  const type = c.req.query('type') ?? '';
  const token = c.req.query('token')?.trim() ?? '';
  const cursor = c.req.query('cursor') ?? '';
  const asked = {
    application_id: view.application.id,
    limit: SHOWN,
    cursor,
    ...(type ? { type } : {}),
    ...(token ? { token } : {}),
  };
  const { data: query, faults } = checkForm(EventsQuery, asked);
  const [page, fault] = query
    ? await listEvents(c.env, query).then(
        (found) => [found, null] as const,
        (error) => {
          if (error instanceof AppError) return [null, error.message] as const;
          throw error;
        },
      )
    : [null, faults.map(({ path, message }) => `${path} ${message}`).join('; ')];
  const rejections = await listRejections(c.env.DB, view.application.id);
  return renderPage(
    c,
    {
      title: 'Debugger',
      current: '/debugger',
      view,
      filters: <Filters view={view} path="/debugger" shown={['app']} />,
    },
    <>
      <Card
        title="Filter"
        aside={
          rejections.length > 0 ? <a href="#rejected">Rejected requests: {rejections.length} kinds</a> : null
        }
      >
        <form method="get" action="/debugger" class="row">
          <input type="hidden" name="app" value={view.application.id} />
          <Field
            label="Type"
            name="type"
            value={type}
            options={[['', 'every type'], ...EVENT_TYPES.map((name) => [name, name] as const)]}
          />
          <Field label="Device token" name="token" value={token} maxlength={256} />
          <button type="submit" class="quiet">
            Show
          </button>
        </form>
      </Card>
      {fault && <Notice kind="bad">{fault}</Notice>}
      <div id="live" {...(cursor === '' ? { 'data-live': '' } : {})}>
        <Card
          title="Newest events"
          aside={cursor === '' ? <span class="muted">Renewed every 3 seconds</span> : null}
        >
          <EventTable view={view} events={page?.data ?? []} now={now} />
          {page?.next_cursor && (
            <a href={`/debugger${viewQuery(view, { type, token, cursor: page.next_cursor })}`}>Older</a>
          )}
        </Card>
        <Card title="Rejected requests" id="rejected">
          <RejectionTable rows={rejections} now={now} />
          <p class="hint">
            Kept two weeks, without bodies, keys or tokens: of the last request of a kind only the values at
            fault.
          </p>
        </Card>
      </div>
    </>,
  );
}

const MEANING: Record<EventStatus['status'], string> = {
  queued: 'Taken and safe; it waits to be counted.',
  counted: 'It is in every report.',
  duplicate: 'A repeat of an event that was counted before it, so it counts no second time.',
  parked: 'It could not be counted. It is kept, with the reason, on the health page.',
};

const StatusCard = ({ status }: { status: EventStatus }) => (
  <Card title={`This event is ${status.status}`}>
    <p>{MEANING[status.status]}</p>
    {status.reason && <Notice kind="bad">{status.reason}</Notice>}
    <ol class="steps">
      <li>
        <span class="light on" aria-hidden="true" />
        received {moment(Date.parse(status.received_at), 'UTC')} UTC
      </li>
      <li>
        <span class={`light ${status.logged_at ? 'on' : ''}`} aria-hidden="true" />
        {status.logged_at ? `logged ${moment(Date.parse(status.logged_at), 'UTC')} UTC` : 'not logged yet'}
      </li>
      <li>
        <span class={`light ${status.settled_by ? 'on' : ''}`} aria-hidden="true" />
        {status.settled_by
          ? `${status.status} by ${moment(Date.parse(status.settled_by), 'UTC')} UTC`
          : 'not counted yet'}
      </li>
    </ol>
    {status.duplicate_of && (
      <p>
        First: <code>{status.duplicate_of}</code>
      </p>
    )}
    {status.event && <pre class="event">{JSON.stringify(status.event, null, 2)}</pre>}
  </Card>
);

const METHODS: Record<string, string> = {
  referrer: 'The install referrer named a click inside the click window.',
  click_id: 'The backend named a click inside the click window.',
  deep_link: 'The backend named the creative of a deep link.',
  probabilistic: 'No click was named; a click looked enough like this device.',
  organic: 'No click was named, and none looked enough like this device.',
};

const ExplanationCard = ({ explanation }: { explanation: Explanation }) => {
  const { attribution, creatives } = explanation;
  const nameOf = (id: string | null | undefined) => (id ? (creatives[id] ?? id) : 'none');
  const candidates = attribution.candidates ?? [];
  return (
    <Card title="Why this device is attributed as it is">
      {attribution.method ? (
        <p>
          <strong>{attribution.method}</strong>, creative <strong>{nameOf(attribution.creative_id)}</strong>,
          confidence {percent(attribution.confidence)}. {METHODS[attribution.method] ?? ''}
          {attribution.ambiguous ? ' Another click speaks for it just as well.' : ''}
        </p>
      ) : (
        <p>This device was acquired before attributions were recorded.</p>
      )}
      <Table
        caption="Clicks that were weighed"
        rows={candidates}
        empty="No click was weighed."
        columns={[
          { label: 'Clicked (UTC)', cell: (candidate) => moment(candidate.clicked_at, 'UTC') },
          { label: 'Creative', cell: (candidate) => nameOf(candidate.creative_id) },
          { label: 'Score, bits', numeric: true, cell: (candidate) => count(candidate.score) },
          { label: 'Likelihood', numeric: true, cell: (candidate) => percent(candidate.probability) },
          {
            label: 'What speaks for or against it',
            cell: (candidate) =>
              Object.entries(candidate.facts)
                .map(([fact, bits]) => `${fact} ${bits > 0 ? '+' : ''}${bits}`)
                .join(', ') || 'named',
          },
        ]}
      />
    </Card>
  );
};

async function eventPage(c: DashboardContext) {
  const view = await readView(c, Date.now());
  const status = await eventStatus(c.env.DB, c.get('person').team.id, c.req.query('id') ?? '', Date.now());
  const { device_id, acquired_day } = status.event ?? {};
  const explanation =
    status.application_id && device_id
      ? await explainDevice(c.env.DB, status.application_id, {
          id: text(device_id),
          acquiredDay: text(acquired_day),
        })
      : null;
  return renderPage(
    c,
    { title: 'Event', current: '/debugger', view },
    <>
      <p>
        <code>{status.event_id}</code>
      </p>
      <div id="live" {...(status.settled_by ? {} : { 'data-live': '' })}>
        <StatusCard status={status} />
      </div>
      {explanation && <ExplanationCard explanation={explanation} />}
      <p>
        <a href={`/debugger${viewQuery(view)}`}>All events</a>
      </p>
    </>,
  );
}

export const debuggerPages = new Hono<DashboardEnv>()
  .use('/debugger/*', requirePerson)
  .get('/debugger', debuggerPage)
  .get('/debugger/event', eventPage);
