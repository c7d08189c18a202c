import { apiCaller } from '#audit';
import { settleCounters } from '#counting';
import { database } from '#db';
import { settingsOf } from '#env';
import { type Endpoint, EXAMPLE, endpoint, missing, requireReportSlot } from '#http';
import { isoOrNull } from '#lib/time';
import { ownApplication } from '#teams';
import { Connector, Connectors, Reconciliation } from './answers.ts';
import {
  ConnectorsQuery,
  createConnector,
  deleteConnector,
  getConnector,
  listConnectors,
  NewBackfill,
  NewConnector,
  scheduleConnector,
  showConnector,
  startBackfill,
} from './connectors.ts';
import { ConnectorChanges, replaceCredentials } from './credentials.ts';
import { CONNECTOR_KINDS, type ConnectorKind, KINDS } from './kinds.ts';
import { ReconciliationQuery, reconcileAdRevenue } from './reconcile.ts';

const shared = { credential: 'teamToken', tag: 'Connectors' } as const;
const one = {
  path: '/v1/connectors/{connector_id}',
  params: { connector_id: EXAMPLE.connector },
  errors: missing('Connector'),
} as const;
const runs = { description: 'The connector. It runs within a minute.', schema: Connector } as const;

/** `meta`: settings `account_id`; credentials `access_token`. */
const fields = CONNECTOR_KINDS.map((name) => {
  const { settings, credentials }: ConnectorKind = KINDS[name];
  const names = (shape: object) =>
    Object.keys(shape)
      .map((field) => `\`${field}\``)
      .join(', ');
  return `\`${name}\`: settings ${names(settings.shape)}; credentials ${names(credentials.shape)}.`;
}).join(' ');

export const connectorEndpoints: Endpoint[] = [
  endpoint({
    ...shared,
    method: 'get',
    path: '/v1/connectors',
    summary: 'List connectors',
    description:
      'Costs that the service fetches from advertising networks, and reports of ad revenue from mediation platforms, every day. Keys are never shown.',
    query: { schema: ConnectorsQuery, example: { application_id: EXAMPLE.application } },
    answer: { description: 'The connectors, oldest first.', schema: Connectors },
    errors: missing('Application'),
    async handle(c, { query }) {
      const application = await ownApplication(c, query.application_id);
      const rows = await listConnectors(database(c.env.DB), application.id);
      return { data: rows.map((row) => showConnector(row, Date.now())) };
    },
  }),
  endpoint({
    ...shared,
    method: 'post',
    path: '/v1/connectors',
    summary: 'Add a connector',
    description: `Fetches an advertising network's costs, or a mediation platform's report of ad impressions, every day. The last 7 days are read each time, and replaced as a whole. Costs belong to the creative, ad set or campaign that has the network's id as one of its \`external_ids\`, and else to the one of the same name; they are spend in every report. Ad revenue is compared with that of events by \`GET /v1/reports/ad-revenue\`, and is in no other report. ${fields}`,
    body: {
      schema: NewConnector,
      examples: {
        meta: {
          application_id: EXAMPLE.application,
          kind: 'meta',
          settings: { account_id: '1203456789012345', campaign_contains: 'Game' },
          credentials: { access_token: 'the-access-token' },
        },
        google: {
          application_id: EXAMPLE.application,
          kind: 'google',
          settings: { customer_id: '123-456-7890', login_customer_id: '987-654-3210' },
          credentials: {
            ...{ developer_token: 'the-developer-token', client_id: 'the-client-id' },
            ...{ client_secret: 'the-client-secret', refresh_token: 'the-refresh-token' },
          },
        },
        pull: {
          application_id: EXAMPLE.application,
          kind: 'pull',
          settings: { url: 'https://costs.example.com/daily.csv?from={from}&to={to}' },
          credentials: { bearer_token: 'the-token' },
        },
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
    answer: { ...runs, status: 201 },
    errors: {
      ...missing('Application'),
      409: 'The application has 10 connectors already, or one that fetches the same costs.',
    },
    async handle(c, { body: { application_id, ...wanted } }) {
      const application = await ownApplication(c, application_id);
      return createConnector(apiCaller(c), application, wanted, settingsOf(c.env).KEY_ENCRYPTION_SECRET);
    },
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'get',
    summary: 'Retrieve a connector',
    answer: { description: 'The connector.', schema: Connector },
    async handle(c, { params }) {
      const { db, team, now } = apiCaller(c);
      const { connector } = await getConnector(db, team.id, params.connector_id);
      return showConnector(connector, now);
    },
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'patch',
    summary: "Replace a connector's credentials",
    description:
      'For a token that has expired or was revoked. All credentials are replaced, the last error is cleared, and what was fetched stays. Nothing else can be changed: another account is another connector.',
    body: {
      schema: ConnectorChanges,
      examples: { meta: { credentials: { access_token: 'the-new-token' } } },
    },
    answer: runs,
    handle(c, { params, body }) {
      const secret = settingsOf(c.env).KEY_ENCRYPTION_SECRET;
      return replaceCredentials(apiCaller(c), params.connector_id, body, secret);
    },
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'post',
    path: '/v1/connectors/{connector_id}/run',
    summary: 'Run a connector now',
    answer: { ...runs, status: 202 },
    handle: (c, { params }) => scheduleConnector(apiCaller(c), params.connector_id),
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'post',
    path: '/v1/connectors/{connector_id}/backfill',
    summary: 'Read past days again',
    description:
      'Reads the days again and replaces what is stored of them, a week per run. `backfill` of the connector tells how far it is. It takes the place of an earlier one; the daily runs go on.',
    body: { schema: NewBackfill, examples: { month: { from: EXAMPLE.from, to: EXAMPLE.to } } },
    answer: { ...runs, status: 202 },
    handle: (c, { params, body }) => startBackfill(apiCaller(c), params.connector_id, body),
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'delete',
    summary: 'Delete a connector',
    description: 'Deletes the costs or the reported ad revenue that it fetched, too.',
    answer: { description: 'The deleted connector.', schema: Connector },
    handle: (c, { params }) => deleteConnector(apiCaller(c), params.connector_id),
  }),
  endpoint({
    ...shared,
    method: 'get',
    path: '/v1/reports/ad-revenue',
    summary: 'Compare ad revenue with the reports of mediation platforms',
    description:
      'Impressions and ad revenue that arrived with events beside those that connectors fetched, by day and network, in US dollars. Days of platforms are in UTC.',
    query: {
      schema: ReconciliationQuery,
      example: { application_id: EXAMPLE.application, from: EXAMPLE.from, to: EXAMPLE.to },
    },
    answer: { description: 'A row for each day and network.', schema: Reconciliation },
    errors: missing('Application'),
    checks: [requireReportSlot],
    async handle(c, { query }) {
      const application = await ownApplication(c, query.application_id);
      const { countedThrough, uncounted } = await settleCounters(c.env, application);
      const figures = await reconcileAdRevenue(c.env, application, query, Date.now());
      return { ...figures, counted_through: isoOrNull(countedThrough), uncounted };
    },
  }),
];
