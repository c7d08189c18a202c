import * as z from 'zod';
import { EventEnvelope } from '#catalogue';
import { DeviceMetrics } from '#devices';
import { Batch, DeviceBatch, VerifyToken } from '#ingestion';
import { BatchTaken, CollectionStatus, EventTaken, Token, TokenBatch, VerifiedToken } from './answers.ts';
import { DEVICE_METRICS, EVENTS, EXAMPLE } from './examples.ts';
import type { Operation } from './operation.ts';

const common = { tag: 'Ingestion', credential: 'apiKey' } as const;

const denied = {
  403: "Another application's token, or an application whose data collection is switched off.",
};

const header = z.object({
  'Idempotency-Key': z
    .string()
    .max(512)
    .optional()
    .meta({ description: 'A repeat under the same key is answered as the first one and counted once.' }),
});

export const INGESTION_OPERATIONS: Operation[] = [
  {
    ...common,
    method: 'post',
    path: '/fetch-token',
    summary: 'Send device metrics, receive a token',
    description:
      'Call it where no token is cached or the cached one has expired. `created_at` dates the acquisition, day 0. The same `data.device_id` gives the same device again.',
    body: { schema: DeviceMetrics, examples: { device: DEVICE_METRICS } },
    answer: { status: 200, description: 'A token for `creativeToken` and `/verify-token`.', schema: Token },
    errors: denied,
  },
  {
    ...common,
    method: 'post',
    path: '/fetch-token/batch',
    summary: 'Send the metrics of up to 200 devices',
    description:
      'For imports. Each item stands alone and is as a body of `/fetch-token`; the answer has a token or what is wrong for each.',
    body: {
      schema: DeviceBatch,
      examples: { devices: { devices: [DEVICE_METRICS, { type: 'device-metrics' }] } },
    },
    answer: { status: 200, description: 'What became of each item.', schema: TokenBatch },
    errors: denied,
  },
  {
    ...common,
    method: 'post',
    path: '/verify-token',
    summary: 'Check a token',
    body: { schema: VerifyToken, examples: { token: { token: EXAMPLE.token } } },
    answer: {
      status: 200,
      description: 'The token is genuine and neither expired nor revoked.',
      schema: VerifiedToken,
    },
    errors: { 403: "Another application's token." },
  },
  {
    ...common,
    method: 'get',
    path: '/check-data-collection-status',
    summary: 'Check that data collection is enabled for the API key',
    answer: { status: 200, description: 'Whether it is.', schema: CollectionStatus },
  },
  {
    ...common,
    credential: 'bearerKey',
    method: 'get',
    path: '/auth',
    summary: 'Check an API key',
    description: 'The same answer, for the editors of SDKs, which send the API key as a bearer.',
    answer: { status: 200, description: 'The key is valid.', schema: CollectionStatus },
  },
  {
    ...common,
    method: 'post',
    path: '/webhook',
    summary: 'Send an event',
    description:
      'Answered once the event is durable. An event is a repeat, and counted once, when any of its keys has been seen: the header `Idempotency-Key`, `event_id` (or `eid`), `dedupe_key` (or `dk`), and a purchase’s `tr_id`. Keys of a purchase match whenever they come, but a purchase that failed is another event than one that succeeded; other keys match on the day of `created_at` and the days beside it. Without a key every request is its own event. `type`, `created_at`, `creativeToken` and the value, currency and status of a purchase are strict; any other field that is malformed is dropped and named in `warnings`. `dev: true` marks a test event, which is kept and counted in no report.',
    parameters: { header },
    body: { schema: EventEnvelope, examples: EVENTS },
    answer: { status: 200, description: 'The event was taken.', schema: EventTaken },
    errors: denied,
  },
  {
    ...common,
    method: 'post',
    path: '/webhook/batch',
    summary: 'Send up to 500 events',
    description:
      'Each item stands alone: a bad one does not keep a good one out. Costs far fewer queue operations. The header `Idempotency-Key` names the batch: with an item’s content it is the key of the items that have none of their own, so a batch may be mended and sent again.',
    parameters: { header },
    body: {
      schema: Batch,
      examples: { events: { events: [EVENTS['custom.ad'], EVENTS.retention, { type: 'custom' }] } },
    },
    answer: { status: 200, description: 'What became of each item.', schema: BatchTaken },
    errors: denied,
  },
];
