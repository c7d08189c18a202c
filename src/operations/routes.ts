import { apiCaller } from '#audit';
import { database } from '#db';
import { invalidSettings, settingsOf } from '#env';
import {
  type AppContext,
  AppError,
  addressOf,
  bearerOf,
  type Endpoint,
  EXAMPLE,
  endpoint,
  invalidRequest,
  listQuery,
  missing,
  pageOf,
  requireWithin,
} from '#http';
import { secretsIn, sha256Hex } from '#lib/crypto';
import { discardParked, listParked, type ParkedMessage, replayParked } from '#rollup';
import {
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
import { sayWhatFails } from './outage.ts';
import { resumeApplication } from './resume-counting.ts';

const CURSOR = /^(\d{1,15})\.(prk_[0-9a-f]{32})$/;

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
  if (token === '') {
    const fault = invalidSettings(c.env).find((invalid) => invalid.startsWith('METRICS_TOKEN '));
    throw new AppError('not_found', `Metrics are switched off: ${fault ?? 'METRICS_TOKEN is not set'}`);
  }
  await requireWithin(c.env.UNKNOWN_CREDENTIAL_LIMIT, addressOf(c));
  const allowed = await Promise.all(secretsIn(token).map(sha256Hex));
  if (!allowed.includes(await sha256Hex(bearerOf(c) ?? ''))) {
    throw new AppError('unauthenticated', 'Invalid or missing metrics token');
  }
}

async function answerMetrics(c: AppContext) {
  await requireMetricsToken(c);
  const gauges = await measureDeployment(c.env, Date.now());
  return c.body(toOpenMetrics(gauges), 200, { 'Content-Type': METRICS_TYPE, 'Cache-Control': 'no-store' });
}

const shared = { credential: 'teamToken', tag: 'Operations' } as const;

const notFound = missing('Parked message');

const checked = endpoint({
  ...shared,
  method: 'get',
  path: '/v1/health',
  summary: 'Retrieve the health of event processing',
  description:
    'The status is `degraded` if events have waited more than an hour to be counted, counting refuses events or devices or does not respond, raw events cannot be written to R2, an event queue does not deliver or is missing, or messages are parked or filed. `problems` says why, and `runbooks` what to do. While the database does not respond, the answer is 503 and names what does not respond. The request does not trigger counting.',
  answer: { description: 'The health of event processing.', schema: Health },
  handle: (c) => checkHealth(c.env, c.get('team').id, Date.now()),
});

/** It says what does not respond, rather than that it failed. */
const health: Endpoint = {
  ...checked,
  otherAnswers: {
    503: { description: 'The database does not respond: `problems` says what else does not.' },
  },
  handlers: [sayWhatFails, ...checked.handlers],
};

export const operationEndpoints: Endpoint[] = [
  endpoint({
    ...shared,
    credential: null,
    method: 'get',
    path: '/health',
    summary: 'Check that the service is running',
    description: 'It queries neither the database nor counting. Use `/v1/health` for those.',
    answer: { description: 'The service is running.', schema: Liveness },
    handle: () => ({ status: 'ok' as const }),
  }),
  {
    ...shared,
    credential: 'metricsToken',
    method: 'get',
    path: '/metrics',
    summary: 'Retrieve the metrics of the deployment',
    description: 'For monitoring by operators, across all teams.',
    answer: {
      description: 'Gauges in the OpenMetrics text format.',
      more: {
        'application/openmetrics-text':
          '# TYPE attribution_parked_messages gauge\n# HELP attribution_parked_messages Messages that cannot be counted.\nattribution_parked_messages 0\n# EOF\n',
      },
    },
    errors: { 404: 'Metrics are switched off: `METRICS_TOKEN` is not set, or not valid.' },
    handlers: [answerMetrics],
  },
  health,
  endpoint({
    ...shared,
    method: 'post',
    path: '/v1/applications/{id}/resume-counting',
    summary: 'Resume counting after a restore',
    description:
      'When the database is restored to an earlier time, counting stops, and `/v1/health` shows `needs_resume` within a minute. Events are still accepted and wait. This request adds to the reports what the database has lost, creates missing creatives again, and counts the waiting events. It also continues after counting or the bucket has lost what it stored. A large loss is added in the background: see `unwritten_parts`. Without a loss, it has no effect. Repeating the request is safe.',
    params: { id: EXAMPLE.application },
    answer: { description: 'Counting is resumed.', schema: CountingResumed },
    errors: missing('Application'),
    handle: (c, { params }) => resumeApplication(c.env, apiCaller(c), params.id),
  }),
  endpoint({
    ...shared,
    method: 'get',
    path: '/v1/parked',
    summary: 'List parked messages',
    description: 'Messages that could not be counted.',
    query: { schema: listQuery, example: { limit: 50, cursor: '' } },
    answer: { description: 'A page of messages, newest first.', schema: ParkedMessages },
    async handle(c, { query: { limit, cursor } }) {
      const [db, before] = [database(c.env.DB), placeOf(cursor)];
      const read = async (rows: number) =>
        (await listParked(db, c.get('team').id, { limit: rows, before })).messages;
      const page = await pageOf(limit, read, ({ parkedAt, id }) => `${parkedAt}.${id}`);
      return { ...page, data: page.data.map(show) };
    },
  }),
  endpoint({
    ...shared,
    method: 'post',
    path: '/v1/parked/{id}/replay',
    summary: 'Replay a parked message',
    description:
      'Sends the message to the queue again. Its events are counted once, however often you replay it. A message that still cannot be counted is parked again, under a new id if the reason is new.',
    params: { id: EXAMPLE.parked },
    answer: { description: 'The message is in the queue.', schema: ParkedReplayed },
    errors: { ...notFound, 409: 'The message is empty and can only be discarded.' },
    async handle(c, { params: { id } }) {
      await replayParked(c.env, apiCaller(c), id);
      return { replayed: true as const, id };
    },
  }),
  endpoint({
    ...shared,
    method: 'delete',
    path: '/v1/parked/{id}',
    summary: 'Discard a parked message',
    description: 'Its events are never counted.',
    params: { id: EXAMPLE.discarded },
    answer: { description: 'The message is deleted.', schema: ParkedDiscarded },
    errors: notFound,
    async handle(c, { params: { id } }) {
      await discardParked(apiCaller(c), id);
      return { discarded: true as const, id };
    },
  }),
];
