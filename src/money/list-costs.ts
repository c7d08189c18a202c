import { and, asc, desc, eq, gte, lte, not, sql } from 'drizzle-orm';
import type * as z from 'zod';
import { COST_DIMENSIONS, ofDimensions, shownValue } from '#catalogue';
import { costs, type Database, isAmong } from '#db';
import {
  afterKeyCursor,
  keyCursor,
  listQuery,
  oneOf,
  optionalDay,
  optionalText,
  pageOf,
  requiredText,
  toKeyCursor,
} from '#http';
import { nameForms } from '#lib/input/name-forms';
import { amountField } from '#lib/money';
import { iso } from '#lib/time';
import type { ApplicationRow } from '#teams';
import type { CostsListed } from './answers.ts';
import { keyOf, ROW_COLUMNS } from './cost-key.ts';
import { areKnown } from './names.ts';

/** `?from=&to=`, both inclusive and optional. */
export const dayRange = { from: optionalDay(), to: optionalDay() };

/** Query of `GET /v1/costs`. */
export const CostsQuery = listQuery.extend({
  application_id: requiredText(128),
  ...dayRange,
  campaign: optionalText(255),
  unmatched: oneOf(['true', 'false']).default('false'),
  order: oneOf(['oldest', 'newest']).default('oldest'),
  cursor: keyCursor(),
});
export type CostsQuery = z.infer<typeof CostsQuery>;

/**
 * One page of an application's costs, sorted by day (oldest or newest first), then by name and dimensions. Each row says whether the application has these
 * names. Throws `invalid_request` for an invalid cursor.
 */
export async function listCosts(
  db: Database,
  application: ApplicationRow,
  query: CostsQuery,
): Promise<CostsListed> {
  const { day, campaign, adset, creative } = costs;
  const isKnown = areKnown(db, application.id, { campaign, adset, creative });
  const byDay = query.order === 'newest' ? desc(day) : asc(day);
  const read = (limit: number) =>
    db
      .select({
        row: costs,
        nanos: sql<string>`CAST(${costs.amount} AS TEXT)`.as('nanos'),
        matched: sql<number>`${isKnown}`.as('matched'),
      })
      .from(costs)
      .where(
        and(
          eq(costs.applicationId, application.id),
          query.from === undefined ? undefined : gte(day, query.from),
          query.to === undefined ? undefined : lte(day, query.to),
          query.campaign === undefined ? undefined : isAmong(campaign, nameForms(query.campaign)),
          query.unmatched === 'true' ? not(isKnown) : undefined,
          afterKeyCursor(query.cursor, ROW_COLUMNS, query.order === 'newest'),
        ),
      )
      .orderBy(byDay, ...ROW_COLUMNS.slice(1).map((column) => asc(column)))
      .limit(limit);
  const page = await pageOf(query.limit, read, ({ row }) =>
    toKeyCursor([...keyOf({ ...row, date: row.day }), row.connectorId]),
  );
  return {
    ...page,
    data: page.data.map(({ row, nanos, matched }) => ({
      date: row.day,
      campaign: row.campaign,
      adset: row.adset || null,
      creative: row.creative || null,
      ...ofDimensions(COST_DIMENSIONS, (name) => shownValue(name, row[name]) || null),
      currency: row.currency,
      ...amountField('amount', BigInt(nanos)),
      impressions: row.impressions,
      clicks: row.clicks,
      matched: matched === 1,
      connector_id: row.connectorId || null,
      updated_at: iso(row.updatedAt),
    })),
  };
}
