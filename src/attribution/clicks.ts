import { and, eq, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import {
  applications,
  clicks,
  columnList,
  commaList,
  type Database,
  database,
  excluded,
  impressions,
  inRounds,
  isAmong,
  jsonValues,
  named,
  toStatement,
} from '#db';
import { idTime } from '#lib/ids';
import { passableParams } from '#networks/outbound/click';
import type { ClickRecord } from './click-record.ts';
import { type Credit, hasToken, type UndoneCredit } from './credit.ts';
import { creditImpressions, impressionStatement, undoImpression } from './impressions.ts';
import { olderThan } from './prune.ts';
import { isImpressionId } from './rules/rule.ts';

/** The columns that a record fills. */
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
  clicks.network,
];

/**
 * Merges records into the rows of their clicks. Known values are kept, so any order and any repetition of the same records produce the
 * same row. The exception is the OS family: only a measurement distinguishes an iPad from a Mac, so its family overrides the user agent's.
 */
function mergeStatement(db: D1Database, records: readonly ClickRecord[]): D1PreparedStatement {
  const rows = records.map((record) => ({ ...record, clicked_at: idTime(record.id) }));
  const { applicationId, id, timezone, osFamily } = clicks;
  const kept = COLUMNS.filter((column) => !column.notNull).map(
    (column) => sql`${named(column)} = coalesce(${column}, ${excluded(column)})`,
  );
  return toStatement(
    db,
    sql`INSERT INTO ${clicks} (${columnList(COLUMNS)})
      SELECT ${jsonValues(COLUMNS)} FROM json_each(${JSON.stringify(rows)}) WHERE true
      ON CONFLICT (${columnList([applicationId, id])}) DO UPDATE SET
        ${named(osFamily)} = CASE WHEN ${timezone} IS NULL
            AND (${excluded(timezone)} IS NOT NULL OR ${osFamily} = 'other')
          THEN ${excluded(osFamily)} ELSE ${osFamily} END,
        ${commaList(kept)}`,
  );
}

/** Stores records of clicks and impressions. An impression without an address can lead to no device, so it is not stored. Idempotent. */
export function clickStatements(db: D1Database, records: readonly ClickRecord[]): D1PreparedStatement[] {
  const ofClicks = records.filter(({ id }) => !isImpressionId(id));
  const ofImpressions = records.flatMap((record) =>
    isImpressionId(record.id) && record.ip_hash ? [{ ...record, ip_hash: record.ip_hash }] : [],
  );
  return [
    ...(ofClicks.length > 0 ? [mergeStatement(db, ofClicks)] : []),
    ...(ofImpressions.length > 0 ? [impressionStatement(db, ofImpressions)] : []),
  ];
}

const old = alias(clicks, 'old');
const PRUNED = { table: clicks, old, idPrefix: 'clk_' };

/**
 * Deletes what is outside every window: first the address hashes, then the clicks. Each run does a bounded amount of work; the next run
 * continues.
 */
export async function pruneClicks(d1: D1Database, now: number): Promise<void> {
  const db = database(d1);
  const { probabilisticWindowHours, attributionWindowHours } = applications;
  const key = sql`(${clicks.applicationId}, ${clicks.id})`;
  const withAddress = olderThan(PRUNED, probabilisticWindowHours, now, {
    index: sql`INDEXED BY clicks_with_ip`,
    condition: sql`${old.ipHash} IS NOT NULL`,
  });
  const reach = sql`max(${attributionWindowHours}, ${probabilisticWindowHours})`;
  const all = olderThan(PRUNED, reach, now);
  await inRounds(() => db.update(clicks).set({ ipHash: null }).where(sql`${key} IN ${withAddress}`).run());
  await inRounds(() => db.delete(clicks).where(sql`${key} IN ${all}`).run());
}

const { applicationId: ofApplication, id, clickedAt, deviceId, claimedBy, namedInstalls } = clicks;

/** The columns of a click that is credited before the queue delivers it. */
const CREDIT_COLUMNS = [
  ofApplication,
  id,
  clicks.creativeId,
  clickedAt,
  clicks.osFamily,
  deviceId,
  claimedBy,
  namedInstalls,
];

/** Setting a NOT NULL column to null is how a statement aborts a D1 transaction. */
function creditTemplate(applicationId: string, credits: readonly Credit[], guessed: boolean): SQL {
  const rows = credits.map((credit) => ({ ...credit, clickedAt: idTime(credit.clickId) }));
  const isFirst = sql`coalesce(${claimedBy}, ${excluded(claimedBy)}) = ${excluded(claimedBy)}`;
  const isRepeat = sql`${claimedBy} = ${excluded(claimedBy)} AND ${namedInstalls} > 0`;
  return sql`INSERT INTO ${clicks} (${columnList(CREDIT_COLUMNS)})
    SELECT ${applicationId}, value ->> 'clickId', value ->> 'creativeId', value ->> 'clickedAt', 'other',
      value ->> 'deviceId', value ->> 'claim', ${guessed ? sql`0` : sql`iif(${hasToken}, 0, 1)`}
    FROM json_each(${JSON.stringify(rows)}) WHERE true
    ON CONFLICT (${columnList([ofApplication, id])}) DO UPDATE SET
      ${named(deviceId)} = iif(${isFirst}, ${excluded(deviceId)}, ${deviceId}),
      ${named(claimedBy)} = coalesce(${claimedBy}, ${excluded(claimedBy)}),
      ${named(namedInstalls)} = ${namedInstalls} + iif(${isRepeat}, 0, ${excluded(namedInstalls)}),
      ${named(clickedAt)} = ${guessed ? sql`CASE WHEN ${isFirst} THEN ${clickedAt} END` : clickedAt}`;
}

