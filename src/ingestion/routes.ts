import { Hono } from 'hono';
import * as z from 'zod';
import {
  type AppEnv,
  answerJson,
  invalidRequest,
  jsonBody,
  limitBody,
  requireApiKey,
  requireDataCollection,
} from '#http';
import { DeviceMetrics } from './device-metrics.ts';
import { EventEnvelope } from './envelope.ts';
import { fetchToken } from './fetch-token.ts';
import { noteRejectedItems } from './rejections.ts';
import { takeBatch, takeEvent } from './take-events.ts';
import { tokenRequired, verifyToken } from './verify-token.ts';

const EVENT_BYTES = 64 * 1024;
const BATCH_BYTES = 1024 * 1024;

export const VerifyToken = z.object({ token: z.unknown().optional() });

const batchError = 'must be a list of 1 to 500 events';
export const Batch = z.object({
  events: z.array(z.unknown(), { error: batchError }).min(1, batchError).max(500, batchError),
});

function idempotencyHeader(value: string | undefined): string | undefined {
  if (value && value.length > 128) {
    throw invalidRequest([{ path: 'Idempotency-Key', message: 'must be at most 128 characters' }]);
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
    async (c) =>
      c.json({ token: await fetchToken(c.env, c.get('application'), c.req.valid('json'), Date.now()) }),
  )
  .post('/verify-token', limitBody(EVENT_BYTES), requireApiKey, ...jsonBody(VerifyToken), async (c) => {
    const { token } = c.req.valid('json');
    if (typeof token !== 'string' || token.trim() === '') throw tokenRequired();
    return c.json(await verifyToken(c.env, c.get('application').id, token.trim(), Date.now()));
  })
  .get('/check-data-collection-status', requireApiKey, (c) =>
    c.json({
      success: true,
      enabled: c.get('application').dataCollection,
      server_time: new Date().toISOString(),
    }),
  )
  .post(
    '/webhook',
    limitBody(EVENT_BYTES),
    requireApiKey,
    requireDataCollection,
    ...jsonBody(EventEnvelope),
    async (c) => {
      const header = idempotencyHeader(c.req.header('Idempotency-Key'));
      const eventId = await takeEvent(c.env, c.get('application'), c.req.valid('json'), header, Date.now());
      return answerJson(c, { success: true, message: 'Webhook Received', event_id: eventId });
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
      const results = await takeBatch(c.env, c.get('application'), events, header, Date.now());
      const accepted = results.filter((result) => 'event_id' in result).length;
      if (accepted < results.length) noteRejectedItems(c, events, results);
      return answerJson(c, { success: true, accepted, rejected: results.length - accepted, results });
    },
  );
