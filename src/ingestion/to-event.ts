import type { AuthenticatedApplication } from '#http';
import { toMicros } from '#lib/money';
import { dayIn, daysBetween } from '#lib/time';
import type { LoggedEvent } from '#rollup';
import { AD_REQUEST, type EventEnvelope } from './envelope.ts';
import { settleTime } from './timestamp.ts';
import type { TokenClaims } from './token.ts';

type Of<Type extends EventEnvelope['type']> = Extract<EventEnvelope, { type: Type }>;

/** Drops the absent fields, which neither the queue nor the log should carry. */
function present<Fields extends Record<string, unknown>>(fields: Fields) {
  // Not by assignment: a parameter may be called `__proto__`.
  const kept = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return kept as { [Key in keyof Fields]: Exclude<Fields[Key], undefined> };
}

/**
 * The keys by which repeats of an event are recognised; none where every request is its own event. A purchase may fail first and
 * then succeed under the same keys: those are two events.
 */
export function keysOfEnvelope(header: string | undefined, envelope: EventEnvelope): string[] {
  const eventId = envelope.event_id ?? envelope.eid;
  const dedupeKey = envelope.dedupe_key ?? envelope.dk;
  const transaction = envelope.type === 'custom.purchase' ? envelope.payload.tr_id : undefined;
  const keys = [
    ...(header ? [`h:${header}`] : []),
    ...(eventId ? [`e:${eventId}`] : []),
    ...(dedupeKey ? [`d:${dedupeKey}`] : []),
    ...(transaction ? [`t:${transaction}`] : []),
  ];
  if (envelope.type !== 'custom.purchase') return keys;
  const outcome = purchaseOutcome(envelope.payload.status);
  return keys.map((key) => `${outcome}:${key}`);
}

const purchaseOutcome = (status: string) => (status === 'completed' ? 'success' : status);

/** The reported day number where it is within one of the number computed from the dates, else the computed one. */
export function retentionAge(envelope: Of<'retention'>, computed: number): number {
  const reported = envelope.payload.retentionDay ?? envelope.retention_day;
  return reported !== undefined && Math.abs(reported - computed) <= 1 ? reported : computed;
}

/** What becomes of a valid envelope: days in the application's time zone, money in micros, the device from the token. */
export function toEvent(
  envelope: EventEnvelope,
  source: {
    application: AuthenticatedApplication;
    claims: TokenClaims;
    keys: string[];
    id: string;
    now: number;
  },
): LoggedEvent {
  const { application, claims, keys, id, now } = source;
  const { occurredAt, clockAhead } = settleTime(envelope.created_at, now);
  const day = dayIn(application.timezone, occurredAt);
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
    creative_id: claims.creativeId,
    acquired_day: claims.acquiredDay,
    day,
    occurred_at: occurredAt,
    received_at: now,
    token_id: claims.tokenId,
    ...(claims.expiresAt <= now ? { token_expired: true as const } : {}),
    ...(keys.length > 0 ? { keys, key_day: envelope.created_at.day } : {}),
    ...(envelope.dev ? { test: true as const } : {}),
    ...(clockAhead ? { clock_ahead: true as const } : {}),
    ...(Object.keys(device).length > 0 ? { device } : {}),
    ...(envelope.warnings.length > 0 ? { warnings: envelope.warnings } : {}),
  };
  const computedAge = Math.max(0, daysBetween(claims.acquiredDay, day));
  switch (envelope.type) {
    case 'retention': {
      const { session_id, backfillDay } = envelope.payload;
      const age = retentionAge(envelope, computedAge);
      return { ...common, type: 'retention', age, ...present({ session_id, backfill_day: backfillDay }) };
    }
    case 'session': {
      const { a: phase, sid: session_id, sd } = envelope.payload;
      const end =
        phase === 'end' ? { session_end: true as const, session_seconds: sd && Math.round(sd) } : {};
      return { ...common, type: 'retention', age: computedAge, ...present({ session_id, ...end }) };
    }
    case 'custom.purchase': {
      const { value, ...payload } = envelope.payload;
      return { ...common, type: 'custom.purchase', value_micros: toMicros(value), ...present(payload) };
    }
    case 'custom.ad': {
      const { value, ...payload } = envelope.payload;
      const value_micros = payload.currency === '' ? 0 : toMicros(value);
      return { ...common, type: 'custom.ad', value_micros, ...present(payload) };
    }
    case 'custom': {
      const { event_name, params: sent } = envelope.payload;
      const params = sent && present(sent);
      const requests = {
        count: Number(params?.value ?? 1),
        placement: params?.id ?? '',
        source: params?.key?.toLowerCase() ?? '',
      };
      return {
        ...common,
        type: 'custom',
        event_name,
        ...(params ? { params } : {}),
        ...(event_name === AD_REQUEST ? { ad_requests: requests } : {}),
      };
    }
  }
}