/**
 * Records which device a click led to, so that no other device is matched to it, and counts the devices that name it. The first claim
 * is kept. If another device has claimed a guessed click since it was read, the whole transaction fails (`clickWasTaken` recognizes that
 * error). A named click may be named again, even before the queue delivers it.
 *
 * Run these before the statement that inserts the tokens: a token that already exists marks a credit as counted, so the transaction can be
 * repeated. `undoCredits` undoes the credits of devices that were not created.
 */
export function creditStatements(
  db: D1Database,
  applicationId: string,
  credits: readonly Credit[],
): D1PreparedStatement[] {
  const seen = credits.filter(({ clickId }) => isImpressionId(clickId));
  const clicked = credits.filter(({ clickId }) => !isImpressionId(clickId));
  return [
    ...[...Map.groupBy(clicked, ({ guessed }) => guessed)].map(([guessed, own]) =>
      toStatement(db, creditTemplate(applicationId, own, guessed)),
    ),
    ...(seen.length > 0 ? [toStatement(db, creditImpressions(applicationId, seen))] : []),
  ];
}

/** Reads the parameters of the clicks of some credits, for `readClickParams`. */
export const selectClickParams = (
  db: D1Database,
  applicationId: string,
  credits: readonly Credit[],
): D1PreparedStatement =>
  toStatement(
    db,
    sql`SELECT ${id} AS id, ${clicks.params} AS params FROM ${clicks} WHERE ${ofApplication} = ${applicationId}
      AND ${isAmong(
        id,
        credits.map(({ clickId }) => clickId),
      )} AND ${clicks.params} IS NOT NULL`,
  );

/** The parameters that may be passed on, by the id of the click. */
export function readClickParams(rows: readonly unknown[]): Map<string, Record<string, string>> {
  return new Map(
    (rows as { id: string; params: string }[]).flatMap(({ id: clickId, params }) => {
      const passable = passableParams(JSON.parse(params));
      return Object.keys(passable).length === 0 ? [] : [[clickId, passable] as const];
    }),
  );
}

/** Applies only while the token exists, which shows that the credit was written and not yet undone. */
function undoTemplate(applicationId: string, undone: UndoneCredit): SQL {
  const isOwn = sql`${deviceId} = value ->> 'deviceId'`;
  return sql`UPDATE ${clicks} SET
      ${named(deviceId)} = iif(${isOwn}, value ->> 'replacementDeviceId', ${deviceId}),
      ${named(claimedBy)} = iif(${isOwn} AND value ->> 'replacementDeviceId' IS NULL, NULL, ${claimedBy}),
      ${named(namedInstalls)} = max(0, ${namedInstalls} - iif(value ->> 'guessed' OR value ->> 'replacementDeviceId' IS NOT NULL, 0, 1))
    FROM json_each(${JSON.stringify([undone])})
    WHERE ${ofApplication} = ${applicationId} AND ${id} = value ->> 'clickId' AND ${hasToken}`;
}

/** Undoes credits. Run it before the statement that deletes or moves their tokens. Idempotent together with that statement. */
export function undoCredits(
  db: D1Database,
  applicationId: string,
  undone: readonly UndoneCredit[],
): D1PreparedStatement[] {
  // An UPDATE uses only one row of FROM per click, but several devices may have named the same click.
  return undone.map((one) => {
    const undo = isImpressionId(one.clickId) ? undoImpression : undoTemplate;
    return toStatement(db, undo(applicationId, one));
  });
}

/** Whether a transaction failed because another device claimed the guessed click or impression in the meantime. */
export function clickWasTaken(error: unknown): boolean {
  return (
    error instanceof Error &&
    /NOT NULL constraint failed: (?:clicks\.clicked_at|impressions\.shown_at)/.test(error.message)
  );
}

const tableOf = (touchId: string) => (isImpressionId(touchId) ? impressions : clicks);

/** Selects the device that was credited with a click or impression, and who claimed it. Returns no row if it is not stored. */
export function selectClaim(db: Database, applicationId: string, touchId: string) {
  const table = tableOf(touchId);
  return db
    .select({ deviceId: table.deviceId, claimedBy: table.claimedBy })
    .from(table)
    .where(and(eq(table.applicationId, applicationId), eq(table.id, touchId)));
}

/** Frees a guessed click or impression that a device is not credited with any more, so that it may lead to another one. Idempotent. */
export function giveBackClick(db: Database, applicationId: string, touchId: string, device: string) {
  const table = tableOf(touchId);
  return db
    .update(table)
    .set({ deviceId: null, claimedBy: null })
    .where(and(eq(table.applicationId, applicationId), eq(table.id, touchId), eq(table.deviceId, device)));
}

/** Erases the click or impression that led to a device. One that another device claimed is kept. */
export function eraseClick(db: Database, applicationId: string, touchId: string, device: string) {
  const table = tableOf(touchId);
  return db
    .delete(table)
    .where(and(eq(table.applicationId, applicationId), eq(table.id, touchId), eq(table.deviceId, device)));
}
