import { database } from '#db';
import {
  type Attempt,
  DeliveriesQuery,
  type DestinationHealth,
  deliveriesOf,
  getDestination,
  healthOf,
  kindOf,
  type OwnDestination,
  STATUSES,
  type StoredDelivery,
} from '#destinations';
import { AppError } from '#http';
import { count, NOTHING, percent } from '#lib/format';
import { Field, type FormField } from '../../forms/field.tsx';
import { Fields } from '../../forms/fields.tsx';
import { checkForm, type Submitted } from '../../forms/form.ts';
import { takeShown } from '../../forms/show-once.ts';
import { CopyNow } from '../../shell/copyable.tsx';
import { exactTimeText, timeText } from '../../shell/dates.ts';
import { isAdmin } from '../../shell/guard.ts';
import type { DashboardContext } from '../../shell/page-record.ts';
import { Action, Card, Facts, Figure, FoldedCard, Notice } from '../../shell/parts.tsx';
import { zoneOf } from '../../shell/view.ts';
import { DELIVERY_STATUS_NAMES, optionsOf, outboundName } from '../../shell/words.ts';
import { NextPart, Table } from '../../tables/table.tsx';
import { DestinationFields, valuesOf } from './destination-form.tsx';
import { renderSettings } from './settings-page.tsx';

export const PATH = '/settings/destinations';
export const pathOf = (id: string) => `${PATH}/${id}`;
const PER_PAGE = 50;

export const own = (c: DashboardContext): Promise<OwnDestination> =>
  getDestination(database(c.env.DB), c.get('person').team.id, c.req.param('id') ?? '');

/** On, failing or off. */
export const State = ({
  offSince,
  health,
}: {
  offSince: number | null;
  health: DestinationHealth | null;
}) => {
  if (offSince !== null) return <span class="badge bad">Off</span>;
  if (health !== null && health.failingSince !== null) return <span class="badge bad">Failing</span>;
  return <span class="badge good">On</span>;
};

/** The share of failed attempts in this hour and the one before. */
export const shareFailing = ({ attempts, failed }: DestinationHealth): string =>
  percent(attempts === 0 ? null : failed / attempts, 0);

export const lastDelivery = ({ lastSuccessAt }: DestinationHealth, zone: string): string =>
  lastSuccessAt === null ? 'Never' : timeText(lastSuccessAt, zone);

const BADGES = { delivered: 'good', failed: 'bad', pending: '', skipped: '' } as const;
const DeliveryState = ({ status }: Pick<StoredDelivery, 'status'>) => (
  <span class={`badge ${BADGES[status]}`.trim()}>{DELIVERY_STATUS_NAMES[status]}</span>
);

const Figures = ({ health, zone }: { health: DestinationHealth; zone: string }) => (
  <dl class="figures">
    <Figure label="Last delivery" value={lastDelivery(health, zone)} />
    <Figure
      label="Failed in the last hours"
      value={shareFailing(health)}
      note={`${count(health.failed)} of ${count(health.attempts)} attempts`}
      bad={health.failed > 0}
    />
    <Figure label="To be sent again" value={count(health.pending)} />
    <Figure
      label="Failures in a row"
      value={count(health.failuresInRow)}
      note="Off at 20"
      bad={health.failuresInRow > 0}
    />
  </dl>
);

