import { batchWithRetry } from '#db';
import { idTime } from '#lib/ids';
import type { ClickRecord } from './click-record.ts';

const HOUR_MS = 3_600_000;

/**
 * Merges records into the rows of their clicks. What is known already stays, so any order and any repetition of the same
 * records give the same row. A measurement tells an iPad from a Mac, so its family goes before the user agent's.
 */
export function clickStatement(db: D1Database, records: readonly ClickRecord[]): D1PreparedStatement {
  const rows = records.map((record) => [
    record.application_id,
    record.id,
    record.creative_id,
    idTime(record.id),
    record.os_family,
    record.os_version ?? null,
    record.device_model ?? null,
    record.ip_hash ?? null,
    record.timezone ?? null,
    record.screen_width ?? null,
    record.screen_height ?? null,
    record.pixel_ratio ?? null,
    record.country ?? null,
    record.params ? JSON.stringify(record.params) : null,
  ]);
  return db
    .prepare(
      `INSERT INTO clicks (application_id, id, creative_id, clicked_at, os_family, os_version, device_model, ip_hash,
         timezone, screen_width, screen_height, pixel_ratio, country, params)
       SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7,
         value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13
       FROM json_each(?1) WHERE true
       ON CONFLICT (application_id, id) DO UPDATE SET
         os_family = CASE WHEN clicks.timezone IS NULL
             AND (excluded.timezone IS NOT NULL OR clicks.os_family = 'other')
           THEN excluded.os_family ELSE clicks.os_family END,
         os_version = coalesce(clicks.os_version, excluded.os_version),
         device_model = coalesce(clicks.device_model, excluded.device_model),
         ip_hash = coalesce(clicks.ip_hash, excluded.ip_hash),
         timezone = coalesce(clicks.timezone, excluded.timezone),
         screen_width = coalesce(clicks.screen_width, excluded.screen_width),
         screen_height = coalesce(clicks.screen_height, excluded.screen_height),
         pixel_ratio = coalesce(clicks.pixel_ratio, excluded.pixel_ratio),
         country = coalesce(clicks.country, excluded.country),
         params = coalesce(clicks.params, excluded.params)`,
    )
    .bind(JSON.stringify(rows));
}

const PRUNED_AT_ONCE = 1_000;
const PRUNING_ROUNDS = 10;

/** The first id that a window of an application still reaches; `hours` is an expression over its row. */
const startOf = (hours: string) => `'clk_' || printf('%012x', ?1 - ${HOUR_MS} * ${hours})`;

const DROP_ADDRESSES = `UPDATE clicks SET ip_hash = NULL WHERE (application_id, id) IN (
  SELECT old.application_id, old.id FROM applications CROSS JOIN clicks AS old INDEXED BY clicks_with_ip
    ON old.application_id = applications.id AND old.id < ${startOf('probabilistic_window_hours')}
  WHERE old.ip_hash IS NOT NULL LIMIT ?2)`;

const DROP_CLICKS = `DELETE FROM clicks WHERE (application_id, id) IN (
  SELECT old.application_id, old.id FROM applications CROSS JOIN clicks AS old
    ON old.application_id = applications.id
    AND old.id < ${startOf('max(attribution_window_hours, probabilistic_window_hours)')}
  LIMIT ?2)`;

/**
 * Forgets what no window reaches any more: first the addresses' hashes, then the clicks. A bounded amount of work; what is
 * left over is for the next minute.
 */
export async function pruneClicks(db: D1Database, now: number): Promise<void> {
  for (const sql of [DROP_ADDRESSES, DROP_CLICKS]) {
    for (let round = 0; round < PRUNING_ROUNDS; round++) {
      const [result] = await batchWithRetry(db, () => [db.prepare(sql).bind(now, PRUNED_AT_ONCE)]);
      if ((result?.meta.changes ?? 0) < PRUNED_AT_ONCE) break;
    }
  }
}

/**
 * Remembers which device a click brought, so that it is guessed to be no other's, and counts the devices that name it. The first
 * device stays. A guess fails the whole transaction where another device was credited since the click was read
 * (`clickWasTaken` knows that error); a named click may be named again, even before the queue has brought it.
 *
 * It belongs between the statements that insert the device and its token: only a device that came to be is credited (of two at
 * once under one `device_id`, one does), and one that has a token already was counted, so the transaction can be repeated.
 */
export function creditStatement(
  db: D1Database,
  credit: { applicationId: string; clickId: string; deviceId: string; acquiredDay: string; guessed: boolean },
): D1PreparedStatement {
  // Setting a NOT NULL column to null is how a statement aborts a D1 transaction. Ids sort by the time they were made, and a
  // device is made before its token, so the tokens looked at are the newest few.
  return db
    .prepare(
      `INSERT INTO clicks (application_id, id, creative_id, clicked_at, os_family, device_id, named_installs)
       SELECT ?1, ?2, creative_id, ?6, 'other', id, iif(EXISTS (
           SELECT 1 FROM tokens WHERE tokens.id >= ?7 AND application_id = ?1 AND device_id = ?3), 0, 1 - ?5)
       FROM devices WHERE application_id = ?1 AND acquired_day = ?4 AND id = ?3
       ON CONFLICT (application_id, id) DO UPDATE SET
         device_id = coalesce(clicks.device_id, excluded.device_id),
         named_installs = clicks.named_installs + excluded.named_installs,
         clicked_at = CASE WHEN ?5 = 0 OR coalesce(clicks.device_id, ?3) = ?3 THEN clicks.clicked_at END`,
    )
    .bind(
      credit.applicationId,
      credit.clickId,
      credit.deviceId,
      credit.acquiredDay,
      credit.guessed ? 1 : 0,
      idTime(credit.clickId),
      `tok_${credit.deviceId.slice(4, 16)}`,
    );
}

/** Whether a transaction failed because the click that was guessed had been another device's meanwhile. */
export function clickWasTaken(error: unknown): boolean {
  return error instanceof Error && error.message.includes('NOT NULL constraint failed: clicks.clicked_at');
}
