import * as z from 'zod';
import { amountField } from '#lib/money';
import { dayNumber } from '#lib/time';
import { microsSql, readMicros, wholeAmount } from './money.ts';
import { checkPeriod, period, type Reported } from './query.ts';

export const ClientTotalsQuery = z.object(period).superRefine(checkPeriod);
export type ClientTotalsQuery = z.infer<typeof ClientTotalsQuery>;

const DEVICES_SHOWN = 200;
/** No time zone is further ahead of UTC. */
const FURTHEST_AHEAD_SECONDS = 14 * 3600;

type TotalsRow = {
  deviceId: string | null;
  kind: string;
  currency: string | null;
  devices: number;
  withGap: number;
  client: string | null;
  counted: string | null;
};

const COUNTED = wholeAmount("event.value ->> 'value_micros'");
const COUNTED_PARTS = { high: 'counted_high', low: 'counted_low' };
const CLIENT = { high: 'client_high', low: 'client_low' };
/** Only what is revenue counts. */
const sumOf = (part: string) => `sum(iif(event.value ->> 'status' IN ('failed', 'refunded'), 0, ${part}))`;

/**
 * Reads the log itself, not the rollups: ?1 application, ?2 and ?3 the days of acquisition, ?4 the earliest second of the log.
 * A device that used several currencies has a running total in none of them, so it is counted but not compared.
 * Amounts differ when they are further apart than the rounding of the events to whole micros explains.
 */
export const clientTotalsSql = `
  WITH per_device AS MATERIALIZED (
    SELECT event.value ->> 'device_id' AS device_id, event.value ->> 'acquired_day' AS acquired_day,
      substr(event.value ->> 'type', 8) AS kind, count(*) AS events,
      iif(count(DISTINCT event.value ->> 'currency') = 1, min(event.value ->> 'currency'), NULL) AS currency,
      ${sumOf(COUNTED.high)} AS counted_high, ${sumOf(COUNTED.low)} AS counted_low,
      max(coalesce(event.value ->> 'total_ad_value', event.value ->> 'total_purchase_value')) AS client
    FROM event_chunks AS chunk CROSS JOIN json_each(chunk.events) AS event
    WHERE chunk.application_id = ?1 AND chunk.second >= ?4
      AND event.value ->> 'type' IN ('custom.ad', 'custom.purchase')
      AND event.value ->> 'acquired_day' BETWEEN ?2 AND ?3
      AND event.value ->> 'test' IS NULL
      AND NOT EXISTS (
        SELECT 1 FROM tokens
        WHERE tokens.id = event.value ->> 'token_id' AND revoked_at <= event.value ->> 'received_at')
      AND (event.value ->> '$.keys[0]' IS NULL OR EXISTS (
        SELECT 1 FROM idempotency_keys
        WHERE idempotency_keys.application_id = ?1 AND idempotency_keys.key = event.value ->> '$.keys[0]'
          AND idempotency_keys.day = iif(event.value ->> 'type' = 'custom.purchase', 0, coalesce(event.value ->> 'key_day', 0))
          AND idempotency_keys.event_id = chunk.event_ids ->> event.key))
    GROUP BY 1, 2, 3),
  split AS MATERIALIZED (
    SELECT *, CAST(client / 1000000 AS INTEGER) AS client_high,
      CAST(round((client - CAST(client / 1000000 AS INTEGER) * 1000000.0) * 1000000) AS INTEGER) AS client_low
    FROM per_device WHERE client IS NOT NULL AND EXISTS (
      SELECT 1 FROM devices
      WHERE application_id = ?1 AND devices.acquired_day = per_device.acquired_day AND devices.id = device_id
        AND NOT devices.test)),
  compared AS MATERIALIZED (
    SELECT *, currency IS NOT NULL AND distance > events AS gap
    FROM (SELECT *, abs((client_high - counted_high) * 1000000000000.0 + (client_low - counted_low)) AS distance FROM split))
  SELECT NULL AS deviceId, kind, currency, count(*) AS devices, sum(gap) AS withGap,
    iif(currency IS NULL, NULL, ${microsSql(CLIENT)}) AS client,
    iif(currency IS NULL, NULL, ${microsSql(COUNTED_PARTS)}) AS counted
  FROM compared GROUP BY kind, currency
  UNION ALL
  SELECT * FROM (
    SELECT device_id, kind, currency, 1, 1, client_high || '/' || client_low, counted_high || '/' || counted_low
    FROM compared WHERE gap ORDER BY distance DESC, device_id, kind LIMIT ${DEVICES_SHOWN})`;

function amounts({ client, counted }: TotalsRow) {
  if (client === null || counted === null) return { client_total: null, counted_total: null, gap: null };
  return {
    ...amountField('client_total', readMicros(client)),
    ...amountField('counted_total', readMicros(counted)),
    ...amountField('gap', readMicros(client) - readMicros(counted)),
  };
}

/**
 * Compares the running totals that clients keep (`total_ad_value`, `total_purchase_value`) with what was counted of the same
 * devices. A gap above 0 is revenue that never arrived; one below 0 was sent twice without a key. `data` has the 200 devices
 * with the largest gaps, `totals` every kind and currency. Computed from the log, so it takes time in proportion to the events.
 */
export async function reportClientTotals(db: D1Database, application: Reported, query: ClientTotalsQuery) {
  const earliest = dayNumber(query.from) * 86_400 - FURTHEST_AHEAD_SECONDS;
  const { results } = await db
    .prepare(clientTotalsSql)
    .bind(application.id, query.from, query.to, earliest)
    .all<TotalsRow>();
  return {
    data: results
      .filter((row) => row.deviceId !== null)
      .map((row) => ({ device_id: row.deviceId, kind: row.kind, currency: row.currency, ...amounts(row) })),
    totals: results
      .filter((row) => row.deviceId === null)
      .map((row) => ({
        kind: row.kind,
        currency: row.currency,
        devices: row.devices,
        devices_with_gap: row.currency === null ? null : row.withGap,
        ...amounts(row),
      })),
    timezone: application.timezone,
  };
}
