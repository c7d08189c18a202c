import { batchWithRetry } from '#db';
import { type Click, type Device, type Hints, toOsFamily, type Windows } from './match.ts';

/** A device that has to be attributed, as far as the clicks that are read for it depend on it. */
export type Sought = {
  device: Device;
  named: Hints['named'];
  creativeToken: string | undefined;
  /** It is of the time that a guess may reach. */
  guessable: boolean;
};

export type FoundClicks = {
  windows: Windows;
  /** Creatives of the application by the tokens that were named. */
  creatives: ReadonlyMap<string, string>;
  /** Those that were named for a device, and those that may be guessed to be its own. */
  rowsOf: (sought: Sought) => ClickRow[];
};

export type ClickRow = {
  id: string;
  creative_id: string;
  clicked_at: number;
  os_family: string;
  os_version: string | null;
  device_model: string | null;
  ip_hash: string | null;
  timezone: string | null;
  screen_width: number | null;
  screen_height: number | null;
  pixel_ratio: number | null;
  country: string | null;
  claimed_by: string | null;
  named_installs: number;
};

/**
 * How many clicks of each kind are weighed, newest first: with more alike, no single one is likely anyway. A flood has to be
 * larger than this to push a genuine click out, and can't where the device's address is known: that has a range of its own.
 */
const MAX_WEIGHED = 200;
/** How many clicks of all families are looked through for those of one. */
const MAX_SCANNED = 500;
const HOUR_MS = 3_600_000;

const COLUMNS = `application_id, id, creative_id, clicked_at, os_family, os_version, device_model, ip_hash, timezone,
  screen_width, screen_height, pixel_ratio, country, claimed_by, named_installs`;

const ABOUT = `SELECT attribution_window_hours AS clickHours, probabilistic_window_hours AS probabilisticHours
  FROM applications WHERE id = ?1`;
const CREATIVES = `SELECT token, id FROM creatives
  WHERE token IN (SELECT value FROM json_each(?2)) AND application_id = ?1`;
const NAMED = `SELECT ${COLUMNS} FROM clicks WHERE application_id = ?1 AND id IN (SELECT value FROM json_each(?2))`;

const REACH = `WITH reach AS MATERIALIZED (
    SELECT 'clk_' || printf('%012x', ?2 - ${HOUR_MS} * probabilistic_window_hours) AS first
    FROM applications WHERE id = ?1 AND probabilistic_window_hours > 0)`;

/** The newest clicks within the window that meet a condition, which together with the order is a range of an index. */
const newest = (from: string, condition: string, limit = MAX_WEIGHED) =>
  `SELECT * FROM (SELECT ${COLUMNS} FROM ${from}
    WHERE application_id = ?1 AND ${condition} AND id >= (SELECT first FROM reach)
    ORDER BY id DESC LIMIT ${limit})`;

// Each kind is a range of an index, however many clicks an application has: those of the same address, those measured in
// the same time zone, and those that were never measured. SQLite has to be told: without statistics it takes the primary key
// for as good and reads the whole window. Where the device's zone is not known, the newest of all clicks stand in for those of
// its zone: an index by family alone would cost every click a row, and without a zone a match is found among few clicks or not
// at all.
const BY_ADDRESS = `${REACH} ${newest('clicks INDEXED BY clicks_by_ip', 'ip_hash = ?3 AND ip_hash IS NOT NULL')}`;
const UNMEASURED = newest('clicks INDEXED BY clicks_by_timezone', 'os_family = ?3 AND timezone IS NULL');
const BY_TIMEZONE = `${REACH}
  ${newest('clicks INDEXED BY clicks_by_timezone', 'os_family = ?3 AND timezone = ?4')} UNION ALL ${UNMEASURED}`;
const IN_ANY_TIMEZONE = `${REACH}
  ${UNMEASURED} UNION ALL ${newest('clicks', 'true', MAX_SCANNED)} WHERE os_family = ?3`;

/** The ranges of clicks that a device may be guessed from; devices that are alike share them. */
function rangesOf({ device, guessable }: Sought): { sql: string; bindings: string[] }[] {
  if (!guessable) return [];
  const { ipHash, osFamily, timezone } = device;
  return [
    ...(ipHash === null ? [] : [{ sql: BY_ADDRESS, bindings: [ipHash] }]),
    timezone === null
      ? { sql: IN_ANY_TIMEZONE, bindings: [osFamily] }
      : { sql: BY_TIMEZONE, bindings: [osFamily, timezone] },
  ];
}

const rangeKey = ({ sql, bindings }: { sql: string; bindings: string[] }) => JSON.stringify([sql, bindings]);

/** Reads what may have brought these devices, in one round trip however many they are. `now` ends the windows. */
export async function findClicks(
  db: D1Database,
  applicationId: string,
  sought: readonly Sought[],
  now: number,
): Promise<FoundClicks> {
  const ids = sought.flatMap(({ named }) => named.map(({ id }) => id));
  const tokens = sought.flatMap(({ creativeToken }) => creativeToken ?? []);
  const ranges = new Map(sought.flatMap(rangesOf).map((range) => [rangeKey(range), range]));
  const [about, creatives, named, ...found] = await batchWithRetry(db, () => [
    db.prepare(ABOUT).bind(applicationId),
    db.prepare(CREATIVES).bind(applicationId, JSON.stringify(tokens)),
    db.prepare(NAMED).bind(applicationId, JSON.stringify(ids)),
    ...[...ranges.values()].map(({ sql, bindings }) => db.prepare(sql).bind(applicationId, now, ...bindings)),
  ]);
  const [row] = (about?.results ?? []) as { clickHours: number; probabilisticHours: number }[];
  const namedRows = (named?.results ?? []) as ClickRow[];
  const rangeRows = new Map(
    [...ranges.keys()].map((key, index) => [key, (found[index]?.results ?? []) as ClickRow[]]),
  );
  return {
    windows: {
      clickMs: (row?.clickHours ?? 0) * HOUR_MS,
      probabilisticMs: (row?.probabilisticHours ?? 0) * HOUR_MS,
    },
    creatives: new Map(
      ((creatives?.results ?? []) as { token: string; id: string }[]).map(({ token, id }) => [token, id]),
    ),
    rowsOf: (one) => {
      const own = new Set(one.named.map(({ id }) => id));
      const rows = [
        ...namedRows.filter(({ id }) => own.has(id)),
        ...rangesOf(one).flatMap((range) => rangeRows.get(rangeKey(range)) ?? []),
      ];
      // A click may be of several kinds.
      return [...new Map(rows.map((click) => [click.id, click])).values()];
    },
  };
}

/**
 * A click as the claimant of a device sees it: what an earlier try of the same one has claimed is not another's, and was not
 * another's install.
 */
export function toClick(row: ClickRow, claim: string): Click {
  const isOwn = row.claimed_by === claim;
  return {
    id: row.id,
    creativeId: row.creative_id,
    clickedAt: row.clicked_at,
    osFamily: toOsFamily(row.os_family),
    osVersion: row.os_version,
    deviceModel: row.device_model,
    ipHash: row.ip_hash,
    timezone: row.timezone,
    screen:
      row.screen_width && row.screen_height ? { width: row.screen_width, height: row.screen_height } : null,
    pixelRatio: row.pixel_ratio,
    credited: row.claimed_by !== null && !isOwn,
    namedInstalls: Math.max(0, row.named_installs - (isOwn ? 1 : 0)),
  };
}
