import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import {
  batchWithRetry,
  clicks,
  commaList,
  creatives,
  impressions,
  isAmong,
  prepareTemplate,
  toStatement,
} from '#db';
import { firstIdAt } from '#lib/ids';
import { type Hints, toOsFamily } from './match.ts';
import { type AdItems, itemsOf, type NetworkAd, readAdItems } from './network-ad.ts';
import { metaReferrer } from './rules/named.ts';
import type { Click, Device } from './rules/rule.ts';

/** The properties of a device that determine which clicks are read for it. */
type DeviceQuery = {
  device: Device;
  named: Hints['named'];
  /** The tokens of creatives that it named, by the method of the rule that found them. */
  creativeTokens: readonly (readonly [method: string, token: string])[];
  /** The ad in Meta's install referrer. */
  ad: NetworkAd | null;
  /** Whether the device is recent enough to be matched by a guess: to a click, and to an impression. */
  guessable: boolean;
  viewable: boolean;
};

export type FoundClicks = {
  /** The application's creatives that the devices named, by their ids and by the tokens of their links. */
  creatives: ReadonlyMap<string, FoundCreative>;
  /** The creatives that a device named, by the method of the rule that found them: by a token, or by the id of its ad. */
  creativesOf: (query: DeviceQuery) => Hints['creatives'];
  /** What has the ids of a device's ad. */
  adItemsOf: (query: DeviceQuery) => AdItems;
  /** The clicks that were named for a device, and those that may be guessed to be its own. */
  rowsOf: (query: DeviceQuery) => ClickRow[];
  /** How many clicks came from the address of one of these: see `DoubtFacts`. Null if they were not counted. */
  addressClicksOf: (query: DeviceQuery, clickId: string) => number | null;
};

/** `network` is the one that its link is for; null if the clicks tell. */
type FoundCreative = { token: string; id: string; network: string | null };

/**
 * The number of clicks of each kind that are weighed, newest first. Among more clicks that look alike, no single one would be likely
 * anyway. Only a larger flood can push a genuine click out, and not if the device's address is known, because that has a range of its own.
 */
const MAX_WEIGHED = 200;
/** The number of clicks that are searched for those of one family. */
const MAX_SCANNED = 500;

const { applicationId, id, ipHash, osFamily, timezone } = clicks;

/** What is read of a click. */
const READ = {
  id,
  creativeId: clicks.creativeId,
  clickedAt: clicks.clickedAt,
  osFamily,
  osVersion: clicks.osVersion,
  deviceModel: clicks.deviceModel,
  ipHash,
  timezone,
  screenWidth: clicks.screenWidth,
  screenHeight: clicks.screenHeight,
  pixelRatio: clicks.pixelRatio,
  country: clicks.country,
  network: clicks.network,
  claimedBy: clicks.claimedBy,
  namedInstalls: clicks.namedInstalls,
};
export type ClickRow = Pick<typeof clicks.$inferSelect, keyof typeof READ>;

const columnsAs = (columns: Readonly<Record<keyof typeof READ, SQLWrapper>>) =>
  commaList(Object.entries(columns).map(([name, column]) => sql`${column} AS ${sql.identifier(name)}`));
const COLUMNS = columnsAs(READ);

const readCreatives = (application: string, linkTokens: readonly string[], ids: readonly string[]) => sql`
  SELECT ${creatives.token} AS token, ${creatives.id} AS id, ${creatives.network} AS network FROM ${creatives}
  WHERE (${isAmong(creatives.token, linkTokens)} OR ${isAmong(creatives.id, ids)})
    AND ${creatives.applicationId} = ${application}`;

/** Each with the number of clicks from its address since the id `first`, which are a range of an index. */
const readNamed = (application: string, ids: readonly string[], first: string) => sql`
  SELECT ${COLUMNS}, CASE WHEN ${ipHash} IS NOT NULL AND ${id} >= ${first} THEN (SELECT count(*) FROM (
      SELECT 1 FROM ${clicks} AS "same" INDEXED BY clicks_by_ip
      WHERE "same"."application_id" = ${application} AND "same"."ip_hash" = ${ipHash}
        AND "same"."ip_hash" IS NOT NULL AND "same"."id" >= ${first}
      LIMIT ${sql.raw(String(MAX_WEIGHED))})) END AS address_clicks
  FROM ${clicks}
  WHERE ${applicationId} = ${application} AND ${isAmong(id, ids)}`;

const { placeholder } = sql;

