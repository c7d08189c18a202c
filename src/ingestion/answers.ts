import * as z from 'zod';
import { faults, time } from '#http/answers';

export const FetchTokenFailure = z
  .object({ error: z.string(), success: z.literal(false).optional(), details: faults.optional() })
  .meta({ id: 'FetchTokenError' });
export type FetchTokenFailure = z.input<typeof FetchTokenFailure>;

const warnings = faults.optional().meta({
  description:
    'Malformed fields that only describe the event or device and were dropped. Present only if there are any.',
});

/** The result of each item: its answer or its errors. */
const batchOf = <Shape extends z.ZodRawShape>(item: z.ZodObject<Shape>) =>
  z.object({
    success: z.literal(true),
    accepted: z.int(),
    rejected: z.int(),
    results: z.array(z.union([item, z.object({ index: z.int(), error: z.string(), details: faults })])),
  });

export const Token = z.object({ token: z.string() });
export type Token = z.input<typeof Token>;

export const TokenBatch = batchOf(z.object({ index: z.int(), token: z.string(), warnings }));
export type TokenBatch = z.input<typeof TokenBatch>;

export const CollectionStatus = z.object({
  success: z.literal(true),
  enabled: z.boolean(),
  server_time: time(),
});
export type CollectionStatus = z.input<typeof CollectionStatus>;

export const EventAccepted = z.object({
  success: z.literal(true),
  message: z.literal('Webhook Received'),
  event_id: z.string(),
  warnings,
});
export type EventAccepted = z.input<typeof EventAccepted>;

export const BatchAccepted = batchOf(z.object({ index: z.int(), event_id: z.string(), warnings }));
export type BatchAccepted = z.input<typeof BatchAccepted>;
