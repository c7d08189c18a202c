import { isStuck } from '#counting';
import { database } from '#db';
import { readAs } from '#http';
import { listAbsentFields } from '#ingestion';
import { ago, count, money, NOTHING, percent } from '#lib/format';
import {
  type InspectedApplication,
  type Inspection,
  inspect,
  isFilling,
  resumeApplication,
  runbookOf,
} from '#operations';
import { ClientTotalsQuery, reportClientTotals, tableColumns } from '#reports';
import { discardParked, listParked, type ParkedMessage, replayParked } from '#rollup';
import { exactTimeText, shortDays } from '../../shell/dates.ts';
import { changing, redirectDone } from '../../shell/done.ts';
import { Filters } from '../../shell/filters.tsx';
import { admin, callerOf, isAdmin } from '../../shell/guard.ts';
import { renderPage } from '../../shell/page.tsx';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Action, Card, Figure, Notice } from '../../shell/parts.tsx';
import { answerCsv, CsvLink, settleView, viewAsked, wantsCsv } from '../../shell/report.tsx';
import { readView, requireView, type View, viewQuery } from '../../shell/view.ts';
import { Table } from '../../tables/table.tsx';
import { AbsentCard } from './absent-card.tsx';
import { Reason } from './event-reasons.tsx';
import { freshPart } from './fresh.tsx';
import { ImplausibleCard } from './implausible-card.tsx';

const SHOWN = 50;
/** The consumer waits two seconds for a batch. Beyond this time, the queue is behind. */
const SLOW_MS = 60_000;

const megabytes = (bytes: number) => `${count(Math.ceil(bytes / 1e6))} MB`;
const seconds = (ms: number) => `${count(Math.max(0, ms) / 1000)} s`;

/** Shown after a store was restored or lost. `resumePath` is null for people who may not resume counting. */
const ResumeNotice = ({ resumePath }: { resumePath: string | null }) => (
  <Notice kind="bad">
    <p>
      New events are still accepted, and will be counted once counting resumes. Resuming adds to the reports
      what the database has lost since the restored time.
    </p>
    {resumePath === null ? (
      <p>Ask an admin of your team to resume it.</p>
    ) : (
      <Action
        to={resumePath}
        label="Resume counting"
        confirm="Resume counting? To undo the restore of the database instead, do that first."
      />
    )}
  </Notice>
);

/** The state of an application's events, from the queue to the reports. */
const PipelineFigures = ({
  inspection: { deployment, problems: ofDeployment },
  application: { health, needsResume, destinations, problems },
  parked,
  now,
  zone,
  resumePath,
}: {
  inspection: Inspection;
  application: InspectedApplication;
  parked: number;
  now: number;
  zone: string;
  resumePath: string | null;
}) => {
  const { counters, backlog } = health;
  const notices = (
    <>
      {[...ofDeployment, ...problems].map((problem) => (
        <>
          <Notice kind="bad">{problem}</Notice>
          <p>
            What to do: <code>{runbookOf(problem)}</code>
          </p>
        </>
      ))}
      {needsResume && <ResumeNotice resumePath={resumePath} />}
    </>
  );
  if (!counters) return notices;
  const { pending, countedThrough, lastAppendedAt, slowestMs, outbox, flushError, exportError, hotEvents } =
    counters;
  const { runs, databaseBytes } = deployment;
  const { chores, snapshot } = runs;
  const figures: readonly (readonly [label: string, value: string, note: string, bad?: boolean])[] = [
    [
      'Waiting to be counted',
      count(pending),
      `counted through ${ago(countedThrough, now)}`,
      isStuck(health, now),
    ],
    ['Waiting for delivery', count(backlog.events), 'accepted, retried from the queue', backlog.events > 0],
    ['Waiting to be written', count(outbox), 'counted, not in the reports yet', flushError !== null],
    ['Waiting for export', count(hotEvents), 'raw events, not in R2 yet', exportError !== null],
    [
      'Ingestion delay',
      slowestMs === null ? NOTHING : seconds(slowestMs),
      'the slowest of the newest events',
      (slowestMs ?? 0) > SLOW_MS,
    ],
    [
      'Newest event',
      lastAppendedAt === null ? 'None yet' : ago(lastAppendedAt, now),
      lastAppendedAt === null ? '' : exactTimeText(lastAppendedAt, zone),
    ],
    [
      'Scheduled work',
      chores ? ago(chores.ranAt, now) : 'never ran',
      chores?.failure ?? 'runs every minute',
      (chores?.failure ?? null) !== null,
    ],
    [
      'Snapshot',
      snapshot ? ago(snapshot.succeededAt ?? snapshot.ranAt, now) : 'None yet',
      snapshot?.failure ?? 'written every night',
      (snapshot?.failure ?? null) !== null,
    ],
    ['Database', megabytes(databaseBytes), 'of 10,000 MB', isFilling(databaseBytes)],
    ['Largest counter', megabytes(counters.bytes), 'of 10,000 MB', isFilling(counters.bytes)],
    ...(destinations
      ? [
          [
            'Destinations',
            destinations.attempts === 0 ? NOTHING : percent(destinations.failed / destinations.attempts),
            destinations.waitingSince === null
              ? 'attempts failing; nothing waits'
              : `attempts failing; the oldest waiting event came ${ago(destinations.waitingSince, now)}`,
            destinations.problems.length > 0,
          ] as const,
        ]
      : []),
    ['Parked', count(parked), 'could not be counted', parked > 0],
  ];
  return (
    <>
      {notices}
      {flushError && !counters.hasGap && <Notice kind="bad">{flushError}</Notice>}
      <dl class="figures">
        {figures.map(([label, value, note, bad = false]) => (
          <Figure label={label} value={value} note={note} bad={bad} />
        ))}
      </dl>
    </>
  );
};

