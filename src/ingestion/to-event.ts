import { type DeviceEvent, type EventEnvelope, fieldsOf } from '#catalogue';
import type { TokenClaims } from '#devices';
import type { AuthenticatedApplication } from '#http';
import { present } from '#lib/present';
import { dayIn, daysBetween, zoneOffset } from '#lib/time';
import { settleTime } from '#lib/timestamp';

/** Converts a valid envelope to an event: days in the application's time zone, money in micros, the device from the token. */
export function toEvent(
  envelope: EventEnvelope,
  source: {
    application: AuthenticatedApplication;
    claims: TokenClaims;
    keys: string[];
    id: string;
    now: number;
  },
): DeviceEvent {
  const { application, claims, keys, id, now } = source;
  const { occurredAt, clockAhead } = settleTime(envelope.created_at, now);
  const day = dayIn(application.timezone, occurredAt);
  const offset = zoneOffset(application.timezone, occurredAt);
  const device = present({
    device_name: envelope.device_name,
    device_model: envelope.device_model,
    os_system: envelope.os_system,
    utc_offset: envelope.utc_offset,
    retention_day: envelope.retention_day?.toString(),
    app_version: envelope.app_version,
    sdk_version: envelope.sdk_version,
    sdk_type: envelope.sdk_type,
    user_properties: envelope.wp,
  });
  const common = {
    id,
    application_id: application.id,
    device_id: claims.deviceId,
    ...(claims.shard === 0 ? {} : { shard: claims.shard }),
    creative_id: claims.creativeId,
    acquired_day: claims.acquiredDay,
    day,
    occurred_at: occurredAt,
    received_at: now,
    ...(offset === 0 ? {} : { zone_offset: offset }),
    token_id: claims.tokenId,
    ...(claims.expiresAt <= now ? { token_expired: true as const } : {}),
    ...(keys.length > 0 ? { keys, key_day: envelope.created_at.day } : {}),
    ...(envelope.dev ? { test: true as const } : {}),
    ...(clockAhead ? { clock_ahead: true as const } : {}),
    ...(Object.keys(device).length > 0 ? { device } : {}),
    ...(envelope.warnings.length > 0 ? { warnings: envelope.warnings } : {}),
  };
  return { ...common, ...fieldsOf(envelope, Math.max(0, daysBetween(claims.acquiredDay, day))) };
}
