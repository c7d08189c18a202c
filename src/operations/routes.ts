import { Hono } from 'hono';
import { apiCaller } from '#audit';
import { database } from '#db';
import { settingsOf } from '#env';
import {
  type AppContext,
  type AppEnv,
  AppError,
  addressOf,
  bearerOf,
  invalidRequest,
  listQuery,
  noQuery,
  pageOf,
  queryString,
  requireTeamToken,
  requireWithin,
} from '#http';
import { secretsIn, sha256Hex } from '#lib/crypto';
import { discardParked, listParked, type ParkedMessage, replayParked } from '#rollup';
import type {
  CountingResumed,
  Health,
  Liveness,
  ParkedDiscarded,
  ParkedMessages,
  ParkedReplayed,
} from './answers.ts';
import { checkHealth } from './check-health.ts';
import { measureDeployment } from './measure-deployment.ts';
import { METRICS_TYPE, toOpenMetrics } from './metrics-text.ts';
import { resumeApplication } from './resume-counting.ts';

const CURSOR = /^(\d{1,15})\.(.+)$/;

/** A position in the list: time and id of the previous page's last message. */
function placeOf(cursor: string): { parkedAt: number; id: string } | undefined {
  if (cursor === '') return undefined;
  const [, parkedAt, id] = CURSOR.exec(cursor) ?? [];
  if (!parkedAt || !id)
    throw invalidRequest([{ path: 'cursor', message: 'must be a cursor returned by a previous request' }]);
  return { parkedAt: Number(parkedAt), id };
}

const show = ({ id, applicationId, body, reason, parkedAt }: ParkedMessage) => ({
  id,
  application_id: applicationId || null,
  reason,
  parked_at: new Date(parkedAt).toISOString(),
  body,
});

/** Compares hashes, so that the comparison does not leak the token by its timing. */
async function requireMetricsToken(c: AppContext): Promise<void> {
  const { METRICS_TOKEN: token } = settingsOf(c.env);
  if (token === '') throw new AppError('not_found', 'Metrics are switched off: METRICS_TOKEN is not set');
  await requireWithin(c.env.UNKNOWN_CREDENTIAL_LIMIT, addressOf(c));
  const allowed = await Promise.all(secretsIn(token).map(sha256Hex));
  if (!allowed.includes(await sha256Hex(bearerOf(c) ?? ''))) {
    throw new AppError('unauthenticated', 'Invalid or missing metrics token');
  }
}

export const healthRoutes = new Hono<AppEnv>()
  .get('/health', (c) => c.json<Liveness>({ status: 'ok' }))
  .get('/metrics', async (c) => {
    await requireMetricsToken(c);
    const gauges = await measureDeployment(c.env, Date.now());
    return c.body(toOpenMetrics(gauges), 200, { 'Content-Type': METRICS_TYPE, 'Cache-Control': 'no-store' });
  });

export const operationRoutes = new Hono<AppEnv>()
  .get('/v1/health', requireTeamToken, noQuery, async (c) =>
    c.json<Health>(await checkHealth(c.env, c.get('team').id, Date.now())),
  )
  .post('/v1/applications/:id/resume-counting', requireTeamToken, async (c) =>
    c.json<CountingResumed>(await resumeApplication(c.env, apiCaller(c), c.req.param('id'))),
  )
  .get('/v1/parked', requireTeamToken, queryString(listQuery), async (c) => {
    const { limit, cursor } = c.req.valid('query');
    const [db, before] = [database(c.env.DB), placeOf(cursor)];
    const read = async (rows: number) =>
      (await listParked(db, c.get('team').id, { limit: rows, before })).messages;
    const page = await pageOf(limit, read, ({ parkedAt, id }) => `${parkedAt}.${id}`);
    return c.json<ParkedMessages>({ ...page, data: page.data.map(show) });
  })
  .post('/v1/parked/:id/replay', requireTeamToken, async (c) => {
    const { id } = c.req.param();
    await replayParked(c.env, apiCaller(c), id);
    return c.json<ParkedReplayed>({ replayed: true, id });
  })
  .delete('/v1/parked/:id', requireTeamToken, async (c) => {
    const { id } = c.req.param();
    await discardParked(apiCaller(c), id);
    return c.json<ParkedDiscarded>({ discarded: true, id });
  });