/** The newest clicks since the id `first` that meet a condition. Condition and order together are a range of an index. */
const newest = (index: SQL, condition: SQL, limit = MAX_WEIGHED) => sql`
  SELECT * FROM (SELECT ${COLUMNS} FROM ${clicks} ${index}
    WHERE ${applicationId} = ${placeholder('application')} AND ${condition} AND ${id} >= ${placeholder('first')}
    ORDER BY ${id} DESC LIMIT ${sql.raw(String(limit))})`;

const BY_IP = sql`INDEXED BY clicks_by_ip`;
const BY_TIMEZONE = sql`INDEXED BY clicks_by_timezone`;

/** A range of clicks or impressions since the id `first`. Devices that share the range use the same key. */
type ClickRange = {
  key: string;
  of: 'clk' | 'imp';
  read: (db: D1Database, application: string, first: string) => D1PreparedStatement;
};

// Each kind is a range of an index, however many clicks an application has: clicks from the same address, clicks measured in the same time
// zone, and clicks that were never measured. SQLite needs the hint: without statistics it considers the primary key just as good and reads
// the whole window. If the device's zone is unknown, the newest clicks of all zones are read instead. An index by family alone would cost
// one more written row per click, and without a zone a match is found either among few clicks or not at all.

const OF_FAMILY = sql`${osFamily} = ${placeholder('family')}`;
const UNMEASURED = newest(BY_TIMEZONE, sql`${OF_FAMILY} AND ${timezone} IS NULL`);

const readByAddress = prepareTemplate(
  newest(BY_IP, sql`${ipHash} = ${placeholder('hash')} AND ${ipHash} IS NOT NULL`),
);
const readByTimezone = prepareTemplate(
  sql`${newest(BY_TIMEZONE, sql`${OF_FAMILY} AND ${timezone} = ${placeholder('zone')}`)} UNION ALL ${UNMEASURED}`,
);
const readByFamily = prepareTemplate(
  sql`${UNMEASURED} UNION ALL ${newest(sql``, sql`true`, MAX_SCANNED)} WHERE ${sql.identifier('osFamily')} = ${placeholder('family')}`,
);

/** No page measures the device of an impression. */
const readShownAtAddress = prepareTemplate(sql`
  SELECT ${columnsAs({
    id: impressions.id,
    creativeId: impressions.creativeId,
    clickedAt: impressions.shownAt,
    osFamily: impressions.osFamily,
    osVersion: impressions.osVersion,
    deviceModel: impressions.deviceModel,
    ipHash: impressions.ipHash,
    timezone: sql`NULL`,
    screenWidth: sql`NULL`,
    screenHeight: sql`NULL`,
    pixelRatio: sql`NULL`,
    country: impressions.country,
    network: impressions.network,
    claimedBy: impressions.claimedBy,
    namedInstalls: sql`0`,
  })} FROM ${impressions} INDEXED BY impressions_by_ip
  WHERE ${impressions.applicationId} = ${placeholder('application')} AND ${impressions.ipHash} = ${placeholder('hash')}
    AND ${impressions.id} >= ${placeholder('first')}
  ORDER BY ${impressions.id} DESC LIMIT ${sql.raw(String(MAX_WEIGHED))}`);

const sameAddress = (hash: string): ClickRange => ({
  key: JSON.stringify(['address', hash]),
  of: 'clk',
  read: (db, application, first) => readByAddress(db, { application, first, hash }),
});

const sameTimezone = (family: string, zone: string): ClickRange => ({
  key: JSON.stringify(['timezone', family, zone]),
  of: 'clk',
  read: (db, application, first) => readByTimezone(db, { application, first, family, zone }),
});

const anyTimezone = (family: string): ClickRange => ({
  key: JSON.stringify(['any timezone', family]),
  of: 'clk',
  read: (db, application, first) => readByFamily(db, { application, first, family }),
});

const shownAtAddress = (hash: string): ClickRange => ({
  key: JSON.stringify(['shown at', hash]),
  of: 'imp',
  read: (db, application, first) => readShownAtAddress(db, { application, first, hash }),
});

/** The ranges from which a device's click or impression may be guessed. Similar devices share them. */
function rangesOf({ device, guessable, viewable }: DeviceQuery): ClickRange[] {
  const shown = viewable && device.ipHash !== null ? [shownAtAddress(device.ipHash)] : [];
  if (!guessable) return shown;
  return [
    ...shown,
    ...(device.ipHash === null ? [] : [sameAddress(device.ipHash)]),
    device.timezone === null ? anyTimezone(device.osFamily) : sameTimezone(device.osFamily, device.timezone),
  ];
}

