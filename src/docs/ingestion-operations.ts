import * as z from 'zod';
import { Batch, DeviceMetrics, EventEnvelope, VerifyToken } from '#ingestion';
import { BatchTaken, CollectionStatus, EventTaken, Token, VerifiedToken } from './answers.ts';
import { DEVICE_METRICS, EVENTS, EXAMPLE } from './examples.ts';
import type { Operation } from './operation.ts';

const common = { tag: 'Ingestion', credential: 'apiKey' } as const;

const denied = {
  403: "Another application's token, or an application whose data collection is switched off.",
};

const header = z.object({
  'Idempotency-Key': z
    .string()
    .max(128)
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
    method: 'post',
    path: '/webhook',
    summary: 'Send an event',
    description:
      'Answered once the event is durable. What makes two requests one event, in this order: the header `Idempotency-Key`, `event_id` (or `eid`), `dedupe_key` (or `dk`), and for purchases `tr_id` together with whether it succeeded. Without any of them every request is its own event.',
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
      'Each item stands alone: a bad one does not keep a good one out. Costs far fewer queue operations.',
    parameters: { header },
    body: {
      schema: Batch,
      examples: { events: { events: [EVENTS['custom.ad'], EVENTS.retention, { type: 'custom' }] } },
    },
    answer: { status: 200, description: 'What became of each item.', schema: BatchTaken },
    errors: denied,
  },
];