const Deliveries = ({
  id,
  rows,
  zone,
  query,
}: {
  id: string;
  rows: StoredDelivery[];
  zone: string;
  query: { status?: string | undefined; event_id?: string | undefined };
}) => {
  const last = rows.length === PER_PAGE ? rows.at(-1) : undefined;
  const ofStatus: Record<string, string> = query.status ? { status: query.status } : {};
  return (
    <Card title="Deliveries" id="deliveries" aside={<span class="muted">Times in {zone}</span>}>
      <form method="get" action={`${pathOf(id)}#deliveries`} class="row">
        <Field
          label="Status"
          name="status"
          value={query.status ?? ''}
          options={[['', 'All'], ...optionsOf(STATUSES, DELIVERY_STATUS_NAMES)]}
        />
        <Field label="Event" name="event_id" value={query.event_id ?? ''} maxlength={64} />
        <button type="submit" class="quiet">
          Search
        </button>
      </form>
      <Table
        caption="Deliveries, the newest first"
        rows={rows}
        empty="No deliveries. They are kept for 30 days, or less if there are millions."
        columns={[
          {
            label: 'Last attempt',
            cell: ({ eventId, attempts }) => {
              const attempt = attempts.at(-1);
              const text = attempt ? timeText(attempt.at, zone) : 'None';
              return <a href={`${pathOf(id)}/deliveries/${eventId}`}>{text}</a>;
            },
          },
          { label: 'Type', cell: ({ type }) => outboundName(type) },
          { label: 'Status', cell: DeliveryState },
          { label: 'Attempts', numeric: true, cell: ({ attempts }) => String(attempts.length) },
          { label: 'Reason', wrap: true, cell: ({ reason }) => reason ?? NOTHING },
          { label: 'Event', cell: ({ eventId }) => <code>{eventId}</code> },
        ]}
      />
      <NextPart
        cursor={last?.eventId}
        to={(cursor) => `${pathOf(id)}?${new URLSearchParams({ ...ofStatus, cursor })}#deliveries`}
      />
    </Card>
  );
};

const REPLAY_FIELDS: readonly FormField[] = [
  { label: 'From', name: 'from', type: 'date', required: true },
  { label: 'To', name: 'to', type: 'date', hint: 'Days of UTC', required: true },
  {
    label: 'Which',
    name: 'status',
    value: 'failed',
    options: [
      ['failed', 'Failed'],
      ['skipped', 'Skipped'],
      ['all', 'All'],
    ],
  },
];

const Replay = ({ id }: { id: string }) => (
  <FoldedCard title="Send again" id="replay">
    <form
      method="post"
      action={`${pathOf(id)}/replay`}
      class="row"
      data-confirm="Send these deliveries again?"
    >
      <Fields fields={REPLAY_FIELDS} />
      <button type="submit">Send again</button>
    </form>
  </FoldedCard>
);

const Switches = ({ destination: { id, kind, offSince } }: Pick<OwnDestination, 'destination'>) => (
  <div class="row">
    <Action
      to={`${pathOf(id)}/${offSince === null ? 'off' : 'on'}`}
      label={offSince === null ? 'Turn off' : 'Turn on'}
      kind="quiet"
    />
    {kind === 'webhook' && (
      <Action
        to={`${pathOf(id)}/rotate`}
        label="Rotate secret"
        kind="quiet"
        confirm="Create a new secret? Both work for a day."
      />
    )}
    <Action
      to={`${pathOf(id)}/remove`}
      label="Remove"
      kind="danger"
      confirm="Remove this destination with its deliveries?"
    />
  </div>
);

