import { Hono } from 'hono';
import { atLeast } from '#members';
import {
  discardParked,
  type LogState,
  listParked,
  type ParkedMessage,
  readLogState,
  replayParked,
} from '#rollup';
import { Filters } from './filters.tsx';
import { doneText, redirectDone } from './form.ts';
import { ago, count, moment, NOTHING } from './format.ts';
import { type DashboardContext, type DashboardEnv, remember, requirePerson, requireRole } from './guard.ts';
import { renderPage } from './page.tsx';
import { Action, Card, Notice, Table } from './parts.tsx';
import { readView, type View, viewQuery } from './view.ts';

const SHOWN = 50;
/** The consumer waits two seconds for a batch and counts every five: past this something is behind. */
const SLOW_MS = 60_000;

const Figure = ({
  label,
  value,
  note,
  bad,
}: {
  label: string;
  value: string;
  note: string;
  bad?: boolean;
}) => (
  <div class={bad ? 'figure bad' : 'figure'}>
    <dt>{label}</dt>
    <dd>
      <strong>{value}</strong>
      <span class="muted">{note}</span>
    </dd>
  </div>
);

const seconds = (ms: number) => `${count(Math.max(0, ms) / 1000)} s`;

const LogFigures = ({ state, parked, now }: { state: LogState; parked: number; now: number }) => {
  const { pending, foldedAt, lastAppendedAt, slowestMs } = state;
  return (
    <dl class="figures">
      <Figure
        label="Waiting to be counted"
        value={count(pending)}
        note={foldedAt === 0 ? 'never counted so far' : `last counted ${ago(foldedAt, now)}`}
        bad={pending > 0 && now - foldedAt > SLOW_MS}
      />
      <Figure
        label="From taken to logged"
        value={slowestMs === null ? NOTHING : seconds(slowestMs)}
        note="the slowest of the newest events"
        bad={(slowestMs ?? 0) > SLOW_MS}
      />
      <Figure
        label="Newest event"
        value={lastAppendedAt === null ? 'none yet' : ago(lastAppendedAt, now)}
        note={lastAppendedAt === null ? '' : `${moment(lastAppendedAt, 'UTC')} UTC`}
      />
      <Figure label="Parked" value={count(parked)} note="could not be counted" bad={parked > 0} />
    </dl>
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
  const nameOf = (id: string) => view?.applications.find((row) => row.id === id)?.name ?? 'unknown';
  return (
    <Card title="Parked messages">
      <p class="muted">
        What could not be counted is kept here and blocks nothing. Replay sends it to the queue again: its
        events keep their ids, so nothing is ever counted twice.
      </p>
      <Table
        caption="Parked messages"
        rows={messages}
        empty="None. Every event that was taken has been counted or waits its turn."
        columns={[
          { label: 'Parked (UTC)', cell: (message) => moment(message.parkedAt, 'UTC') },
          { label: 'Application', cell: (message) => nameOf(message.applicationId) },
          { label: 'Reason', wrap: true, cell: (message) => message.reason },
          {
            label: 'Message',
            cell: (message) => (
              <details>
                <summary>Show</summary>
                <pre>{message.body}</pre>
              </details>
            ),
          },
          ...(mayChange
            ? [
                {
                  label: 'Do',
                  cell: (message: ParkedMessage) => (
                    <span class="actions">
                      <Action to={`/status/${message.id}/replay${query}`} label="Replay" kind="quiet" />
                      <Action
                        to={`/status/${message.id}/discard${query}`}
                        label="Discard"
                        kind="danger"
                        confirm="Discard this message for good? Its events will never be counted."
                      />
                    </span>
                  ),
                },
              ]
            : []),
        ]}
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
  const view = await readView(c, now);
  const { person } = c.var;
  const [state, { messages, total }] = await Promise.all([
    view ? readLogState(c.env.DB, view.application.id) : null,
    listParked(c.env.DB, person.team.id, SHOWN),
  ]);
  const done = doneText(c);
  return renderPage(
    c,
    {
      title: 'Health',
      current: '/status',
      view,
      ...(view ? { filters: <Filters view={view} path="/status" shown={['app']} /> } : {}),
    },
    <>
      {done && <Notice kind="good">{done}</Notice>}
      {state && (
        <Card title="The way of an event">
          <LogFigures state={state} parked={total} now={now} />
        </Card>
      )}
      <ParkedCard messages={messages} total={total} view={view} mayChange={atLeast(person.role, 'admin')} />
    </>,
  );
}

const subjectOf = (message: ParkedMessage) => `${message.id}: ${message.reason}`.slice(0, 200);

export const statusPages = new Hono<DashboardEnv>()
  .use('/status/*', requirePerson)
  .get('/status', statusPage)
  .post('/status/:id/replay', requireRole('admin'), async (c) => {
    const message = await replayParked(c.env, c.get('person').team.id, c.req.param('id'));
    await remember(c, 'parked_message.replayed', subjectOf(message));
    return redirectDone(c, `/status${new URL(c.req.url).search}`, 'replayed');
  })
  .post('/status/:id/discard', requireRole('admin'), async (c) => {
    const message = await discardParked(c.env.DB, c.get('person').team.id, c.req.param('id'));
    await remember(c, 'parked_message.discarded', subjectOf(message));
    return redirectDone(c, `/status${new URL(c.req.url).search}`, 'discarded');
  });
