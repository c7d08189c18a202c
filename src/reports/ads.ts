import * as z from 'zod';
import { per, type Sums } from '#catalogue';
import { currencyCode } from '#http';
import { fromMicros } from '#lib/money';
import { microsToParts, type Parts, partsToMicros } from '#money';
import type { Ads } from './answers.ts';
import { readBlockSums } from './block-sums.ts';
import {
  approximateSql,
  type Cut,
  cutAfter,
  keySql,
  keyValues,
  OTHER,
  REST,
  readApproximateRates,
  searchSql,
  searchValue,
} from './cut.ts';
import { deviceGroupBy, type Group, otherColumns } from './device-groups.ts';
import { DIMENSIONS, type Shown as GroupColumns, needsBlocks } from './dimensions.ts';
import { bindFiltered, rollupConditions } from './filters.ts';
import { moneyField } from './metrics.ts';
import {
  type AmountRow,
  converterFor,
  microsSql,
  rateDaySql,
  readMicros,
  storedAmount,
  type Unconverted,
} from './money.ts';
import { checkPeriod, filtersOf, listing, period, type Reported, type ReportFilters } from './query.ts';

export const AdsQuery = z
  .object({ ...period, group_by: deviceGroupBy, currency: currencyCode().optional(), ...listing })
  .superRefine(checkPeriod);
export type AdsQuery = z.infer<typeof AdsQuery>;

/**
 * `key` names a row: day, ad format, group and network. Figures without a row of their own have a key without a network, or null.
 */
type AdsRow = AmountRow & { key: string | null; impressions: number; requests: number; micros: string };

/** The parts of a row's key before the network. */
const formatNames = (group: Group | undefined) => ['day', 'source', ...(group ? [group] : [])] as const;

const KEYS = {
  network: keySql(['day', 'source', 'media_source']),
  /** A placement makes requests before any network is known, so requests are counted without a network. */
  requests: keySql(['day', 'source', "''"]),
  format: keySql(['day', 'source']),
};

/** The rows to read: those of application ?1 on days ?2 to ?3 that match the filters. */
export const adsRows = (filters: ReportFilters) =>
  `FROM rollup_ads WHERE application_id = ?1 AND day BETWEEN ?2 AND ?3${rollupConditions(filters)}`;

/**
 * Ranks rows by day, latest first, then by revenue and impressions. ?4 is the rate of each currency, ?5 the search as `searchValue`
 * makes it, ?6 the number of rows.
 */
export const adsRankingSql = (rows: string) =>
  `WITH rates AS MATERIALIZED (SELECT key AS currency, value AS rate FROM json_each(?4)),
    networks AS (SELECT ${KEYS.network} AS key, currency, sum(impressions) AS impressions,
        sum(${approximateSql(storedAmount('ad_revenue'))}) AS revenue ${rows} GROUP BY 1, 2)
  SELECT key, count(*) OVER () AS total FROM networks LEFT JOIN rates USING (currency)
  WHERE ${searchSql(['day', 'source', 'media_source'], '?5')}
  GROUP BY key ORDER BY key ->> 0 DESC, coalesce(sum(revenue * rate), 0) DESC, sum(impressions) DESC, key LIMIT ?6`;

/** ?4 is the reporting currency. With a cut, ?5 lists the keys of the kept rows. */
export function adsSql(isCut: boolean, rows: string): string {
  const { network, requests, format } = KEYS;
  // The fill rate of a format needs all its impressions, including those of networks without a row.
  const isKept = (key: string) => `${key} IN (SELECT value FROM json_each(?5))`;
  const key = isCut
    ? `CASE WHEN ${isKept(network)} THEN ${network} WHEN ${isKept(requests)} THEN ${format} END`
    : network;
  return `SELECT ${key} AS key, currency, ${rateDaySql('currency', 'day', '?4')} AS rateDay,
      sum(impressions) AS impressions, sum(ad_requests) AS requests, ${microsSql(storedAmount('ad_revenue'))} AS micros
    ${rows} GROUP BY key, currency, rateDay ORDER BY key, currency`;
}

