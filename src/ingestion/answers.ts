import * as z from 'zod';
import { EVENT_EXAMPLES, SENT_KINDS } from '#catalogue';
import { EXAMPLE, faults, time } from '#http/operations';
import { MAX_KEY_LENGTH } from './requests.ts';

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

export const DEVICE_METRICS = {
  type: 'device-metrics',
  created_at: '2026-03-02T09:00:00.000Z',
  data: {
    device_name: 'Pixel 9',
    device_model: 'Pixel 9',
    os_system: 'Android 16',
    timezone: 'Europe/Berlin',
    dpi: 420,
    window_height: 2424,
    window_width: 1080,
  },
};

const envelope = {
  created_at: '2026-03-02 10:00:00',
  creativeToken: EXAMPLE.token,
  device_name: 'Pixel 9',
  device_model: 'Pixel 9',
  os_system: 'Android 16',
  utc_offset: '+01:00',
  retention_day: '0',
};

/** One event of each kind, as clients send it. */
export const EVENTS = Object.fromEntries(
  Object.entries(EVENT_EXAMPLES).map(([name, { type, payload }]) => [name, { type, ...envelope, payload }]),
);

export const kinds = SENT_KINDS.map(
  ({ types, description }) => `- ${types.map((type) => `\`${type}\``).join(', ')}: ${description}`,
).join('\n');

export const shared = { tag: 'Ingestion', credential: 'apiKey' } as const;

export const collectionOff = 'Data collection is switched off for this application.';
export const header = z.object({
  'Idempotency-Key': z.string().max(MAX_KEY_LENGTH).optional().meta({
    description: 'A request repeated with the same key succeeds and is counted once.',
  }),
});
