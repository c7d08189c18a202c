import { type SQL, sql } from 'drizzle-orm';
import { adsets, campaigns, costs, creatives, database, rollupDaily } from '#db';
import { sumColumnsOf } from '#rollup';
import { type Chunk, columnOf } from './chunk.ts';

// The same impression of an ad may be in costs and reported to its link. Of a creative's day, the costs' figure is used if they state one.

/** The days of creatives with impressions in costs: see `keyOf`. */
type StatedDays = ReadonlySet<string>;
const keyOf = (creativeId: string, day: string) => `${creativeId}/${day}`;

type StatedPeriod = { applicationId: string; from: string; to: string };

/** SQL for the creatives with such days, each with its days. Only days with impressions that were reported to links are looked at. */
export const statedDaysSql = ({ applicationId, from, to }: StatedPeriod): SQL => sql`
  SELECT ${creatives.id} AS id, group_concat(DISTINCT reported.day) AS days
  FROM (SELECT DISTINCT ${rollupDaily.day} AS day FROM ${rollupDaily} WHERE ${rollupDaily.applicationId} = ${applicationId}
      AND ${rollupDaily.day} BETWEEN ${from} AND ${to} AND ${rollupDaily.creativeImpressions} > 0) AS reported
    CROSS JOIN ${costs} ON ${costs.applicationId} = ${applicationId} AND ${costs.day} = reported.day
      AND ${costs.impressions} IS NOT NULL
    INNER JOIN ${campaigns} ON ${campaigns.applicationId} = ${applicationId} AND ${campaigns.name} = ${costs.campaign}
    INNER JOIN ${adsets} ON ${adsets.campaignId} = ${campaigns.id} AND ${costs.adset} IN ('', ${adsets.name})
    INNER JOIN ${creatives} ON ${creatives.adsetId} = ${adsets.id} AND ${costs.creative} IN ('', ${creatives.name})
  GROUP BY ${creatives.id}`;

/** The days of creatives whose impressions costs state, for themselves, their ad set or their campaign; null if there are none. */
export async function readStatedDays(d1: D1Database, period: StatedPeriod): Promise<StatedDays | null> {
  const rows = await database(d1).all<{ id: string; days: string }>(statedDaysSql(period));
  if (rows.length === 0) return null;
  return new Set(rows.flatMap(({ id, days }) => days.split(',').map((day) => keyOf(id, day))));
}

const IMPRESSIONS_AT = sumColumnsOf('rollup_daily').indexOf('creative_impressions');

/** Leaves out of figures by creative what was reported of these days. */
export async function* withoutStated(
  chunks: AsyncGenerator<Chunk>,
  stated: StatedDays,
): AsyncGenerator<Chunk> {
  for await (const chunk of chunks) yield { ...chunk, sums: sumsWithout(chunk, stated) };
}

function sumsWithout(chunk: Chunk, stated: StatedDays): Chunk['sums'] {
  const { sums } = chunk;
  const reported = sums[IMPRESSIONS_AT];
  if (!reported) return sums;
  const [days, ids] = [columnOf(chunk, 'day'), columnOf(chunk, 'creative_id')];
  const isStated = (entry: number) =>
    stated.has(keyOf(ids.values[ids.numbers[entry] ?? 0] ?? '', days.values[days.numbers[entry] ?? 0] ?? ''));
  const kept = reported.map((sum, entry) => (sum !== 0 && isStated(entry) ? 0 : sum));
  return sums.with(IMPRESSIONS_AT, kept);
}
