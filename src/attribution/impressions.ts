import { type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import {
  applications,
  columnList,
  database,
  impressions,
  inRounds,
  jsonValues,
  named,
  toStatement,
} from '#db';
import { idTime } from '#lib/ids';
import type { ClickRecord } from './click-record.ts';
import { type Credit, hasToken, type UndoneCredit } from './credit.ts';
import { olderThan } from './prune.ts';

const { applicationId, id, shownAt, deviceId, claimedBy } = impressions;

const COLUMNS = [
  applicationId,
  id,
  impressions.creativeId,
  shownAt,
  impressions.osFamily,
  impressions.osVersion,
  impressions.deviceModel,
  impressions.ipHash,
  impressions.country,
  impressions.network,
];

/** Stores impressions. Idempotent. */
export function impressionStatement(
  db: D1Database,
  records: readonly (ClickRecord & { ip_hash: string })[],
): D1PreparedStatement {
  const rows = records.map((record) => ({ ...record, shown_at: idTime(record.id) }));
  return toStatement(
    db,
    sql`INSERT INTO ${impressions} (${columnList(COLUMNS)})
      SELECT ${jsonValues(COLUMNS)} FROM json_each(${JSON.stringify(rows)}) WHERE true ON CONFLICT DO NOTHING`,
  );
}

/** As `creditStatements` of guessed clicks: fails if another device has claimed an impression since it was read. */
export const creditImpressions = (application: string, credits: readonly Credit[]): SQL => sql`
  UPDATE ${impressions} SET
    ${named(deviceId)} = value ->> 'deviceId', ${named(claimedBy)} = value ->> 'claim',
    ${named(shownAt)} = CASE WHEN coalesce(${claimedBy}, value ->> 'claim') = value ->> 'claim' THEN ${shownAt} END
  FROM json_each(${JSON.stringify(credits)})
  WHERE ${applicationId} = ${application} AND ${id} = value ->> 'clickId'`;

/** As `undoCredits` of clicks. */
export const undoImpression = (application: string, undone: UndoneCredit): SQL => sql`
  UPDATE ${impressions} SET
    ${named(deviceId)} = value ->> 'replacementDeviceId',
    ${named(claimedBy)} = iif(value ->> 'replacementDeviceId' IS NULL, NULL, ${claimedBy})
  FROM json_each(${JSON.stringify([undone])})
  WHERE ${applicationId} = ${application} AND ${id} = value ->> 'clickId' AND ${deviceId} = value ->> 'deviceId'
    AND ${hasToken}`;

const old = alias(impressions, 'old');

/** Deletes impressions that no device can be matched to any more. Each run does a bounded amount of work; the next run continues. */
export async function pruneImpressions(d1: D1Database, now: number): Promise<void> {
  const db = database(d1);
  const pruned = { table: impressions, old, idPrefix: 'imp_' };
  const expired = olderThan(pruned, applications.viewWindowHours, now);
  const key = sql`(${applicationId}, ${id})`;
  await inRounds(() => db.delete(impressions).where(sql`${key} IN ${expired}`).run());
}
