import * as z from 'zod';
import { currencyCode, optionalCount, optionalText, requiredNumber, requiredText } from '#http';
import { toMicros } from '#lib/money';
import { isDay } from '#lib/time';

/** In units of the currency: the largest amount whose micros JavaScript still counts exactly. */
export const MAX_COST = 9_000_000_000;
const MAX_ROWS = 5_000;
const MAX_COUNT = 1e12;
const NAMES_SHOWN = 20;

const rowsError = `must be a list of 1 to ${MAX_ROWS} rows`;

/** Body of `PUT /v1/costs`. */
export const Costs = z.object({
  application_id: requiredText(128),
  rows: z
    .array(
      z.object({
        date: requiredText(10).refine(isDay, 'must be a day, as YYYY-MM-DD'),
        campaign: requiredText(255),
        adset: optionalText(255),
        creative: optionalText(255),
        currency: currencyCode(),
        amount: requiredNumber(MAX_COST),
        impressions: optionalCount(MAX_COUNT),
        clicks: optionalCount(MAX_COUNT),
      }),
      { error: rowsError },
    )
    .min(1, rowsError)
    .max(MAX_ROWS, rowsError),
});
export type Costs = z.infer<typeof Costs>;

export type Names = { campaign: string; adset: string | null; creative: string | null };

export type CostsAnswer = { rows: number; matched: number; unmatched: number; unmatched_names: Names[] };

/** The row of `json_each(?2)` names a campaign of the application and, where it goes on, an ad set and a creative within. */
const IS_MATCHED = `EXISTS (
  SELECT 1 FROM campaigns
  WHERE campaigns.application_id = ?1 AND campaigns.name = wanted.value ->> 1
    AND (wanted.value ->> 2 = '' AND wanted.value ->> 3 = '' OR EXISTS (
      SELECT 1 FROM adsets
      WHERE adsets.campaign_id = campaigns.id AND (wanted.value ->> 2 = '' OR adsets.name = wanted.value ->> 2)
        AND (wanted.value ->> 3 = '' OR EXISTS (
          SELECT 1 FROM creatives
          WHERE creatives.application_id = ?1 AND creatives.adset_id = adsets.id
            AND creatives.name = wanted.value ->> 3)))))`;

/**
 * Stores what was spent: a row overwrites the one of the same date and names, and of two such rows in one upload the later
 * counts. Rows whose names the application does not have are stored and count as spend all the same. Repeatable.
 */
export async function saveCosts(db: D1Database, { application_id, rows }: Costs, now: number) {
  const byName = new Map(
    rows.map((row) => {
      const names = [row.date, row.campaign, row.adset ?? '', row.creative ?? ''];
      const amounts = [row.currency, toMicros(row.amount), row.impressions ?? null, row.clicks ?? null];
      return [names.join('\0'), [...names, ...amounts]];
    }),
  );
  const parameter = JSON.stringify([...byName.values()]);
  const [, unmatched] = await db.batch<Names & { count: number }>([
    db
      .prepare(
        `INSERT INTO costs (application_id, day, campaign, adset, creative, currency, amount, impressions, clicks, updated_at)
         SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, ?3
         FROM json_each(?2) WHERE true
         ON CONFLICT (application_id, day, campaign, adset, creative) DO UPDATE SET currency = excluded.currency,
           amount = excluded.amount, impressions = excluded.impressions, clicks = excluded.clicks,
           updated_at = excluded.updated_at`,
      )
      .bind(application_id, parameter, now),
    db
      .prepare(
        `SELECT wanted.value ->> 1 AS campaign, nullif(wanted.value ->> 2, '') AS adset,
           nullif(wanted.value ->> 3, '') AS creative, count(*) AS count
         FROM json_each(?2) AS wanted WHERE NOT ${IS_MATCHED} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
      )
      .bind(application_id, parameter),
  ]);
  const missing = unmatched?.results ?? [];
  const count = missing.reduce((total, row) => total + row.count, 0);
  return {
    rows: byName.size,
    matched: byName.size - count,
    unmatched: count,
    unmatched_names: missing
      .slice(0, NAMES_SHOWN)
      .map(({ campaign, adset, creative }) => ({ campaign, adset, creative })),
  } satisfies CostsAnswer;
}
