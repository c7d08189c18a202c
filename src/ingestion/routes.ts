import { Hono } from 'hono';
import * as z from 'zod';
import {
  type AppContext,
  type AppEnv,
  answerJson,
  invalidRequest,
  jsonBody,
  limitBody,
  requireApiKey,
  requireBearerKey,
  requireDataCollection,
} from '#http';
import { DeviceMetrics } from './device-metrics.ts';
import { EventEnvelope } from './envelope.ts';
import { fetchTokens } from './fetch-token.ts';
import { noteRejectedItems } from './rejections.ts';
import { takeDevices } from './take-devices.ts';
import { takeBatch, takeEvent } from './take-events.ts';
import { tokenRequired, verifyToken } from './verify-token.ts';

const EVENT_BYTES = 64 * 1024;
const BATCH_BYTES = 1024 * 1024;
const MAX_KEY_LENGTH = 512;

export const VerifyToken = z.object({ token: z.unknown().optional() });

const batchError = 'must be a list of 1 to 500 events';
export const Batch = z.object({
  events: z.array(z.unknown(), { error: batchError }).min(1, batchError).max(500, batchError),
});

const devicesError = 'must be a list of 1 to 200 devices';
export const DeviceBatch = z.object({
  devices: z.array(z.unknown(), { error: devicesError }).min(1, devicesError).max(200, devicesError),
});

const collectionStatus = (c: AppContext) =>
  c.json({
    success: true,
    enabled: c.get('application').dataCollection,
    server_time: new Date().toISOString(),
  });

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
      const [token] = await fetchTokens(c.env, c.get('application'), [c.req.valid('json')], Date.now());
      return c.json({ token });
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
      const results = await takeDevices(c.env, c.get('application'), devices, Date.now());
      const accepted = results.filter((result) => 'token' in result).length;
      if (accepted < results.length) noteRejectedItems(c, devices, results);
      return answerJson(c, { success: true, accepted, rejected: results.length - accepted, results });
    },
  )
  .post('/verify-token', limitBody(EVENT_BYTES), requireApiKey, ...jsonBody(VerifyToken), async (c) => {
    const { token } = c.req.valid('json');
    if (typeof token !== 'string' || token.trim() === '') throw tokenRequired();
    return c.json(await verifyToken(c.env, c.get('application').id, token.trim(), Date.now()));
  })
  .get('/check-data-collection-status', requireApiKey, collectionStatus)
  // Where an SDK's editor asks whether its key is right.
  .get('/auth', requireBearerKey, collectionStatus)
  .post(
    '/webhook',
    limitBody(EVENT_BYTES),
    requireApiKey,
    requireDataCollection,
    ...jsonBody(EventEnvelope),
    async (c) => {
      const header = idempotencyHeader(c.req.header('Idempotency-Key'));
      const taken = await takeEvent(c.env, c.get('application'), c.req.valid('json'), header, Date.now());
      c.set('eventId', taken.event_id);
      return answerJson(c, { success: true, message: 'Webhook Received', ...taken });
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
