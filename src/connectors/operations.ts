import { EXAMPLE, inPath, missing, type Operation, withExamples } from '#http/operations';
import { Connector, Connectors, Reconciliation } from './answers.ts';
import { ConnectorsQuery, NewConnector } from './connectors.ts';
import { ReconciliationQuery } from './reconcile.ts';

const shared = { credential: 'teamToken', tag: 'Connectors' } as const;
const notFound = missing('Connector');
const one = inPath('connector_id', EXAMPLE.connector);

export const operations: Operation[] = [
  {
    ...shared,
    method: 'get',
    path: '/v1/connectors',
    summary: 'List connectors',
    description: 'Reports that the service fetches from mediation platforms every day. Keys are never shown.',
    parameters: { query: withExamples(ConnectorsQuery, { application_id: EXAMPLE.application }) },
    answer: { status: 200, description: 'The connectors, oldest first.', schema: Connectors },
    errors: missing('Application'),
  },
  {
    ...shared,
    method: 'post',
    path: '/v1/connectors',
    summary: 'Add a connector',
    description:
      "Fetches a platform's report of ad impressions, at first of the last 7 days. `max`: settings `application` (package name or bundle id) and `platform`, credentials `report_key`. `levelplay`: settings `app_key`, credentials `secret_key` and `refresh_token`. The figures are compared with those of events by `GET /v1/reports/ad-revenue`, and are in no other report.",
    body: {
      schema: NewConnector,
      examples: {
        max: {
          application_id: EXAMPLE.application,
          kind: 'max',
          settings: { application: 'com.example.game', platform: 'android' },
          credentials: { report_key: 'the-report-key' },
        },
        levelplay: {
          application_id: EXAMPLE.application,
          kind: 'levelplay',
          settings: { app_key: '19b5740aa' },
          credentials: { secret_key: 'the-secret-key', refresh_token: 'the-refresh-token' },
        },
      },
    },
    answer: { status: 201, description: 'The connector. It runs within a minute.', schema: Connector },
    errors: { ...missing('Application'), 409: 'The application has 10 connectors already.' },
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/connectors/{connector_id}',
    summary: 'Retrieve a connector',
    parameters: one,
    answer: { status: 200, description: 'The connector.', schema: Connector },
    errors: notFound,
  },
  {
    ...shared,
    method: 'post',
    path: '/v1/connectors/{connector_id}/run',
    summary: 'Run a connector now',
    parameters: one,
    answer: { status: 202, description: 'The connector. It runs within a minute.', schema: Connector },
    errors: notFound,
  },
  {
    ...shared,
    method: 'delete',
    path: '/v1/connectors/{connector_id}',
    summary: 'Delete a connector',
    description: 'Deletes what it fetched, too.',
    parameters: one,
    answer: { status: 200, description: 'The deleted connector.', schema: Connector },
    errors: notFound,
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/reports/ad-revenue',
    summary: 'Compare ad revenue with the reports of mediation platforms',
    description:
      'Impressions and ad revenue that arrived with events beside those that connectors fetched, by day and network, in US dollars. Days of platforms are in UTC.',
    parameters: {
      query: withExamples(ReconciliationQuery, {
        application_id: EXAMPLE.application,
        from: EXAMPLE.from,
        to: EXAMPLE.to,
      }),
    },
    answer: { status: 200, description: 'A row for each day and network.', schema: Reconciliation },
    errors: missing('Application'),
  },
];