/** One destination: how it does, its deliveries and its settings. */
export async function destinationPage(c: DashboardContext, { values, faults = [] }: Submitted = {}) {
  const found = await own(c);
  const { destination, application } = found;
  const { id, kind, offSince, offReason } = destination;
  const mayChange = isAdmin(c);
  const { data: query } = checkForm(DeliveriesQuery, nonEmpty(c.req.query()));
  const { status, event_id: eventId, cursor = '' } = query ?? {};
  const [health, rows, zone, { secret, test }] = await Promise.all([
    healthOf(c.env, id),
    query ? deliveriesOf(c.env, id, { status, eventId }, cursor, PER_PAGE) : [],
    zoneOf(c),
    takeShown(c, pathOf(id)),
  ]);
  const { label, unverified } = kindOf(kind);
  return renderSettings(
    c,
    {
      title: `${label}: ${kindOf(kind).describe({ settings: destination.settings, credentials: {} })}`,
      tools: mayChange && <Action to={`${pathOf(id)}/test`} label="Send a test" />,
    },
    <>
      <CopyNow text={secret} label="signing secret">
        Your server verifies requests with this secret. It is shown only once.
      </CopyNow>
      {test !== undefined && <Notice kind={test.startsWith('Delivered') ? 'good' : 'bad'}>{test}</Notice>}
      {offSince !== null && (
        <Notice kind="bad">
          Off since {timeText(offSince, zone)}: {offReason}. A test that succeeds turns it on again.
        </Notice>
      )}
      {unverified !== null && <Notice>Not verified: {unverified}</Notice>}
      <Card title="State" aside={<State offSince={offSince} health={health} />}>
        <Figures health={health} zone={zone} />
      </Card>
      <Deliveries
        id={id}
        rows={rows}
        zone={zone}
        query={{ status, event_id: eventId ?? c.req.query('event_id') }}
      />
      {mayChange && <Replay id={id} />}
      {mayChange && (
        <FoldedCard title="Settings" id="settings" open={faults.length > 0}>
          <p class="muted">
            {application.name} · <code>{id}</code>
          </p>
          <form method="post" action={`${pathOf(id)}#settings`} class="stack" novalidate>
            <DestinationFields
              kind={kind}
              isNew={false}
              values={values ?? valuesOf(kind, { destination })}
              faults={faults}
            />
            <button type="submit">Save</button>
          </form>
          <h3>State</h3>
          <Switches destination={destination} />
        </FoldedCard>
      )}
    </>,
  );
}

const nonEmpty = (query: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(query).filter(
      ([name, text]) => text !== '' && ['status', 'event_id', 'cursor'].includes(name),
    ),
  );

const AttemptCard = ({ attempt, number, zone }: { attempt: Attempt; number: number; zone: string }) => {
  const { at, tookMs, status, reason, request, answer } = attempt;
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <Card
      title={`Attempt ${number}`}
      aside={<span class={`badge ${reason === null ? 'good' : 'bad'}`}>{status ?? 'No answer'}</span>}
    >
      <Facts
        facts={[['Time', `${exactTimeText(at, zone)}, ${tookMs} ms`], reason !== null && ['Reason', reason]]}
      />
      <h3>Request</h3>
      <pre tabindex={0}>
        <code>
          {[`${request.method} ${request.url}`, ...headers, '', request.body ?? ''].join('\n').trim()}
        </code>
      </pre>
      <h3>Answer</h3>
      {answer === '' ? (
        <p class="muted">Empty</p>
      ) : (
        <pre tabindex={0}>
          <code>{answer}</code>
        </pre>
      )}
    </Card>
  );
};

/** One delivery with its attempts. */
export async function deliveryPage(c: DashboardContext) {
  const { destination } = await own(c);
  const eventId = c.req.param('event') ?? '';
  const [[delivery], zone] = await Promise.all([
    deliveriesOf(c.env, destination.id, { eventId }, '', 1),
    zoneOf(c),
  ]);
  if (!delivery) throw new AppError('not_found', 'Delivery not found');
  return renderSettings(
    c,
    {
      title: `Delivery: ${outboundName(delivery.type)}`,
      tools: isAdmin(c) && (
        <Action to={`${pathOf(destination.id)}/replay`} label="Send again" fields={{ event_id: eventId }} />
      ),
    },
    <>
      <Card title="State" aside={<DeliveryState status={delivery.status} />}>
        <Facts
          facts={[
            ['Event', <code>{eventId}</code>],
            ['Destination', <a href={pathOf(destination.id)}>{kindOf(destination.kind).label}</a>],
            delivery.reason !== null && ['Reason', delivery.reason],
            delivery.dueAt !== null && ['Next attempt', timeText(delivery.dueAt, zone)],
          ]}
        />
      </Card>
      {delivery.attempts.map((attempt, index) => (
        <AttemptCard attempt={attempt} number={index + 1} zone={zone} />
      ))}
    </>,
  );
}
