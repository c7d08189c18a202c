import { type DeviceEvent, devicePropertiesOf, type EventEnvelope, fieldsOf } from '#catalogue';
import type { TokenClaims } from '#devices';
import type { AuthenticatedApplication } from '#http';
import { dayIn, daysBetween, zoneOffset } from '#lib/time';
import { toOccurredAt } from '#lib/timestamp';

/** What the sender said about the device. */
type SentDevice = Readonly<Record<string, string | undefined>>;

/** An event as it is sent to the queue, in a message that names its application. */
type SentEvent = DeviceEvent extends infer Event
  ? Event extends DeviceEvent
    ? Omit<Event, 'application_id' | 'device'> & { device: SentDevice | undefined }
    : never
  : never;

/**
 * Converts a valid envelope to an event: days in the application's time zone, money in nanos, the device from the token. Absent fields may be
 * undefined, because JSON leaves those out.
 */
export function toEvent(
  envelope: EventEnvelope,
  source: {
    application: AuthenticatedApplication;
    claims: TokenClaims;
    keys: string[];
    id: string;
    now: number;
  },
): SentEvent {
  const { application, claims, keys, id, now } = source;
  const { occurredAt, clockAhead } = toOccurredAt(envelope.created_at, now);
  const day = dayIn(application.timezone, occurredAt);
  const hasKeys = keys.length > 0;
  return {
    id,
    device_id: claims.deviceId,
    shard: claims.shard || undefined,
    creative_id: claims.creativeId,
    acquired_day: claims.acquiredDay,
    day,
    occurred_at: occurredAt,
    received_at: now,
    zone_offset: zoneOffset(application.timezone, occurredAt) || undefined,
    token_id: claims.tokenId,
    token_expired: claims.expiresAt <= now || undefined,
    keys: hasKeys ? keys : undefined,
    key_day: hasKeys ? envelope.created_at.day : undefined,
    test: envelope.dev || undefined,
    clock_ahead: clockAhead || undefined,
    device: deviceOf(envelope),
    warnings: envelope.warnings.length > 0 ? envelope.warnings : undefined,
    ...fieldsOf(envelope, Math.max(0, daysBetween(claims.acquiredDay, day))),
  };
}

/** Undefined if the sender said nothing. */
function deviceOf(envelope: EventEnvelope): SentDevice | undefined {
  const device = devicePropertiesOf(envelope);
  device.retention_day = envelope.retention_day?.toString();
  device.user_properties = envelope.wp;
  return Object.values(device).some((value) => value !== undefined) ? device : undefined;
}
