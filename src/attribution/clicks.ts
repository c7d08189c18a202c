import { type Column, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { applications, clicks, database, retryTransient, toStatement } from '#db';
import { idTime } from '#lib/ids';
import type { ClickRecord } from './click-record.ts';

const HOUR_MS = 3_600_000;

/** The columns that a record fills, in the order of its row. */
const COLUMNS = [
  clicks.applicationId,
  clicks.id,
  clicks.creativeId,
  clicks.clickedAt,
  clicks.osFamily,
  clicks.osVersion,
  clicks.deviceModel,
  clicks.ipHash,
  clicks.timezone,
  clicks.screenWidth,
  clicks.screenHeight,
  clicks.pixelRatio,
  clicks.country,
  clicks.params,
];

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
  const { applicationId, id, timezone, osFamily } = clicks;
  const columns = COLUMNS.map(({ name }) => sql.identifier(name));
  const values = COLUMNS.map((_, index) => sql.raw(`value ->> ${index}`));
  const kept = [
    clicks.osVersion,
    clicks.deviceModel,
    clicks.ipHash,
    timezone,
    clicks.screenWidth,
    clicks.screenHeight,
    clicks.pixelRatio,
    clicks.country,
    clicks.params,
  ].map((column) => sql`${sql.identifier(column.name)} = coalesce(${column}, ${excluded(column)})`);
  return toStatement(
    db,
    sql`INSERT INTO ${clicks} (${list(columns)})
      SELECT ${list(values)} FROM json_each(${JSON.stringify(rows)}) WHERE true
      ON CONFLICT (${sql.identifier(applicationId.name)}, ${sql.identifier(id.name)}) DO UPDATE SET
        ${sql.identifier(osFamily.name)} = CASE WHEN ${timezone} IS NULL
            AND (${excluded(timezone)} IS NOT NULL OR ${osFamily} = 'other')
          THEN ${excluded(osFamily)} ELSE ${osFamily} END,
        ${list(kept)}`,
  );
}

const list = (parts: readonly SQLWrapper[]) => sql.join([...parts], sql`, `);
const excluded = (column: Column) => sql`excluded.${sql.identifier(column.name)}`;

const PRUNED_AT_ONCE = 1_000;
const PRUNING_ROUNDS = 10;

const old = alias(clicks, 'old');

/** The first id that a window of an application still reaches; `hours` is an expression over its row. */
const startOf = (hours: SQLWrapper, now: number) =>
  sql`'clk_' || printf('%012x', ${now} - ${HOUR_MS} * ${hours})`;

/** Which clicks are older than a window of their application, as a list of keys. SQLite is told where to begin: at the applications. */
const olderThan = (
  hours: SQLWrapper,
  now: number,
  { index, condition }: { index: SQL; condition: SQL },
) => sql`(
  SELECT ${old.applicationId}, ${old.id} FROM ${applications} CROSS JOIN ${clicks} AS old ${index}
    ON ${old.applicationId} = ${applications.id} AND ${old.id} < ${startOf(hours, now)}
  WHERE ${condition} LIMIT ${PRUNED_AT_ONCE})`;

/**
 * Forgets what no window reaches any more: first the addresses' hashes, then the clicks. A bounded amount of work; what is
 * left over is for the next minute.
 */
export async function pruneClicks(d1: D1Database, now: number): Promise<void> {
  const db = database(d1);
  const { probabilisticWindowHours, attributionWindowHours } = applications;
  const key = sql`(${clicks.applicationId}, ${clicks.id})`;
  const withAddress = olderThan(probabilisticWindowHours, now, {
    index: sql`INDEXED BY clicks_with_ip`,
    condition: sql`${old.ipHash} IS NOT NULL`,
  });
  const reach = sql`max(${attributionWindowHours}, ${probabilisticWindowHours})`;
  const all = olderThan(reach, now, { index: sql``, condition: sql`true` });
  await inRounds(() => db.update(clicks).set({ ipHash: null }).where(sql`${key} IN ${withAddress}`).run());
  await inRounds(() => db.delete(clicks).where(sql`${key} IN ${all}`).run());
}

async function inRounds(prune: () => Promise<D1Result>): Promise<void> {
  for (let round = 0; round < PRUNING_ROUNDS; round++) {
    const { meta } = await retryTransient(prune);
    if (meta.changes < PRUNED_AT_ONCE) return;
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
