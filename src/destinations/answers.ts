import * as z from 'zod';
import { nullableText, time } from '#http/answers';
import { STATUSES } from './statuses.ts';

const destination = {
  id: z.string(),
  application_id: z.string(),
  kind: z.string(),
  url: nullableText().meta({ description: 'Null for a kind without a URL of its own.' }),
  settings: z.record(z.string(), z.string()),
  events: z.array(z.string()),
  filter: z.object({
    network: z.string().optional(),
    campaign_id: z.string().optional(),
    country: z.string().optional(),
    os: z.string().optional(),
    paid_only: z.boolean().optional(),
  }),
  enabled: z.boolean(),
  off_since: time().nullable(),
  off_reason: nullableText().meta({ description: 'Why it is switched off. Null while it is on.' }),
  created_at: time(),
};

export const Destination = z.object(destination).meta({ id: 'Destination' });
export type Destination = z.input<typeof Destination>;

const secret = z.string().meta({
  description: 'Signs what is sent, as Standard Webhooks say. It is shown this once, and only for `webhook`.',
});

export const DestinationCreated = z.object({ ...destination, secret: secret.optional() });

export const SecretRotated = z.object({
  ...destination,
  secret,
  former_secret_expires_at: time().meta({ description: 'Until then, both secrets sign.' }),
});

export const Destinations = z.object({ data: z.array(Destination) });

/** One destination, and how it does. */
export const DestinationState = z.object({
  ...destination,
  pending: z.int().meta({ description: 'Events that are to be sent again.' }),
  oldest_pending_at: time().nullable().meta({
    description: 'When the oldest event was received that is still to be sent.',
  }),
  last_success_at: time().nullable(),
  failures_in_row: z.int().meta({
    description: 'Deliveries that have failed for good since the last success. At 20, it is switched off.',
  }),
  recent_attempts: z.int().meta({ description: 'Attempts in this hour and the one before.' }),
  recent_failures: z.int(),
});

const Attempt = z.object({
  at: time(),
  duration_ms: z.int(),
  status: z.int().nullable().meta({ description: 'The status of the answer. Null if there was none.' }),
  error: nullableText(),
  request: z.object({
    method: z.string(),
    url: z.string(),
    headers: z.record(z.string(), z.string()),
    body: nullableText(),
  }),
  answer: z.string().meta({ description: 'Its first 1,000 characters.' }),
});

export const Delivery = z
  .object({
    event_id: z.string(),
    type: z.string().meta({ description: 'The entry of `events` that it matched.' }),
    status: z.enum(STATUSES),
    reason: nullableText().meta({ description: 'Why it was skipped, or why the last attempt failed.' }),
    next_attempt_at: time().nullable(),
    attempts: z.array(Attempt).meta({ description: 'The oldest first, without secrets.' }),
  })
  .meta({ id: 'Delivery' });
export type Delivery = z.input<typeof Delivery>;

export const TestResult = z.object({
  delivered: z.boolean(),
  error: nullableText(),
  attempt: Attempt.nullable().meta({ description: 'Null if there was nothing to send.' }),
});
export type TestResult = z.input<typeof TestResult>;

export const Replayed = z.object({
  replayed: z.int().meta({ description: 'Deliveries that are sent again.' }),
});
