import * as z from 'zod';
import { currencyCode } from '#http';
import { amountField, fromMicros } from '#lib/money';
import { type Parts, partsToMicros } from '#money';
import { ratio } from './metrics.ts';
import { type AmountRow, converterFor, microsSql, rateDaySql, readMicros, storedAmount } from './money.ts';
import { checkPeriod, period, type Reported } from './query.ts';

export const AdsQuery = z.object({ ...period, currency: currencyCode().optional() }).superRefine(checkPeriod);
export type AdsQuery = z.infer<typeof AdsQuery>;

type AdsRow = AmountRow & {
  day: string;
  source: string;
  mediaSource: string;
  impressions: number;
  requests: number;
  micros: string;
};

export const adsSql = `SELECT day, source, media_source AS mediaSource, currency,
    ${rateDaySql('currency', 'day', '?4')} AS rateDay, sum(impressions) AS impressions, sum(ad_requests) AS requests,
    ${microsSql(storedAmount('ad_revenue'))} AS micros
  FROM rollup_ads WHERE application_id = ?1 AND day BETWEEN ?2 AND ?3
  GROUP BY day, source, media_source, currency ORDER BY day, source, media_source, currency`;

/**
 * The ad report: revenue, impressions, eCPM and fill rate of each day, ad format and network.
 * Requests are made of a placement before any network is known. A network's fill rate is therefore its share in filling the
 * requests of its day and format: the networks' rates add up to that of the format.
 */
export async function reportAds(db: D1Database, application: Reported, query: AdsQuery) {
  const reporting = query.currency ?? application.currency;
  const { results } = await db
    .prepare(adsSql)
    .bind(application.id, query.from, query.to, reporting)
    .all<AdsRow>();
  const converter = await converterFor(db, application, reporting, results);
  const formats = new Map<string, { requests: number; networks: Map<string, Network> }>();
  for (const row of results) {
    const name = `${row.day}\0${row.source}`;
    const format = formats.get(name) ?? { requests: 0, networks: new Map<string, Network>() };
    formats.set(name, format);
    format.requests += row.requests;
    if (row.impressions === 0) continue;
    const network = format.networks.get(row.mediaSource) ?? { impressions: 0, revenue: 0n };
    network.impressions += row.impressions;
    network.revenue += converter.convertOrList(readMicros(row.micros), row);
    format.networks.set(row.mediaSource, network);
  }
  return {
    data: [...formats].flatMap(([name, { requests, networks }]) => {
      const [day, source] = name.split('\0');
      const shown = networks.size > 0 ? [...networks] : [['', NOTHING_SHOWN] as const];
      return shown.map(([mediaSource, { impressions, revenue }]) => {
        const micros = partsToMicros(revenue);
        return {
          day,
          source: source || null,
          media_source: mediaSource || null,
          impressions,
          ...amountField('ad_revenue', micros),
          ecpm: ratio(fromMicros(micros * 1000n), impressions),
          ad_requests: requests,
          fill_rate: ratio(impressions, requests),
        };
      });
    }),
    currency: reporting,
    timezone: application.timezone,
    unconverted: converter.unconverted(),
  };
}

type Network = { impressions: number; revenue: Parts };
const NOTHING_SHOWN: Network = { impressions: 0, revenue: 0n };
