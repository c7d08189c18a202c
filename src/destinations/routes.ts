import { Hono } from 'hono';
import { apiCaller } from '#audit';
import { database } from '#db';
import {
  type AppContext,
  type AppEnv,
  jsonBody,
  limitBody,
  MAX_JSON_BODY_BYTES,
  noQuery,
  pageOf,
  queryString,
  requireTeamToken,
} from '#http';
import { iso, isoOrNull } from '#lib/time';
import { getApplication } from '#teams';
import type {
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
  changeDestination,
  createDestination,
  deleteDestination,
  getDestination,
  listDestinations,
  rotateSecret,
} from './destinations.ts';
import { deliveriesOf, healthOf } from './read.ts';
import {
  DeliveriesQuery,
  DestinationChanges,
  DestinationsQuery,
  NewDestination,
  ReplayRequest,
} from './requests.ts';
import { ROTATED_FOR_MS } from './secrets.ts';
import { showDelivery, showDestination, showTest } from './show.ts';
import { replayDeliveries, testDestination } from './use.ts';

/** The destination of a path, after checking that it is the team's. */
const ofPath = (c: AppContext, id: string) => getDestination(database(c.env.DB), c.get('team').id, id);

export const destinationRoutes = new Hono<AppEnv>()
  .get('/v1/destinations', requireTeamToken, queryString(DestinationsQuery), async (c) => {
    const db = database(c.env.DB);
    const application = await getApplication(db, c.get('team').id, c.req.valid('query').application_id);
    return c.json<Destinations>({
      data: (await listDestinations(db, [application.id])).map(showDestination),
    });
  })
  .post(
    '/v1/destinations',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    noQuery,
    ...jsonBody(NewDestination),
    async (c) => {
      const caller = apiCaller(c);
      const { application_id, ...wanted } = c.req.valid('json');
      const application = await getApplication(caller.db, caller.team.id, application_id);
      const { destination, secret } = await createDestination(c.env, caller, application, wanted);
      return c.json<DestinationCreated>(
        { ...showDestination(destination), ...(secret === null ? {} : { secret }) },
        201,
      );
    },
  )
  .get('/v1/destinations/:destination_id', requireTeamToken, noQuery, async (c) => {
    const { destination } = await ofPath(c, c.req.param('destination_id'));
    const health = await healthOf(c.env, destination.id);
    return c.json<DestinationState>({
      ...showDestination(destination),
      pending: health.pending,
      oldest_pending_at: isoOrNull(health.oldestAt),
      last_success_at: isoOrNull(health.lastSuccessAt),
      failures_in_row: health.failuresInRow,
      recent_attempts: health.attempts,
      recent_failures: health.failed,
    });
  })
  .patch(
    '/v1/destinations/:destination_id',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    noQuery,
    ...jsonBody(DestinationChanges),
    async (c) =>
      c.json<Destination>(
        showDestination(
          await changeDestination(c.env, apiCaller(c), c.req.param('destination_id'), c.req.valid('json')),
        ),
      ),
  )
  .delete('/v1/destinations/:destination_id', requireTeamToken, noQuery, async (c) =>
    c.json<Destination>(
      showDestination(await deleteDestination(c.env, apiCaller(c), c.req.param('destination_id'))),
    ),
  )
  .post('/v1/destinations/:destination_id/rotate', requireTeamToken, noQuery, async (c) => {
    const caller = apiCaller(c);
    const { destination, secret } = await rotateSecret(c.env, caller, c.req.param('destination_id'));
    return c.json<SecretRotated>({
      ...showDestination(destination),
      secret,
      former_secret_expires_at: iso(caller.now + ROTATED_FOR_MS),
    });
  })
  .post('/v1/destinations/:destination_id/test', requireTeamToken, noQuery, async (c) =>
    c.json<TestResult>(
      showTest(await testDestination(c.env, apiCaller(c), await ofPath(c, c.req.param('destination_id')))),
    ),
  )
  .get(
    '/v1/destinations/:destination_id/deliveries',
    requireTeamToken,
    queryString(DeliveriesQuery),
    async (c) => {
      const { limit, cursor, status, event_id: eventId } = c.req.valid('query');
      const { destination } = await ofPath(c, c.req.param('destination_id'));
      const read = (rows: number) => deliveriesOf(c.env, destination.id, { status, eventId }, cursor, rows);
      const page = await pageOf(limit, read, ({ eventId }) => eventId);
      return c.json<Deliveries>({ ...page, data: page.data.map(showDelivery) });
    },
  )
  .post(
    '/v1/destinations/:destination_id/replay',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    noQuery,
    ...jsonBody(ReplayRequest),
    async (c) => {
      const own = await ofPath(c, c.req.param('destination_id'));
      const replayed = await replayDeliveries(c.env, apiCaller(c), own, c.req.valid('json'));
      return c.json<Replayed>({ replayed });
    },
  );
