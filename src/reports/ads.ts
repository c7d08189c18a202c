import { type SQL, sql } from 'drizzle-orm';
import * as z from 'zod';
import { per, type Sums } from '#catalogue';
import { database, rollupAds } from '#db';
import { currencyCode } from '#http';
import { amountField, fromNanos } from '#lib/money';
import { nanosToParts, type Parts, partsToNanos } from '#money';
import type { Ads } from './answers.ts';
import { readBlockSums } from './block-sums.ts';
import {
  approximateSql,
  type Cut,
  cutAfter,
  keySql,
  keyValues,
  OTHER,
  type Ranked,
  REST,
  ratesSql,
  readApproximateRates,
  searchSql,
} from './cut.ts';
import { deviceGroupBy, type Group, otherColumns } from './device-groups.ts';
import { DIMENSIONS, type Shown as GroupColumns, needsBlocks } from './dimensions.ts';
import { type AmountRow, type AmountSql, converterFor, nanosSql, rateDaySql, readNanos } from './money.ts';
import { checkPeriod, filtersOf, listing, period, type Reported, type ReportFilters } from './query.ts';
import { ADS, type Period, rowsIn } from './sources.ts';
import { addUnrated, type Unconverted, type Unrated, unconvertedField, unconvertedOf } from './unrated.ts';

export const AdsQuery = z
  .object({ ...period, group_by: deviceGroupBy, currency: currencyCode().optional(), ...listing })
  .superRefine(checkPeriod);
export type AdsQuery = z.infer<typeof AdsQuery>;

/**
 * `key` names a row: day, ad format, group and network. Figures without a row of their own have a key without a network, or null.
 */
type AdsRow = AmountRow & { key: string | null; impressions: number; requests: number; nanos: string };

/** The parts of a row's key before the network. */
const formatNames = (group: Group | undefined) => ['day', 'source', ...(group ? [group] : [])] as const;

const KEYS = {
  network: keySql([rollupAds.day, rollupAds.source, rollupAds.mediaSource]),
  /** A placement makes requests before any network is known, so requests are counted without a network. */
  requests: keySql([rollupAds.day, rollupAds.source, sql`''`]),
  format: keySql([rollupAds.day, rollupAds.source]),
};
const REVENUE: AmountSql = { high: rollupAds.adRevenueHigh, low: rollupAds.adRevenue };

/** SQL for the keys of the rows to show, ranked by day, latest first, then by revenue and impressions. */
export const adsRankingSql = (asked: Ranked): SQL =>
  sql`WITH rates AS MATERIALIZED (${ratesSql(asked)}),
    networks AS (SELECT ${KEYS.network} AS key, ${rollupAds.currency} AS currency,
        sum(${rollupAds.impressions}) AS impressions,
        sum(${approximateSql(REVENUE)}) AS revenue ${rowsIn(ADS, asked)} GROUP BY 1, 2)
  SELECT key, count(*) OVER () AS total FROM networks LEFT JOIN rates USING (currency)
  WHERE ${searchSql(['day', 'source', 'media_source'], asked.q)}
  GROUP BY key ORDER BY key ->> 0 DESC, coalesce(sum(revenue * rate), 0) DESC, sum(impressions) DESC, key
  LIMIT ${asked.limit + 1}`;

/** SQL for the figures of the rows by currency and day of the rate. With a cut, those without a row of their own are together. */
export function adsSql(cut: Pick<Cut, 'kept'> | null, asked: Period & { reporting: string }): SQL {
  const { day, currency, impressions, adRequests } = rollupAds;
  const { network, requests, format } = KEYS;
  const kept = cut ? sql`WITH kept AS (SELECT value FROM json_each(${cut.kept}))` : undefined;
  // The fill rate of a format needs all its impressions, including those of networks without a row.
  const key = cut
    ? sql`CASE WHEN ${network} IN kept THEN ${network} WHEN ${requests} IN kept THEN ${format} END`
    : network;
  return sql`${kept} SELECT ${key} AS key, ${currency} AS currency, ${rateDaySql(currency, day, asked.reporting)} AS rateDay,
      sum(${impressions}) AS impressions, sum(${adRequests}) AS requests, ${nanosSql(REVENUE)} AS nanos
    ${rowsIn(ADS, asked)} GROUP BY key, ${currency}, rateDay ORDER BY key, ${currency}`;
}

type AnsweredRow = Ads['data'][number];
/** `unconverted` is what `revenue` lacks. */
type Shown = { impressions: number; requests: number; revenue: Parts; unconverted: Unrated };
const nothing = () => ({
  impressions: 0,
  requests: 0,
  revenue: 0n,
  unconverted: new Map<string, bigint>(),
});
type Adding = ReturnType<typeof nothing>;

/**
 * The ad report: revenue, impressions and eCPM by day, ad format and network. Ad requests have no network. They are in the format's
 * row without a network, together with the fill rate of the whole format.
 */
export async function reportAds(db: D1Database, application: Reported, query: AdsQuery) {
  const reporting = query.currency ?? application.currency;
  const filters = filtersOf(query);
  const { group_by: group } = query;
  const read = needsBlocks(group ? [group] : [], filters) ? readNetworksFromBlocks : readNetworks;
  const { networks, formats, rest, cut, unconverted } = await read(db, application, {
    ...query,
    reporting,
    filters,
  });
  const data = [...networks]
    .map(([key, shown]) => rowOf(keyValues(key), shown, { formats, group }))
    .sort(byNames(group));
  const total_rows = cut?.total ?? data.length;
  return {
    data: cut && rest.impressions + rest.requests > 0 ? [...data, restRow(rest, group)] : data,
    total_rows,
    currency: reporting,
    timezone: application.timezone,
    unconverted,
  };
}

