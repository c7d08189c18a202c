import { EXAMPLE, inPath, missing, type Operation, withExamples } from '#http/operations';
import {
  Deliveries,
  Destination,
  DestinationCreated,
  DestinationState,
  Destinations,
  Replayed,
  SecretRotated,
  TestResult,
} from './answers.ts';
import {
  DeliveriesQuery,
  DestinationChanges,
  DestinationsQuery,
  NewDestination,
  ReplayRequest,
} from './requests.ts';

const shared = { credential: 'teamToken', tag: 'Destinations' } as const;
const notFound = missing('Destination');
const one = inPath('destination_id', EXAMPLE.destination);

export const operations: Operation[] = [
  {
    ...shared,
    method: 'get',
    path: '/v1/destinations',
    summary: 'List destinations',
    description: 'Where the counted events of an application are sent. Credentials are never shown.',
    parameters: { query: withExamples(DestinationsQuery, { application_id: EXAMPLE.application }) },
    answer: { status: 200, description: 'The destinations, oldest first.', schema: Destinations },
    errors: missing('Application'),
  },
  {
    ...shared,
    method: 'post',
    path: '/v1/destinations',
    summary: 'Add a destination',
    description:
      'Sends each event that is counted from then on and matches, at least once and always with the same id: never a repeat, a test event, a parked or an erased one. `events` has some of `install`, `purchase`, `ad`, `retention`, `refund` and `custom:<name>`. `url` and `template` are settings, too. What a kind needs is in [Destinations](/docs/destinations).',
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
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/destinations/{destination_id}',
    summary: 'Retrieve a destination',
    parameters: one,
    answer: { status: 200, description: 'The destination, and how it does.', schema: DestinationState },
    errors: notFound,
  },
  {
    ...shared,
    method: 'patch',
    path: '/v1/destinations/{destination_id}',
    summary: 'Change a destination',
    description:
      'Fields that are left out keep their values; `credentials` are replaced as a whole. `enabled` switches it on or off. While it is off, it is sent nothing of what is counted; deliveries that wait continue once it is on again.',
    parameters: one,
    body: {
      schema: DestinationChanges,
      examples: { events: { events: ['purchase', 'refund'] }, off: { enabled: false } },
    },
    answer: { status: 200, description: 'The changed destination.', schema: Destination },
    errors: notFound,
  },
  {
    ...shared,
    method: 'post',
    path: '/v1/destinations/{destination_id}/rotate',
    summary: 'Rotate the signing secret of a webhook',
    description: 'The former secret signs, too, for another 24 hours.',
    parameters: one,
    answer: { status: 200, description: 'The destination with its new secret.', schema: SecretRotated },
    errors: { ...notFound, 409: 'The destination is no webhook.' },
  },
  {
    ...shared,
    method: 'post',
    path: '/v1/destinations/{destination_id}/test',
    summary: 'Send a test event',
    description:
      'Sends an event that was made up, of the first of `events` that the destination would not skip, once, and waits up to 15 seconds for the answer. If it is delivered, a destination that was switched off is switched on again.',
    parameters: one,
    answer: { status: 200, description: 'What happened.', schema: TestResult },
    errors: notFound,
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/destinations/{destination_id}/deliveries',
    summary: 'List deliveries',
    description:
      'Events that were sent at least once, or skipped, with their attempts, for 30 days after they were received. The newest first.',
    parameters: {
      ...one,
      query: withExamples(DeliveriesQuery, { limit: 50, cursor: '', status: 'failed' }),
    },
    answer: { status: 200, description: 'A page of deliveries.', schema: Deliveries },
    errors: notFound,
  },
  {
    ...shared,
    method: 'post',
    path: '/v1/destinations/{destination_id}/replay',
    summary: 'Send deliveries again',
    description:
      'Those of events that were received in a period, by `status` (`failed` by default, or `all`), or that of one event. They keep their ids.',
    parameters: one,
    body: {
      schema: ReplayRequest,
      examples: {
        period: { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z', status: 'failed' },
        event: { event_id: EXAMPLE.event },
      },
    },
    answer: { status: 200, description: 'How many are sent again.', schema: Replayed },
    errors: notFound,
  },
  {
    ...shared,
    method: 'delete',
    path: '/v1/destinations/{destination_id}',
    summary: 'Delete a destination',
    description: 'Deletes its deliveries, too.',
    parameters: one,
    answer: { status: 200, description: 'The deleted destination.', schema: Destination },
    errors: notFound,
  },
];