/** `revenue` is null if part of it cannot be converted. */
type AnsweredRow = Ads['data'][number];
type Shown = { impressions: number; requests: number; revenue: Parts | null };
const nothing = (): Shown => ({ impressions: 0, requests: 0, revenue: 0n });

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
  const { reporting, filters } = asked;
  const rows = adsRows(filters);
  const cut = await cutAds(db, application, rows, asked);
  const values = [application.id, asked.from, asked.to, reporting, ...(cut ? [cut.kept] : [])];
  const { results } = await bindFiltered(db, adsSql(cut !== null, rows), values, filters).all<AdsRow>();
  const converter = await converterFor(db, application, reporting, results);
  const networks = new Map<string, Shown>();
  const formats = new Map<string, number>();
  const rest = nothing();
  for (const row of results) {
    const micros = readMicros(row.micros);
    const revenue = converter.convert(micros, row);
    if (revenue === null) converter.list(micros, row);
    const values = row.key === null ? [] : keyValues(row.key);
    const [day, source, network] = values;
    const format = JSON.stringify([day, source]);
    formats.set(format, (formats.get(format) ?? 0) + row.impressions);
    const shown = row.key === null || network === undefined ? rest : (networks.get(row.key) ?? nothing());
    if (row.key !== null && shown !== rest) networks.set(row.key, shown);
    shown.impressions += row.impressions;
    shown.requests += row.requests;
    shown.revenue = shown.revenue === null || revenue === null ? null : shown.revenue + revenue;
  }
  return { networks, formats, rest, cut, unconverted: converter.unconverted() };
}

/** Like `readNetworks`, for reports by creative or segment. */
async function readNetworksFromBlocks(
  db: D1Database,
  application: Reported,
  asked: Asked,
): Promise<Networks> {
  const { groups, cut, missing } = await readBlockSums(db, application, {
    ...asked,
    names: [...formatNames(asked.group_by), 'media_source'],
    keepsRequests: true,
  });
  const shownOf = ({ impressions, adRequests, adRevenue }: Sums): Shown => ({
    impressions,
    requests: adRequests,
    revenue: adRevenue === null ? null : microsToParts(adRevenue),
  });
  const networks = new Map<string, Shown>();
  let rest = nothing();
  for (const [key, sums] of groups) {
    if (key === REST) rest = shownOf(sums);
    else networks.set(key, shownOf(sums));
  }
  const formats = new Map<string, number>();
  const names = formatNames(asked.group_by);
  const whole = { names, from: asked.from, to: asked.to, reporting: asked.reporting, filters: asked.filters };
  const byFormat = await readBlockSums(db, application, { ...whole, limit: Number.POSITIVE_INFINITY });
  for (const [key, { impressions }] of byFormat.groups) formats.set(key, impressions);
  const converter = await converterFor(db, application, asked.reporting, []);
  for (const [currency, micros] of missing) converter.list(micros, { currency });
  return { networks, formats, rest, cut, unconverted: converter.unconverted() };
}

/** Decides which rows are kept. Returns null if all of them are. */
async function cutAds(
  db: D1Database,
  application: Reported,
  rows: string,
  asked: Asked,
): Promise<Cut | null> {
  const { from, to, reporting, limit, q = '' } = asked;
  const rates = await readApproximateRates(db, application.teamId, reporting, to);
  const values = [application.id, from, to, JSON.stringify(rates), searchValue(q), limit + 1];
  const ranked = bindFiltered(db, adsRankingSql(rows), values, asked.filters);
  const { results } = await ranked.all<{ key: string; total: number }>();
  return cutAfter(results, limit, q !== '');
}

function figuresOf({ impressions, revenue }: Shown) {
  const micros = revenue === null ? null : partsToMicros(revenue);
  return {
    impressions,
    ...moneyField('ad_revenue', micros),
    ecpm: per(micros === null ? null : fromMicros(micros * 1000n), impressions),
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
