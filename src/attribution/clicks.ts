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

/** A click that a device is to be credited to. */
export type Credit = {
  clickId: string;
  creativeId: string;
  deviceId: string;
  /** The token that is made with the credit. */
  tokenId: string;
  /** Who may claim the click again: see `Installation`. */
  claim: string;
  guessed: boolean;
};

// Over ?1, the application, ?2, the credits as JSON, and ?3, whether they are guesses. Setting a NOT NULL column to null is how a
// statement aborts a D1 transaction.
const CREDIT = `
  INSERT INTO clicks (application_id, id, creative_id, clicked_at, os_family, device_id, claimed_by, named_installs)
  SELECT ?1, value ->> 'clickId', value ->> 'creativeId', value ->> 'clickedAt', 'other', value ->> 'deviceId', value ->> 'claim',
    iif(?3 OR EXISTS (SELECT 1 FROM tokens WHERE device_id = value ->> 'deviceId' AND id = value ->> 'tokenId'), 0, 1)
  FROM json_each(?2) WHERE true
  ON CONFLICT (application_id, id) DO UPDATE SET
    device_id = iif(coalesce(clicks.claimed_by, excluded.claimed_by) = excluded.claimed_by,
      excluded.device_id, clicks.device_id),
    claimed_by = coalesce(clicks.claimed_by, excluded.claimed_by),
    named_installs = clicks.named_installs
      + iif(clicks.claimed_by = excluded.claimed_by AND clicks.named_installs > 0, 0, excluded.named_installs),
    clicked_at = CASE WHEN NOT ?3 OR coalesce(clicks.claimed_by, excluded.claimed_by) = excluded.claimed_by
      THEN clicks.clicked_at END`;

/**
 * Remembers which device a click brought, so that it is guessed to be no other's, and counts the devices that name it. The first
 * claim stays. A guess fails the whole transaction where another claimed the click since it was read (`clickWasTaken` knows that
 * error); a named click may be named again, even before the queue has brought it.
 *
 * They belong before the statement that inserts the tokens: a token that is there already was counted, so the transaction can be
 * repeated. `undoCredits` takes them back where the devices do not come to be.
 */
export function creditStatements(
  db: D1Database,
  applicationId: string,
  credits: readonly Credit[],
): D1PreparedStatement[] {
  const rows = credits.map((credit) => ({ ...credit, clickedAt: idTime(credit.clickId) }));
  return [...Map.groupBy(rows, ({ guessed }) => guessed)].map(([guessed, own]) =>
    db.prepare(CREDIT).bind(applicationId, JSON.stringify(own), guessed ? 1 : 0),
  );
}

/** A credit whose device did not come to be; `heir` is the device that stands in its place and is credited to the same click. */
export type Undone = Credit & { heir: string | null };

// Only while the token stands, which tells that the credit was written and not yet taken back.
const UNDO = `
  UPDATE clicks SET
    device_id = iif(device_id = value ->> 'deviceId', value ->> 'heir', device_id),
    claimed_by = iif(device_id = value ->> 'deviceId' AND value ->> 'heir' IS NULL, NULL, claimed_by),
    named_installs = max(0, named_installs - iif(value ->> 'guessed' OR value ->> 'heir' IS NOT NULL, 0, 1))
  FROM json_each(?2)
  WHERE clicks.application_id = ?1 AND clicks.id = value ->> 'clickId'
    AND EXISTS (SELECT 1 FROM tokens WHERE tokens.device_id = value ->> 'deviceId' AND tokens.id = value ->> 'tokenId')`;

/** Takes credits back. Belongs before the statement that takes back or moves their tokens; repeatable with it. */
export function undoCredits(
  db: D1Database,
  applicationId: string,
  undone: readonly Undone[],
): D1PreparedStatement[] {
  // An UPDATE takes one row of FROM for each click, and several devices may have named one.
  return undone.map((one) => db.prepare(UNDO).bind(applicationId, JSON.stringify([one])));
}

/** Whether a transaction failed because the click that was guessed had been claimed by another device meanwhile. */
export function clickWasTaken(error: unknown): boolean {
  return error instanceof Error && error.message.includes('NOT NULL constraint failed: clicks.clicked_at');
}

/** Answers `device_id`: which device was credited to a click; no row where the click is not stored. */
export const claimStatement = (db: D1Database, applicationId: string, clickId: string): D1PreparedStatement =>
  db
    .prepare('SELECT device_id FROM clicks WHERE application_id = ?1 AND id = ?2')
    .bind(applicationId, clickId);

/** Erases the click that brought a device; one that another device claimed stays. */
export const eraseClickStatement = (
  db: D1Database,
  applicationId: string,
  clickId: string,
  deviceId: string,
): D1PreparedStatement =>
  db
    .prepare('DELETE FROM clicks WHERE application_id = ?1 AND id = ?2 AND device_id = ?3')
    .bind(applicationId, clickId, deviceId);
