import { Hono } from 'hono';
import { EventEnvelope } from '#catalogue';
import {
  acceptDevices,
  DeviceMetrics,
  deepLinkOf,
  fetchTokens,
  tokenRequired,
  type VerifiedToken,
  verifyToken,
} from '#devices';
import {
  type AppContext,
  type AppEnv,
  answerJson,
  invalidRequest,
  jsonBody,
  limitBody,
  requireApiKey,
  requireApiOrBearerKey,
  requireDataCollection,
} from '#http';
import { acceptBatch, acceptEvent } from './accept-events.ts';
import type { BatchAccepted, CollectionStatus, EventAccepted, Token, TokenBatch } from './answers.ts';
import { noteRejectedItems } from './rejections.ts';
import { Batch, DeviceBatch, MAX_KEY_LENGTH, VerifyToken } from './requests.ts';

const EVENT_BYTES = 64 * 1024;
const BATCH_BYTES = 1024 * 1024;

function collectionStatus(c: AppContext) {
  // A cached answer to one origin must not be given to another.
  c.header('Vary', 'Origin');
  return c.json<CollectionStatus>({
    success: true,
    enabled: c.get('application').dataCollection,
    server_time: new Date().toISOString(),
  });
}

function idempotencyHeader(value: string | undefined): string | undefined {
  if (value && value.length > MAX_KEY_LENGTH) {
    throw invalidRequest([
      { path: 'Idempotency-Key', message: `must be at most ${MAX_KEY_LENGTH} characters` },
    ]);
  }
  return value || undefined;
}

export const ingestionRoutes = new Hono<AppEnv>()
  .post(
    '/fetch-token',
    limitBody(EVENT_BYTES),
    requireApiKey,
    requireDataCollection,
    ...jsonBody(DeviceMetrics),
    async (c) => {
      const [application, metrics] = [c.get('application'), c.req.valid('json')];
      const [issued] = await fetchTokens(c.env, application, [metrics], Date.now());
      if (issued === undefined) throw new Error('the device got no token');
      const answer = answerJson<Token>(c, { token: issued.token });
      const opened = [metrics.data.creative_token, issued.creativeId];
      const deepLink = await deepLinkOf(c.env, application.id, opened, (work) =>
        c.executionCtx.waitUntil(work),
      );
      if (deepLink !== null) answer.headers.set('X-Deep-Link', deepLink);
      return answer;
    },
  )
  .post(
    '/fetch-token/batch',
    limitBody(BATCH_BYTES),
    requireApiKey,
    requireDataCollection,
    ...jsonBody(DeviceBatch),
    async (c) => {
      const { devices } = c.req.valid('json');
      const results = await acceptDevices(c.env, c.get('application'), devices, Date.now());
      const accepted = results.filter((result) => 'token' in result).length;
      if (accepted < results.length) noteRejectedItems(c, devices, results);
      return answerJson<TokenBatch>(c, {
        success: true,
        accepted,
        rejected: results.length - accepted,
        results,
      });
    },
  )
  .post('/verify-token', limitBody(EVENT_BYTES), requireApiKey, ...jsonBody(VerifyToken), async (c) => {
    const { token } = c.req.valid('json');
    if (typeof token !== 'string' || token.trim() === '') throw tokenRequired();
    return c.json<VerifiedToken>(await verifyToken(c.env, c.get('application').id, token.trim(), Date.now()));
  })
  .get('/check-data-collection-status', requireApiKey, collectionStatus)
  // SDK editors check their key here.
  .get('/auth', requireApiOrBearerKey, collectionStatus)
  .post(
    '/webhook',
    limitBody(EVENT_BYTES),
    requireApiKey,
    requireDataCollection,
    ...jsonBody(EventEnvelope),
    async (c) => {
      const header = idempotencyHeader(c.req.header('Idempotency-Key'));
      const accepted = await acceptEvent(
        c.env,
        c.get('application'),
        c.req.valid('json'),
        header,
        Date.now(),
      );
      c.set('eventId', accepted.event_id);
      return answerJson<EventAccepted>(c, { success: true, message: 'Webhook Received', ...accepted });
    },
  )
  .post(
    '/webhook/batch',
    limitBody(BATCH_BYTES),
    requireApiKey,
    requireDataCollection,
    ...jsonBody(Batch),
    async (c) => {
      const header = idempotencyHeader(c.req.header('Idempotency-Key'));
      const { events } = c.req.valid('json');
      const results = await acceptBatch(c.env, c.get('application'), events, header, Date.now());
      const accepted = results.filter((result) => 'event_id' in result).length;
      if (accepted < results.length) noteRejectedItems(c, events, results);
      return answerJson<BatchAccepted>(c, {
        success: true,
        accepted,
        rejected: results.length - accepted,
        results,
      });
    },
  );