/**
 * Reads the clicks that may have led to these devices: one round trip however many devices there are, none if no click is possible.
 * Clicks and impressions are guessed since these times (epoch milliseconds). The statements of `alongside` run in the same transaction.
 */
export async function findClicks(
  db: D1Database,
  application: string,
  queries: readonly DeviceQuery[],
  since: { clicks: number; impressions: number },
  alongside: () => D1PreparedStatement[] = () => [],
): Promise<FoundClicks> {
  const ids = queries.flatMap(({ named }) => named.map((click) => click.id));
  const linkTokens = queries.flatMap((one) => one.creativeTokens.map(([, token]) => token));
  const ads = queries.flatMap(({ ad }) => ad ?? []);
  const creativeIds = queries.flatMap(({ named }) => named.flatMap((click) => click.creativeId ?? []));
  const ranges = new Map(queries.flatMap(rangesOf).map((range) => [range.key, range]));
  /** The reads, each under a key by which its rows are found again. */
  const reads = new Map<string, D1PreparedStatement>();
  if (linkTokens.length + creativeIds.length > 0) {
    reads.set('creatives', toStatement(db, readCreatives(application, linkTokens, creativeIds)));
  }
  const first = { clk: firstIdAt('clk', since.clicks), imp: firstIdAt('imp', since.impressions) };
  if (ids.length > 0) reads.set('named', toStatement(db, readNamed(application, ids, first.clk)));
  if (ads.length > 0) reads.set('ads', toStatement(db, readAdItems(application, ads)));
  for (const [key, { of, read }] of ranges) reads.set(key, read(db, application, first[of]));
  const statements = [...reads.values(), ...alongside()];
  const results = statements.length > 0 ? await batchWithRetry(db, () => statements) : [];
  const rowsOfRead = new Map([...reads.keys()].map((key, index) => [key, results[index]?.results ?? []]));
  const adRows = (rowsOfRead.get('ads') ?? []) as Parameters<typeof itemsOf>[0];
  const adItemsOf = ({ ad }: DeviceQuery) => (ad ? itemsOf(adRows, ad) : {});
  const namedRows = (rowsOfRead.get('named') ?? []) as (ClickRow & { address_clicks: number | null })[];
  const foundCreatives = new Map(
    ((rowsOfRead.get('creatives') ?? []) as FoundCreative[]).flatMap((creative) => [
      [creative.id, creative] as const,
      [creative.token, creative] as const,
    ]),
  );
  return {
    creatives: foundCreatives,
    adItemsOf,
    creativesOf: (one) => {
      const ofAd = adItemsOf(one).creative;
      const byToken = one.creativeTokens.flatMap(([method, token]) => {
        const creative = foundCreatives.get(token);
        return creative?.token === token ? [[method, creative.id] as const] : [];
      });
      return Object.fromEntries([...(ofAd ? [[metaReferrer.method, ofAd]] : []), ...byToken]);
    },
    addressClicksOf: ({ named, device, guessable }, clickId) => {
      const isNamed = named.some((click) => click.id === clickId);
      if (isNamed) return namedRows.find((click) => click.id === clickId)?.address_clicks ?? null;
      if (!guessable || device.ipHash === null) return null;
      const own = (rowsOfRead.get(sameAddress(device.ipHash).key) ?? []) as ClickRow[];
      return own.some((click) => click.id === clickId) ? own.length : null;
    },
    rowsOf: (one) => {
      const own = new Set(one.named.map((click) => click.id));
      const rows = [
        ...namedRows.filter((click) => own.has(click.id)),
        ...rangesOf(one).flatMap(({ key }) => (rowsOfRead.get(key) ?? []) as ClickRow[]),
      ];
      // A click may be in several ranges.
      return [...new Map(rows.map((click) => [click.id, click])).values()];
    },
  };
}

/**
 * A click from the point of view of a device's claimant: a click that an earlier attempt of the same claimant claimed does not count as
 * taken, nor as another device's install.
 */
export function toClick(row: ClickRow, claim: string): Click {
  const { screenWidth: width, screenHeight: height, claimedBy, ...click } = row;
  const isOwn = claimedBy === claim;
  return {
    ...click,
    osFamily: toOsFamily(row.osFamily),
    screen: width && height ? { width, height } : null,
    credited: claimedBy !== null && !isOwn,
    namedInstalls: Math.max(0, row.namedInstalls - (isOwn ? 1 : 0)),
  };
}
