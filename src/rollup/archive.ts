import { sha256Hex } from '#lib/crypto';
import { fromMicros } from '#lib/money';
import type { LoggedEvent } from './event.ts';

/**
 * An event as the archive keeps it: the envelope it came in, with its device named instead of a token, so that the archive
 * holds no credential. What only described the device is left out. `event_id` is the key under which an import counts it once.
 */
export async function toArchiveLine(event: LoggedEvent): Promise<string> {
  const { id, application_id, type, occurred_at, received_at, day: _day, ...fields } = event;
  const archived = { application_id, id, received_at, creative_id: event.creative_id };
  if (type === 'click') return JSON.stringify({ type, created_at: iso(occurred_at), archived });
  const { device_id, acquired_day, keys, test } = event;
  const ending = type === 'retention' && event.session_end;
  return JSON.stringify({
    type: ending ? 'session' : type,
    ...(test ? { dev: true } : {}),
    created_at: iso(occurred_at),
    event_id: keys ? await sha256Hex(keys.join('\n')) : id,
    payload: ending
      ? { a: 'end', sid: event.session_id, sd: event.session_seconds }
      : payloadOf({ ...fields }),
    archived: { ...archived, device_id, acquired_day },
  });
}

const iso = (at: number) => new Date(at).toISOString();

/** The payload's own fields, under the names by which they came. */
function payloadOf(fields: Record<string, unknown>): Record<string, unknown> {
  const {
    device_id,
    creative_id,
    acquired_day,
    keys,
    key_day,
    token_id,
    token_expired,
    clock_ahead,
    device,
    warnings,
    test,
    ad_requests,
    ...payload
  } = fields;
  const { age, backfill_day, value_micros, ...rest } = payload;
  return {
    ...rest,
    ...(typeof age === 'number' ? { retentionDay: age } : {}),
    ...(typeof backfill_day === 'number' ? { backfillDay: backfill_day } : {}),
    ...(typeof value_micros === 'number' ? { value: fromMicros(BigInt(value_micros)) } : {}),
  };
}
