import { batchWithRetry } from '#db';
import { settingsOf } from '#env';
import { canonicalTimezone, isTimezone } from '#lib/time';
import { hashAddress } from './address.ts';
import { readClickId } from './click-id.ts';
import { parseOs } from './device.ts';
import { type Attribution, attribute, type Click, type Device, type Hints, toOsFamily } from './match.ts';

/** What `/fetch-token` says of a device, as far as it helps to find its click. */
export type DeviceReport = {
  device_name: string;
  device_model: string;
  os_system: string;
  /** An IANA name. Anything else, such as the timestamp that some SDKs send, is not known. */
  timezone: string;
  dpi?: number | undefined;
  window_height?: number | undefined;
  window_width?: number | undefined;
  install_referrer?: string | undefined;
  click_id?: string | undefined;
  creative_token?: string | undefined;
  ip?: string | undefined;
};

/** The click id in what the Play Install Referrer returns, whether or not it was decoded on the way. */
export function clickIdOf(referrer: string | undefined): string | null {
  for (let text = referrer ?? '', depth = 0; depth < 3; depth++) {
    const id = new URLSearchParams(text).get('click_id');
    if (id) return id;
    try {
      text = decodeURIComponent(text);
    } catch {
      return null;
    }
  }
  return null;
}

async function readHints(
  secret: string,
  applicationId: string,
  report: DeviceReport,
): Promise<Hints['named']> {
  const sent = [
    { text: clickIdOf(report.install_referrer), method: 'referrer' as const },
    { text: report.click_id, method: 'click_id' as const },
  ];
  const read = sent.map(async ({ text, method }) => {
    const named = text ? await readClickId(secret, applicationId, text) : null;
    return named ? [{ ...named, method }] : [];
  });
  return (await Promise.all(read)).flat();
}

function describe(report: DeviceReport, ipHash: string | null, acquiredAt: number): Device {
  const { family, version } = parseOs(report.os_system, report.device_name, report.device_model);
  const { window_width: width, window_height: height } = report;
  return {
    osFamily: family,
    osVersion: version,
    models: [report.device_model, report.device_name],
    ipHash,
    timezone: isTimezone(report.timezone) ? canonicalTimezone(report.timezone) : null,
    window: width && height ? { width, height } : null,
    dpi: report.dpi || null,
    acquiredAt,
  };
}

/**
 * Finds out which creative brought a device, in one round trip; nothing is written. `acquiredAt` is when the device says that
 * it was first opened, `now` our time, by which the windows are measured. Null for a device that is known already under its
 * `alias`: its attribution stands.
 */
export async function attributeDevice(
  env: Env,
  applicationId: string,
  alias: string | null,
  report: DeviceReport,
  acquiredAt: number,
  now: number,
): Promise<Attribution | null> {
  const secret = settingsOf(env).KEY_ENCRYPTION_SECRET;
  const ipHash = await hashAddress(secret, applicationId, report.ip);
  const device = describe(report, ipHash, acquiredAt);
  const named = await readHints(secret, applicationId, report);
  const found = await findClicks(env.DB, applicationId, alias, device, named, report.creative_token, now);
  if (found.known) return null;
  return attribute(
    device,
    { named, deepLinkCreativeId: found.deepLinkCreativeId },
    found.clicks,
    found.windows,
    now,
  );
}

/**
 * How many clicks of each kind are weighed, newest first: with more alike, no single one is likely anyway. A flood has to be
 * larger than this to push a genuine click out, and can't where the device's address is known: that has a range of its own.
 */
const MAX_WEIGHED = 200;
/** How many clicks of all families are looked through for those of one. */
const MAX_SCANNED = 500;
const HOUR_MS = 3_600_000;

const COLUMNS = `application_id, id, creative_id, clicked_at, os_family, os_version, device_model, ip_hash, timezone,
  screen_width, screen_height, pixel_ratio, device_id, named_installs`;

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
const FIND_CLICKS = `WITH reach AS MATERIALIZED (
    SELECT 'clk_' || printf('%012x', ?2 - ${HOUR_MS} * probabilistic_window_hours) AS first
    FROM applications WHERE id = ?1 AND probabilistic_window_hours > 0)
  SELECT ${COLUMNS} FROM clicks WHERE application_id = ?1 AND id IN (SELECT value FROM json_each(?3))
  UNION ALL
  ${newest('clicks INDEXED BY clicks_by_ip', 'ip_hash = ?4 AND ip_hash IS NOT NULL')}
  UNION ALL
  ${newest('clicks INDEXED BY clicks_by_timezone', 'os_family = ?5 AND timezone = ?6')}
  UNION ALL
  ${newest('clicks INDEXED BY clicks_by_timezone', 'os_family = ?5 AND timezone IS NULL')}
  UNION ALL
  ${newest('clicks', '?6 IS NULL', MAX_SCANNED)} WHERE os_family = ?5`;

type ClickRow = {
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
  device_id: string | null;
  named_installs: number;
};

const toClick = (row: ClickRow): Click => ({
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
  credited: row.device_id !== null,
  namedInstalls: row.named_installs,
});

async function findClicks(
  db: D1Database,
  applicationId: string,
  alias: string | null,
  device: Device,
  named: Hints['named'],
  creativeToken: string | undefined,
  now: number,
) {
  const [about, clicks] = await batchWithRetry(db, () => [
    db
      .prepare(
        `SELECT attribution_window_hours AS clickHours, probabilistic_window_hours AS probabilisticHours,
           EXISTS (SELECT 1 FROM device_aliases WHERE application_id = ?1 AND alias = ?2) AS known,
           (SELECT id FROM creatives WHERE token = ?3 AND application_id = ?1) AS creativeId
         FROM applications WHERE id = ?1`,
      )
      .bind(applicationId, alias, creativeToken ?? null),
    db
      .prepare(FIND_CLICKS)
      .bind(
        applicationId,
        now,
        JSON.stringify(named.map(({ id }) => id)),
        device.ipHash,
        device.osFamily,
        device.timezone,
      ),
  ]);
  const row = about?.results[0] as
    | { clickHours: number; probabilisticHours: number; known: number; creativeId: string | null }
    | undefined;
  return {
    known: row?.known === 1,
    deepLinkCreativeId: row?.creativeId ?? null,
    windows: {
      clickMs: (row?.clickHours ?? 0) * HOUR_MS,
      probabilisticMs: (row?.probabilisticHours ?? 0) * HOUR_MS,
    },
    // A click may be of several kinds.
    clicks: [
      ...new Map(((clicks?.results ?? []) as ClickRow[]).map((row) => [row.id, toClick(row)])).values(),
    ],
  };
}
