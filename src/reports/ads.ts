import * as z from 'zod';
import { currencyCode } from '#http';
import { amountField, fromMicros } from '#lib/money';
import { type Parts, partsToMicros } from '#money';
import { approximateSql, type Cut, cutAfter, keySql, keyValues, OTHER, readApproximateRates } from './cut.ts';
import { ratio } from './metrics.ts';
import { type AmountRow, converterFor, microsSql, rateDaySql, readMicros, storedAmount } from './money.ts';
import { checkPeriod, listing, period, type Reported } from './query.ts';

export const AdsQuery = z
  .object({ ...period, currency: currencyCode().optional(), ...listing })
  .superRefine(checkPeriod);
export type AdsQuery = z.infer<typeof AdsQuery>;

/** `key` is that of a network of a format and day, or of the format and day alone; null for what has no row of its own. */
type AdsRow = AmountRow & { key: string | null; impressions: number; requests: number; micros: string };

const NETWORK = keySql(['day', 'source', 'media_source']);
const FORMAT = keySql(['day', 'source']);
const IN_PERIOD = 'FROM rollup_ads WHERE application_id = ?1 AND day BETWEEN ?2 AND ?3';

/**
 * ?4 what a unit of each currency is worth, ?5 a text to be found in the names, ?6 how many rows: the latest first, then by
 * revenue and impressions. A format that showed nothing has one row, for its requests.
 */
export const adsRankingSql = `WITH rates AS MATERIALIZED (SELECT key AS currency, value AS rate FROM json_each(?4)),
    networks AS (SELECT ${NETWORK} AS key, ${FORMAT} AS format, currency, sum(impressions) AS impressions,
        sum(${approximateSql(storedAmount('ad_revenue'))}) AS revenue ${IN_PERIOD}
        AND (?5 = '' OR instr(lower(source || '\n' || media_source), lower(?5)) > 0) GROUP BY 1, 2, 3),
    weights AS (SELECT key, impressions, revenue * rates.rate AS revenue,
        sum(impressions) OVER (PARTITION BY format) AS shown FROM networks LEFT JOIN rates USING (currency))
  SELECT key, count(*) OVER () AS total FROM weights WHERE impressions > 0 OR shown = 0
  GROUP BY key ORDER BY key ->> 0 DESC, coalesce(sum(revenue), 0) DESC, sum(impressions) DESC, key LIMIT ?6`;

/** ?4 the reporting currency, ?5 the keys of the rows that are kept, where there is a cut. */
export function adsSql(isCut: boolean): string {
  // What was shown is a network's, what was requested a format's: it is wanted as long as one row of the format is kept.
  const kept = `CASE WHEN impressions > 0 THEN ${NETWORK} IN (SELECT value FROM json_each(?5))
    ELSE ${FORMAT} IN (SELECT json_array(value ->> 0, value ->> 1) FROM json_each(?5)) END`;
  const key = `iif(impressions > 0, ${NETWORK}, ${FORMAT})`;
  return `SELECT ${isCut ? `iif(${kept}, ${key}, NULL)` : key} AS key, currency,
      ${rateDaySql('currency', 'day', '?4')} AS rateDay, sum(impressions) AS impressions, sum(ad_requests) AS requests,
      ${microsSql(storedAmount('ad_revenue'))} AS micros
    ${IN_PERIOD} GROUP BY key, currency, rateDay ORDER BY key, currency`;
}

/**
 * The ad report: revenue, impressions, eCPM and fill rate of each day, ad format and network.
 * Requests are made of a placement before any network is known. A network's fill rate is therefore its share in filling the
 * requests of its day and format: the networks' rates add up to that of the format. The row of the rest has no requests, because
 * formats are partly in it.
 */
export async function reportAds(db: D1Database, application: Reported, query: AdsQuery) {
  const reporting = query.currency ?? application.currency;
  const cut = await cutAds(db, application, { ...query, reporting });
  const asked = [application.id, query.from, query.to, reporting, ...(cut ? [cut.kept] : [])];
  const { results } = await db
    .prepare(adsSql(cut !== null))
    .bind(...asked)
    .all<AdsRow>();
  const converter = await converterFor(db, application, reporting, results);
  const formats = new Map<string, Format>();
  const rest: Shown = { impressions: 0, revenue: 0n };
  for (const row of results) {
    const revenue = converter.convertOrList(readMicros(row.micros), row);
    if (row.key === null) {
      rest.impressions += row.impressions;
      rest.revenue += revenue;
      continue;
    }
    const [day, source, network] = keyValues(row.key);
    const name = JSON.stringify([day, source]);
    const format = formats.get(name) ?? {
      day,
      source,
      requests: 0,
      networks: new Map<string | null, Shown>(),
    };
    formats.set(name, format);
    format.requests += row.requests;
    if (network === undefined) continue;
    const shown = format.networks.get(network) ?? { impressions: 0, revenue: 0n };
    shown.impressions += row.impressions;
    shown.revenue += revenue;
    format.networks.set(network, shown);
  }
  const data = [...formats.values()].sort(byDayAndSource).flatMap(rowsOf);
  const total_rows = cut?.total ?? data.length;
  return {
    data: cut && rest.impressions > 0 ? [...data, restRow(rest)] : data,
    total_rows,
    currency: reporting,
    timezone: application.timezone,
    unconverted: converter.unconverted(),
  };
}

/** Which rows are kept; null: all of them. */
async function cutAds(
  db: D1Database,
  application: Reported,
  asked: AdsQuery & { reporting: string },
): Promise<Cut | null> {
  const { from, to, reporting, limit, q = '' } = asked;
  const rates = await readApproximateRates(db, application.teamId, reporting, to);
  const { results } = await db
    .prepare(adsRankingSql)
    .bind(application.id, from, to, JSON.stringify(rates), q, limit + 1)
    .all<{ key: string; total: number }>();
  return cutAfter(results, limit, q !== '');
}

type Shown = { impressions: number; revenue: Parts };
type Format = {
  day: string | null | undefined;
  source: string | null | undefined;
  requests: number;
  networks: Map<string | null, Shown>;
};

function figuresOf({ impressions, revenue }: Shown) {
  const micros = partsToMicros(revenue);
  return {
    impressions,
    ...amountField('ad_revenue', micros),
    ecpm: ratio(fromMicros(micros * 1000n), impressions),
  };
}

function rowsOf({ day = null, source = null, requests, networks }: Format) {
  const named = [...networks].sort(([left], [right]) => ((left ?? '') < (right ?? '') ? -1 : 1));
  const shown = named.length > 0 ? named : [[null, { impressions: 0, revenue: 0n }] as const];
  return shown.map(([media_source, network]) => ({
    day,
    source,
    media_source,
    ...figuresOf(network),
    ad_requests: requests as number | null,
    fill_rate: ratio(network.impressions, requests),
  }));
}

const restRow = (rest: Shown) => ({
  day: OTHER as string | null,
  source: OTHER as string | null,
  media_source: OTHER as string | null,
  is_other: true,
  ...figuresOf(rest),
  ad_requests: null,
  fill_rate: null,
});

function byDayAndSource(left: Format, right: Format): number {
  const [before, after] = [`${left.day}\0${left.source ?? ''}`, `${right.day}\0${right.source ?? ''}`];
  return before < after ? -1 : Number(before > after);
}