const KINDS: Record<string, string> = { ad: 'Ad value', purchase: 'Purchase value' };

type ClientTotalsReport = Awaited<ReturnType<typeof reportClientTotals>>;

/** Compares the lifetime totals that clients report with what was counted for them. */
const ClientTotalsCard = ({ report, view }: { report: ClientTotalsReport; view: View }) => {
  const amount = (label: string, name: 'client_total' | 'counted_total' | 'gap') => ({
    label,
    numeric: true,
    cell: (row: ClientTotalsReport['totals'][number] | ClientTotalsReport['data'][number]) =>
      row.currency ? money(row[name], row.currency) : NOTHING,
  });
  const amounts = [
    amount('Client total', 'client_total'),
    amount('Counted total', 'counted_total'),
    amount('Gap', 'gap'),
  ];
  return (
    <Card
      title="Client totals and counted totals"
      info={
        <p>
          Events may carry the client's own running total. Where it is above ours, events never arrived; where
          it is below, some were sent twice without a key. Devices acquired {shortDays(view, view.today)},
          days in {view.application.timezone}.
        </p>
      }
      aside={<CsvLink view={view} path="/status" />}
    >
      <Table
        caption="Client totals and counted totals, by kind and currency"
        rows={report.totals}
        empty="No client sends a running total."
        columns={[
          { label: 'Kind', cell: (row) => KINDS[row.kind] ?? row.kind },
          {
            label: 'Currency',
            cell: (row) => row.currency?.toUpperCase() ?? 'none or several, not compared',
          },
          { label: 'Devices', numeric: true, cell: (row) => count(row.devices) },
          { label: 'With a gap', numeric: true, cell: (row) => count(row.devices_with_gap) },
          ...amounts,
        ]}
      />
      {report.data.length > 0 && (
        <details>
          <summary>The {report.data.length} devices with the largest gaps</summary>
          <Table
            caption="Devices with the largest gaps"
            rows={report.data}
            columns={[
              { label: 'Device', cell: (row) => <code>{row.device_id}</code> },
              { label: 'Kind', cell: (row) => KINDS[row.kind] ?? row.kind },
              ...amounts,
            ]}
          />
        </details>
      )}
    </Card>
  );
};