type Asked = AdsQuery & { reporting: string; filters: ReportFilters };
type Networks = {
  /** By row key. */
  networks: Map<string, Shown>;
  /** Impressions by day and format, including those of networks without a row. */
  formats: Map<string, number>;
  rest: Shown;
  cut: Cut | null;
  unconverted: Unconverted;
};

async function readNetworks(db: D1Database, application: Reported, asked: Asked): Promise<Networks> {
  const cut = await cutAds(db, application, asked);
  const rows = await database(db).all<AdsRow>(adsSql(cut, { ...asked, applicationId: application.id }));
  const converter = await converterFor(db, application, asked.reporting, rows);
  const networks = new Map<string, Adding>();
  const formats = new Map<string, number>();
  const rest = nothing();
  const unconverted = new Map<string, bigint>();
  for (const row of rows) {
    const nanos = readNanos(row.nanos);
    const revenue = converter.convert(nanos, row);
    const values = row.key === null ? [] : keyValues(row.key);
    const [day, source, network] = values;
    const format = JSON.stringify([day, source]);
    formats.set(format, (formats.get(format) ?? 0) + row.impressions);
    const shown = row.key === null || network === undefined ? rest : (networks.get(row.key) ?? nothing());
    if (row.key !== null && shown !== rest) networks.set(row.key, shown);
    shown.impressions += row.impressions;
    shown.requests += row.requests;
    shown.revenue += revenue ?? 0n;
    if (revenue !== null) continue;
    addUnrated(shown.unconverted, row.currency, nanos);
    addUnrated(unconverted, row.currency, nanos);
  }
  return { networks, formats, rest, cut, unconverted: unconvertedOf(unconverted) };
}

/** Like `readNetworks`, for reports by creative or segment. */
async function readNetworksFromBlocks(
  db: D1Database,
  application: Reported,
  asked: Asked,
): Promise<Networks> {
  const { groups, cut, total } = await readBlockSums(db, application, {
    ...asked,
    names: [...formatNames(asked.group_by), 'media_source'],
    keepsRequests: true,
  });
  const shownOf = ({ impressions, adRequests, adRevenue, unconverted }: Sums): Shown => ({
    impressions,
    requests: adRequests,
    revenue: nanosToParts(adRevenue),
    unconverted,
  });
  const networks = new Map<string, Shown>();
  let rest: Shown = nothing();
  for (const [key, sums] of groups) {
    if (key === REST) rest = shownOf(sums);
    else networks.set(key, shownOf(sums));
  }
  const formats = new Map<string, number>();
  const names = formatNames(asked.group_by);
  const whole = { names, from: asked.from, to: asked.to, reporting: asked.reporting, filters: asked.filters };
  const byFormat = await readBlockSums(db, application, { ...whole, limit: Number.POSITIVE_INFINITY });
  for (const [key, { impressions }] of byFormat.groups) formats.set(key, impressions);
  return { networks, formats, rest, cut, unconverted: unconvertedOf(total.unconverted) };
}

/** Decides which rows are kept. Returns null if all of them are. */
async function cutAds(db: D1Database, application: Reported, asked: Asked): Promise<Cut | null> {
  const { to, reporting, limit, q = '' } = asked;
  const rates = await readApproximateRates(db, application.teamId, reporting, to);
  const ranking = adsRankingSql({ ...asked, applicationId: application.id, rates });
  return cutAfter(await database(db).all<{ key: string; total: number }>(ranking), limit, q !== '');
}

function figuresOf({ impressions, revenue, unconverted }: Shown) {
  const nanos = partsToNanos(revenue);
  return {
    impressions,
    ...amountField('ad_revenue', nanos),
    ecpm: per(fromNanos(nanos * 1000n), impressions),
    ...unconvertedField(unconverted),
  };
}

function rowOf(
  values: readonly (string | null)[],
  shown: Shown,
  { formats, group }: { formats: ReadonlyMap<string, number>; group: Group | undefined },
): AnsweredRow {
  const names = formatNames(group);
  const [day, source = null] = values;
  const media_source = values[names.length] ?? null;
  const isFormat = media_source === null;
  const impressions = formats.get(JSON.stringify(values.slice(0, names.length))) ?? 0;
  return {
    day: day ?? '',
    source,
    ...groupColumns(group, values),
    media_source,
    ...figuresOf(shown),
    ad_requests: isFormat ? shown.requests : null,
    fill_rate: isFormat ? per(impressions, shown.requests) : null,
  };
}

const groupColumns = (group: Group | undefined, values: readonly (string | null)[]): GroupColumns =>
  group ? DIMENSIONS[group].show(values[formatNames(group).indexOf(group)] ?? null) : {};

const restRow = (rest: Shown, group: Group | undefined): AnsweredRow => ({
  day: OTHER,
  source: OTHER,
  ...(group ? otherColumns(group) : {}),
  media_source: OTHER,
  is_other: true,
  ...figuresOf(rest),
  ad_requests: rest.requests,
  fill_rate: null,
});

const byNames = (group: Group | undefined) => (left: AnsweredRow, right: AnsweredRow) => {
  for (const name of [...formatNames(group), 'media_source'] as const) {
    const [before, after] = [left[name] ?? '', right[name] ?? ''];
    if (before !== after) return before < after ? -1 : 1;
  }
  return 0;
};
