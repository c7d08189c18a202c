import * as z from 'zod';

// The envelope as a developer would write it down who needs only what is sent here.

const text = z.string().trim().min(1).max(512);
const createdAt = z
  .string()
  .transform((time) => `${time.trim().replace(' ', 'T')}Z`)
  .pipe(z.iso.datetime())
  .transform((time) => new Date(time));
const money = { value: z.number().min(0), currency: z.string().trim().toLowerCase().length(3) };
const common = {
  created_at: createdAt,
  creativeToken: text,
  eid: z.uuid(),
  dk: text.optional(),
  device_name: text.optional(),
  device_model: text.optional(),
  os_system: text.optional(),
  utc_offset: text.optional(),
  app_version: text.optional(),
};

export const Envelope = z.discriminatedUnion('type', [
  z.object({
    ...common,
    type: z.literal('custom.ad'),
    payload: z.object({
      ad_id: text,
      name: text.optional(),
      source: text,
      media_source: text.optional(),
      channel: text.optional(),
      watch_time: z.number().min(0).optional(),
      reward: z.boolean().optional(),
      total_ad_value: z.number().optional(),
      ...money,
    }),
  }),
  z.object({
    ...common,
    type: z.literal('retention'),
    retention_day: z.coerce.number().int().optional(),
    payload: z.object({ retentionDay: z.coerce.number().int(), backfillDay: z.coerce.number().int() }),
  }),
  z.object({
    ...common,
    type: z.literal('custom'),
    payload: z.object({ event_name: text, params: z.record(z.string(), z.string()).optional() }),
  }),
  z.object({
    ...common,
    type: z.literal('custom.purchase'),
    payload: z.object({
      item_id: text,
      item_name: text.optional(),
      status: z.enum(['completed', 'success']),
      tr_id: text.optional(),
      total_purchase_value: z.number().optional(),
      ...money,
    }),
  }),
]);
export type Envelope = z.infer<typeof Envelope>;

export const Batch = z.object({ events: z.array(Envelope).min(1).max(500) });

/** A row of the table `events`; the payload is JSON text. */
export type PeerEvent = {
  eventId: string;
  dedupeKey: string | null;
  type: Envelope['type'];
  deviceId: string;
  creativeId: string;
  day: string;
  occurredAt: string;
  currency: string;
  valueNanos: number;
  payload: string;
};

export function toEvent(envelope: Envelope, device: { deviceId: string; creativeId: string }): PeerEvent {
  const occurredAt = envelope.created_at.toISOString();
  const amount = 'value' in envelope.payload ? envelope.payload : null;
  const { created_at: _time, creativeToken: _token, eid, dk, type, ...rest } = envelope;
  return {
    eventId: eid,
    dedupeKey: dk ?? null,
    type,
    deviceId: device.deviceId,
    creativeId: device.creativeId,
    day: occurredAt.slice(0, 10),
    occurredAt,
    currency: amount?.currency ?? '',
    valueNanos: Math.round((amount?.value ?? 0) * 1e9),
    payload: JSON.stringify(rest),
  };
}