function ParkedCard({
  messages,
  total,
  view,
  mayChange,
}: {
  messages: ParkedMessage[];
  total: number;
  view: View | null;
  mayChange: boolean;
}) {
  const query = viewQuery(view);
  const zone = view?.application.timezone ?? 'UTC';
  const nameOf = (id: string) => view?.applications.find((row) => row.id === id)?.name ?? 'unknown';
  return (
    <Card title="Parked messages">
      {messages.length > 0 && (
        <p class="muted">
          Messages that could not be counted are kept here and do not delay others. Replay sends one to the
          queue again. Its events keep their ids, so none is counted twice.
        </p>
      )}
      <Table
        caption="Parked messages"
        rows={messages}
        empty="None. Every accepted event has been counted or is waiting to be counted."
        columns={[
          { label: `Parked (${zone})`, cell: (message) => exactTimeText(message.parkedAt, zone) },
          { label: 'Application', cell: (message) => nameOf(message.applicationId) },
          { label: 'Reason', wrap: true, cell: (message) => <Reason reason={message.reason} /> },
          {
            label: 'Message',
            cell: (message) => (
              <details>
                <summary>Show</summary>
                <pre>{message.body}</pre>
              </details>
            ),
          },
        ]}
        actions={
          mayChange &&
          (({ id }) => (
            <span class="actions">
              <Action to={`/status/${id}/replay${query}`} label="Replay" kind="quiet" />
              <Action
                to={`/status/${id}/discard${query}`}
                label="Discard"
                kind="danger"
                confirm="Discard this message for good? Its events will never be counted."
              />
            </span>
          ))
        }
      />
      {total > messages.length && (
        <p class="muted">
          The newest {messages.length} of {count(total)}.
        </p>
      )}
    </Card>
  );
}

async function statusPage(c: DashboardContext) {
  const now = Date.now();
  const read = await readView(c);
  const { person } = c.var;
  // The state before this page triggers any counting.
  const [inspection, { messages, total }, absent] = await Promise.all([
    inspect(c.env, read ? [read.application] : [], now),
    listParked(database(c.env.DB), person.team.id, { limit: SHOWN }),
    read ? listAbsentFields(c.env.DB, [read.application.id]) : [],
  ]);
  const view = read && (await settleView(c, read));
  const totals = view
    ? await reportClientTotals(c.env, view.application, readAs(ClientTotalsQuery, viewAsked(view)))
    : null;
  if (view && totals && wantsCsv(c)) return answerCsv(c, totals, tableColumns('client-totals', []), view);
  const [inspected] = inspection.applications;
  const mayChange = isAdmin(c);
  const zone = view?.application.timezone ?? 'UTC';
  return renderPage(
    c,
    {
      view,
      ...(view ? { filters: <Filters view={view} path="/status" shown={['period']} /> } : {}),
    },
    <>
      {inspected && (
        <Card title="Event pipeline">
          <PipelineFigures
            inspection={inspection}
            application={inspected}
            parked={total}
            now={now}
            zone={zone}
            resumePath={mayChange && view ? `/status/resume${viewQuery(view)}` : null}
          />
        </Card>
      )}
      <ParkedCard messages={messages} total={total} view={view} mayChange={mayChange} />
      {view && <AbsentCard fields={absent} zone={zone} />}
      {view && inspected?.health.counters && (
        <ImplausibleCard
          amounts={inspected.health.counters.implausible}
          zone={zone}
          linkTo={(id) => `/debugger/event${viewQuery(view, { id })}`}
        />
      )}
      {view && totals && <ClientTotalsCard report={totals} view={view} />}
    </>,
  );
}

const replay = changing('/status', 'replayed', (caller, id, { env }) => replayParked(env, caller, id));

const routes = pageRoutes()
  .get('/', statusPage)
  .get('/fresh', freshPart)
  .post('/resume', admin, async (c) => {
    const view = await requireView(c);
    await resumeApplication(c.env, callerOf(c), view.application.id);
    return redirectDone(c, `/status${viewQuery(view)}`, 'resumed');
  })
  .post('/:id/replay', admin, replay)
  .post('/:id/discard', admin, changing('/status', 'discarded', discardParked));

export const status: PageRecord = {
  path: '/status',
  title: 'Health',
  links: [{ group: 'Operate', icon: 'M1 8h3l2-5 3 10 2-5h4' }],
  routes,
};
