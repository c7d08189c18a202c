import { apiCaller } from '#audit';
import { database } from '#db';
import { type AppContext, type Endpoint, EXAMPLE, endpoint, missing, pageOf } from '#http';
import { list } from '#http/answers';
import { iso, isoOrNull } from '#lib/time';
import { ownApplication } from '#teams';
import {
  Delivery,
  Destination,
  DestinationCreated,
  DestinationState,
  Destinations,
  Replayed,
  SecretRotated,
  TestResult,
} from './answers.ts';
import {
  changeDestination,
  createDestination,
  deleteDestination,
  deliveriesOf,
  getDestination,
  healthOf,
  listDestinations,
  replayDeliveries,
  rotateSecret,
  testDestination,
} from './destinations.ts';
import {
  DeliveriesQuery,
  DestinationChanges,
  DestinationsQuery,
  NewDestination,
  ReplayRequest,
} from './requests.ts';
import { ROTATED_FOR_MS } from './secrets.ts';
import { showDelivery, showDestination, showTest } from './show.ts';

const shared = { credential: 'teamToken', tag: 'Destinations' } as const;
const one = {
  path: '/v1/destinations/{destination_id}',
  params: { destination_id: EXAMPLE.destination },
  errors: missing('Destination'),
} as const;

/** The destination of a path, after checking that it is the team's. */
const ofPath = (c: AppContext, id: string) => getDestination(database(c.env.DB), c.get('team').id, id);

export const destinationEndpoints: Endpoint[] = [
  endpoint({
    ...shared,
    method: 'get',
    path: '/v1/destinations',
    summary: 'List destinations',
    description: 'Where the counted events of an application are sent. Credentials are never shown.',
    query: { schema: DestinationsQuery, example: { application_id: EXAMPLE.application } },
    answer: { description: 'The destinations, oldest first.', schema: Destinations },
    errors: missing('Application'),
    async handle(c, { query }) {
      const application = await ownApplication(c, query.application_id);
      return { data: (await listDestinations(database(c.env.DB), [application.id])).map(showDestination) };
    },
  }),
  endpoint({
    ...shared,
    method: 'post',
    path: '/v1/destinations',
    summary: 'Add a destination',
    description:
      'Sends each event that is counted from then on and matches, at least once and always with the same id: never a repeat, a test event, a parked or an erased one. `events` has some of `install`, `purchase`, `ad`, `retention`, `refund` and `custom:<name>`. `url` and `template` are settings, too. What a kind needs is shown by the form of the dashboard (Settings → Destinations), and in docs/destinations.md of its code.',
    body: {
      schema: NewDestination,
      examples: {
        webhook: {
          application_id: EXAMPLE.application,
          kind: 'webhook',
          url: 'https://example.com/hooks/attribution',
          events: ['install', 'purchase', 'custom:level_up'],
          filter: { paid_only: true },
        },
      },
    },
    answer: {
      status: 201,
      description: 'The destination. That of a `webhook` has its signing secret, this once.',
      schema: DestinationCreated,
    },
    errors: { ...missing('Application'), 409: 'The application has 10 destinations already.' },
    async handle(c, { body: { application_id, ...wanted } }) {
      const application = await ownApplication(c, application_id);
      const { destination, secret } = await createDestination(c.env, apiCaller(c), application, wanted);
      return { ...showDestination(destination), ...(secret === null ? {} : { secret }) };
    },
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'get',
    summary: 'Retrieve a destination',
    answer: { description: 'The destination, and how it does.', schema: DestinationState },
    async handle(c, { params }) {
      const { destination } = await ofPath(c, params.destination_id);
      const health = await healthOf(c.env, destination.id);
      return {
        ...showDestination(destination),
        pending: health.pending,
        oldest_pending_at: isoOrNull(health.oldestAt),
        last_success_at: isoOrNull(health.lastSuccessAt),
        failures_in_row: health.failuresInRow,
        recent_attempts: health.attempts,
        recent_failures: health.failed,
      };
    },
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'patch',
    summary: 'Change a destination',
    description:
      'Fields that are left out keep their values; `credentials` are replaced as a whole. `enabled` switches it on or off. While it is off, it is sent nothing of what is counted; deliveries that wait continue once it is on again.',
    body: {
      schema: DestinationChanges,
      examples: { events: { events: ['purchase', 'refund'] }, off: { enabled: false } },
    },
    answer: { description: 'The changed destination.', schema: Destination },
    handle: async (c, { params, body }) =>
      showDestination(await changeDestination(c.env, apiCaller(c), params.destination_id, body)),
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'post',
    path: '/v1/destinations/{destination_id}/rotate',
    summary: 'Rotate the signing secret of a webhook',
    description: 'The former secret signs, too, for another 24 hours.',
    answer: { description: 'The destination with its new secret.', schema: SecretRotated },
    errors: { ...one.errors, 409: 'The destination is no webhook.' },
    async handle(c, { params }) {
      const caller = apiCaller(c);
      const { destination, secret } = await rotateSecret(c.env, caller, params.destination_id);
      const former_secret_expires_at = iso(caller.now + ROTATED_FOR_MS);
      return { ...showDestination(destination), secret, former_secret_expires_at };
    },
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'post',
    path: '/v1/destinations/{destination_id}/test',
    summary: 'Send a test event',
    description:
      'Sends an event that was made up, of the first of `events` that the destination would not skip, once, and waits up to 15 seconds for the answer. If it is delivered, a destination that was switched off is switched on again.',
    answer: { description: 'What happened.', schema: TestResult },
    handle: async (c, { params }) =>
      showTest(await testDestination(c.env, apiCaller(c), await ofPath(c, params.destination_id))),
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'get',
    path: '/v1/destinations/{destination_id}/deliveries',
    summary: 'List deliveries',
    description:
      'Events that were sent at least once, or skipped, with their attempts, for 30 days after they were received. The newest first.',
    query: { schema: DeliveriesQuery, example: { limit: 50, cursor: '', status: 'failed' } },
    answer: { description: 'A page of deliveries.', schema: list(Delivery) },
    async handle(c, { params, query: { limit, cursor, status, event_id: eventId } }) {
      const { destination } = await ofPath(c, params.destination_id);
      const read = (rows: number) => deliveriesOf(c.env, destination.id, { status, eventId }, cursor, rows);
      const page = await pageOf(limit, read, ({ eventId }) => eventId);
      return { ...page, data: page.data.map(showDelivery) };
    },
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'post',
    path: '/v1/destinations/{destination_id}/replay',
    summary: 'Send deliveries again',
    description:
      'Those of events that were received in a period, by `status` (`failed` by default, or `all`), or that of one event. They keep their ids.',
    body: {
      schema: ReplayRequest,
      examples: {
        period: { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z', status: 'failed' },
        event: { event_id: EXAMPLE.event },
      },
    },
    answer: { description: 'How many are sent again.', schema: Replayed },
    async handle(c, { params, body }) {
      const own = await ofPath(c, params.destination_id);
      return { replayed: await replayDeliveries(c.env, apiCaller(c), own, body) };
    },
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'delete',
    summary: 'Delete a destination',
    description: 'Deletes its deliveries, too.',
    answer: { description: 'The deleted destination.', schema: Destination },
    handle: async (c, { params }) =>
      showDestination(await deleteDestination(c.env, apiCaller(c), params.destination_id)),
  }),
];
