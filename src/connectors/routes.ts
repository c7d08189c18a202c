import { Hono } from 'hono';
import { apiCaller } from '#audit';
import { settleCounters } from '#counting';
import { database } from '#db';
import { settingsOf } from '#env';
import {
  type AppEnv,
  jsonBody,
  limitBody,
  MAX_JSON_BODY_BYTES,
  noQuery,
  queryString,
  requireReportSlot,
  requireTeamToken,
} from '#http';
import { isoOrNull } from '#lib/time';
import { getApplication } from '#teams';
import type { Connector, Connectors, Reconciliation } from './answers.ts';
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
import { ReconciliationQuery, reconcileAdRevenue } from './reconcile.ts';

export const connectorRoutes = new Hono<AppEnv>()
  .get('/v1/connectors', requireTeamToken, queryString(ConnectorsQuery), async (c) => {
    const db = database(c.env.DB);
    const application = await getApplication(db, c.get('team').id, c.req.valid('query').application_id);
    return c.json<Connectors>({
      data: (await listConnectors(db, application.id)).map((row) => showConnector(row, Date.now())),
    });
  })
  .post(
    '/v1/connectors',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    noQuery,
    ...jsonBody(NewConnector),
    async (c) => {
      const caller = apiCaller(c);
      const { application_id, ...wanted } = c.req.valid('json');
      const application = await getApplication(caller.db, caller.team.id, application_id);
      const secret = settingsOf(c.env).KEY_ENCRYPTION_SECRET;
      return c.json<Connector>(
        showConnector(await createConnector(caller, application, wanted, secret), caller.now),
        201,
      );
    },
  )
  .get('/v1/connectors/:connector_id', requireTeamToken, noQuery, async (c) => {
    const { connector } = await getConnector(
      database(c.env.DB),
      c.get('team').id,
      c.req.param('connector_id'),
    );
    return c.json<Connector>(showConnector(connector, Date.now()));
  })
  .patch(
    '/v1/connectors/:connector_id',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    noQuery,
    ...jsonBody(ConnectorChanges),
    async (c) => {
      const caller = apiCaller(c);
      const secret = settingsOf(c.env).KEY_ENCRYPTION_SECRET;
      const changes = c.req.valid('json');
      const row = await replaceCredentials(caller, c.req.param('connector_id'), changes, secret);
      return c.json<Connector>(showConnector(row, caller.now));
    },
  )
  .post('/v1/connectors/:connector_id/run', requireTeamToken, noQuery, async (c) => {
    const caller = apiCaller(c);
    const row = await scheduleConnector(caller, c.req.param('connector_id'));
    return c.json<Connector>(showConnector(row, caller.now), 202);
  })
  .post(
    '/v1/connectors/:connector_id/backfill',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    noQuery,
    ...jsonBody(NewBackfill),
    async (c) => {
      const caller = apiCaller(c);
      const row = await startBackfill(caller, c.req.param('connector_id'), c.req.valid('json'));
      return c.json<Connector>(showConnector(row, caller.now), 202);
    },
  )
  .delete('/v1/connectors/:connector_id', requireTeamToken, noQuery, async (c) => {
    const caller = apiCaller(c);
    const row = await deleteConnector(caller, c.req.param('connector_id'));
    return c.json<Connector>(showConnector(row, caller.now));
  })
  .get(
    '/v1/reports/ad-revenue',
    requireTeamToken,
    requireReportSlot,
    queryString(ReconciliationQuery),
    async (c) => {
      const query = c.req.valid('query');
      const application = await getApplication(database(c.env.DB), c.get('team').id, query.application_id);
      const { countedThrough, uncounted } = await settleCounters(c.env, application);
      const figures = await reconcileAdRevenue(c.env, application, query, Date.now());
      return c.json<Reconciliation>({ ...figures, counted_through: isoOrNull(countedThrough), uncounted });
    },
  );
